"""Nodes and GPUs: what there is, who holds it now, and changes that say what they change."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from apps.fleet import actions as fleet
from apps.fleet import queries
from apps.ledger.models import Charge
from tests import make
from tests.apps.console.people import confirmed, signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


class World:
    """gpu-01 lives since three hours: Research's job holds four of its eight GPUs and works."""

    def __init__(self) -> None:
        make.make_organisation()
        self.now = datetime.now(UTC)
        self.began_at = self.now.replace(minute=0, second=0, microsecond=0) - 3 * HOUR
        self.research = make.make_team("Zebra research")
        scene.make_rule("research", self.research)
        self.pool_id = make.make_pool("h100", owner_team_id=self.research)
        scene.make_rate(self.pool_id)
        self.node_id = make.make_node(
            "gpu-01", pool_id=self.pool_id, started_at=self.began_at, at=self.now
        )
        self.gpus = scene.make_gpus(self.node_id, seen_from=self.began_at)
        self.job_id = scene.make_job(
            "4711",
            self.node_id,
            gpus=4,
            uuids=self.gpus[:4],
            from_=self.began_at,
            to=self.now + HOUR,
            labels={},
        )
        for device_id in scene.device_ids(self.gpus[:4]):
            scene.make_usage(device_id, [240] * 60, key="slurm/atlas/4711", hour=self.began_at)
        scene.settle(self.now, starts_at=self.began_at, ends_at=self.now)

    def device(self, index: int) -> int:
        (device_id,) = scene.device_ids([self.gpus[index]])
        return device_id


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def test_the_list_says_how_much_is_held_now(world):
    page = text(signed_in("platform").get("/fleet"))
    assert "<h1>50 % of 8 GPUs are held now" in page
    assert 'href="/fleet/nodes/' in page


def test_a_lead_of_another_team_sees_the_node_and_not_whose_work_is_on_it(world):
    dee = signed_in("lead", make.make_team("Dees team"))
    node = reverse("node", args=[world.node_id])
    for address in (node, f"{node}.csv?table=devices"):
        page = text(dee.get(address))
        assert "another team" in page
        assert "4711" not in page
        assert "Zebra" not in page
    for address in ("/fleet", "/fleet.csv", reverse("device", args=[world.device(0)])):
        # Fractions of a second hold any four digits now and then.
        page = re.sub(r"\.\d+", "", text(dee.get(address)))
        assert "4711" not in page
        assert "Zebra" not in page


def test_a_lead_of_the_team_sees_the_job_by_name(world):
    page = text(signed_in("lead", world.research).get(reverse("node", args=[world.node_id])))
    assert "job 4711" in page
    assert "Zebra research" in page


@pytest.mark.parametrize("role", ["platform", "lead"])
def test_every_name_on_a_node_that_may_be_read_leads_to_what_it_cost(world, role):
    client = signed_in(role, world.research)
    page = text(client.get(reverse("node", args=[world.node_id])))
    job, team = (
        reverse("costs-job", args=[world.job_id]),
        reverse("costs-team", args=[world.research]),
    )
    assert page.count(f'<a href="{job}">') == 1 + 4
    assert page.count(f'<a href="{team}">Zebra research</a>') == 1
    assert client.get(job).status_code == 200
    assert client.get(team).status_code == 200
    assert f'<a href="{team}">Zebra research</a>' in text(client.get("/fleet"))


def test_names_of_others_lead_nowhere(world):
    dee = signed_in("lead", make.make_team("Dees team"))
    for address in ("/fleet", reverse("node", args=[world.node_id])):
        page = text(dee.get(address))
        assert "/costs/jobs/" not in page
        assert "/costs/teams/" not in page


def test_each_table_of_a_node_is_there_as_a_sheet_with_its_rows(world):
    make.make_agent(node_id=world.node_id, at=world.now)
    outage = fleet.NewOutage(
        node_id=world.node_id, kind="failed", starts_at=world.began_at + HOUR, ends_at=world.now
    )
    fleet.record_outage(outage=outage, at=world.now)
    client = signed_in("platform")
    page = text(client.get(reverse("node", args=[world.node_id])))
    began = f"{world.began_at:%Y-%m-%dT%H:%M:%SZ}"
    rows = {
        "holders": 'job 4711,,Zebra research,4,"GPU 0, GPU 1, GPU 2 and GPU 3",',
        "outages": f"Failed,the whole node,{world.began_at + HOUR:%Y-%m-%dT%H:%M:%SZ},",
        "agents": "simulated,,",
        "capacity": f"8,{began},",
        "devices": f"{world.gpus[0]},",
    }
    for name, row in rows.items():
        address = f"{reverse('node', args=[world.node_id])}.csv?table={name}"
        assert f'href="{address}" download' in page, name
        assert text(client.get(address)).splitlines()[1].startswith(row), name
    device = reverse("device", args=[world.device(0)])
    lives = f"{device}.csv?table=lives"
    assert lives in text(client.get(device))
    assert text(client.get(lives)).splitlines()[1].startswith(f"gpu-01,{world.gpus[0]},,{began},")


def test_several_pools_are_chosen_as_they_are_carried(world):
    for name, node in (("lab, west", "lab-01"), ("spare", "spare-01")):
        pool_id = make.make_pool(name)
        make.make_node(node, pool_id=pool_id, started_at=world.began_at)
    client = signed_in("finance")
    page = text(client.get("/fleet", {"pool": "h100,lab%2c west"}))
    assert "There is no pool" not in page
    assert ("gpu-01" in page, "lab-01" in page, "spare-01" in page) == (True, True, False)
    assert "Share of its price on GPUs" not in page
    assert 'value="h100,lab%2c west" selected' in page
    (row,) = text(client.get("/fleet.csv", {"pool": "lab%2c west"})).splitlines()[1:]
    assert row.startswith('lab-01,"lab, west"')


def test_the_way_to_a_pool_with_a_comma_in_its_name_leads_to_it(world):
    node_id = make.make_node("lab-01", pool_id=make.make_pool("lab, west"))
    client = signed_in("finance")
    for address in ("/fleet", reverse("node", args=[node_id])):
        href = re.search(r'href="(/fleet\?pool=lab%252c[^"#]*)', text(client.get(address)))
        page = text(client.get(href[1]))
        assert "There is no pool" not in page
        assert "Share of its price on GPUs" in page


def test_pools_are_ordered_by_any_column_and_are_a_sheet(world):
    make.make_node("lab-01", pool_id=make.make_pool("a-lab"), started_at=world.began_at)
    client = signed_in("platform")
    page = text(client.get("/fleet?pools=-held&sort=-units"))
    assert page.index('">h100</a>') < page.index('">a-lab</a>')
    assert 'aria-sort="descending"><a href="/fleet?sort=-units&amp;pools=held#pools"' in page
    turned = text(client.get("/fleet?pools=held")).partition('id="pools"')[2]
    assert turned.index('">a-lab</a>') < turned.index('">h100</a>')
    assert "There is no column &#x27;odd&#x27;" in text(client.get("/fleet?pools=odd"))
    sheet = text(client.get("/fleet.csv?table=pools")).splitlines()
    assert sheet[0].startswith("pool,cluster,")
    (row,) = [line for line in sheet if line.startswith("h100,")]
    assert ",Zebra research,1,0,8,4,0." in row


def test_a_node_shows_its_hours_by_state_and_each_gpu_by_what_it_worked(world):
    page = text(signed_in("platform").get(reverse("node", args=[world.node_id])))
    assert "<h1>4 of 8 GPUs of gpu-01 are held now" in page
    assert "Active 50 % and Unallocated 50 %" in page
    assert page.count('class="heat"') == 8
    hours = text(signed_in("finance").get(reverse("node", args=[world.node_id]) + ".csv"))
    first = f"{world.began_at:%Y-%m-%dT%H:%M:%SZ},4.000000,0.000000,0.000000,4.000000"
    assert first in hours


def test_a_device_hour_is_worked_unworked_or_unobserved(world):
    rows = text(signed_in("viewer").get(reverse("device", args=[world.device(0)]) + ".csv"))
    lines = rows.splitlines()
    assert lines[1] == f"{world.began_at:%Y-%m-%dT%H:%M:%SZ},1.000000,1.000000"
    assert lines[2].endswith(",0.000000,")


def test_a_silent_node_is_chosen_by_the_filter(world):
    heard = world.now - 8 * HOUR
    make.make_agent(node_id=world.node_id, at=heard)
    client = signed_in("platform")
    assert "Silent for 8 h" in text(client.get("/fleet?show=trouble"))
    assert "1 node is silent" in text(client.get("/fleet"))


def test_an_agent_that_never_spoke_is_not_said_to_have_been_heard(world):
    agent_id = make.make_agent(node_id=world.node_id, at=world.now - 3 * HOUR)
    client = signed_in("platform")
    assert "not yet, enrolled 3 h ago" in text(client.get("/fleet"))
    assert text(client.get("/fleet.csv")).splitlines()[1].endswith(",")
    spoke = world.now - timedelta(minutes=39, seconds=14)
    fleet.record_heartbeats(agents=[fleet.AgentHeartbeat(agent_id, "0.1", 0)], at=spoke)
    assert "<td>39 min ago</td>" in text(client.get("/fleet"))


def test_what_the_address_says_wrong_is_said_and_left_out(world):
    page = text(signed_in("platform").get("/fleet?pool=nope&show=odd&sort=price&page=x"))
    for said in ("no pool named", "cannot be chosen by", "no column"):
        assert said in page


def test_ending_a_node_says_what_goes_before_it_does(world):
    client = signed_in("platform")
    address = reverse("end-node", args=[world.node_id])
    asked = {"ended_at": f"{world.began_at + 2 * HOUR:%Y-%m-%dT%H:%M}", "reason": "sold"}
    assert "What will change" not in text(client.get(address))
    page = text(client.get(address, asked))
    charged = Charge.objects.filter(hour__gte=world.began_at + 2 * HOUR).count()
    assert f"{charged} hours charged since then go: $" in page
    assert queries.node_statuses(world.now)[0].ended_at is None
    assert confirmed(client, address, asked).status_code == 302
    (node,) = queries.node_statuses(world.now)
    assert (node.ended_at, node.end_reason) == (world.began_at + 2 * HOUR, "sold")
    assert "ended at" in text(client.get(address))


def test_what_is_wrong_is_said_by_field_and_what_was_entered_is_kept(world):
    client = signed_in("platform")
    address = reverse("end-node", args=[world.node_id])
    page = text(client.get(address, {"ended_at": "soon", "reason": "sold"}))
    assert "Say a day and a time" in page
    assert 'value="soon"' in page
    assert 'value="sold"' in page
    never = {"ended_at": "0001-01-01T00:00Z", "reason": "sold"}
    assert "This is beyond the calendar." in text(client.get(address, never))
    early = f"{world.began_at - HOUR:%Y-%m-%dT%H:%M}"
    refused = confirmed(client, address, {"ended_at": early, "reason": "sold"})
    assert refused.status_code == 400
    assert "began only at" in refused.content.decode()
    tomorrow = f"{world.now + 24 * HOUR:%Y-%m-%dT%H:%M}"
    assert "future" in text(client.get(address, {"ended_at": tomorrow, "reason": "sold"}))


def test_an_outage_is_recorded_and_ended(world):
    client = signed_in("platform")
    since = f"{world.began_at + HOUR:%Y-%m-%dT%H:%M}"
    address = reverse("record-outage", args=[world.node_id])
    assert "divided again" in text(client.get(address, {"kind": "failed", "starts_at": since}))
    asked = {"kind": "failed", "starts_at": since, "device": "", "ends_at": ""}
    assert confirmed(client, address, asked).status_code == 302
    (outage,) = queries.outages_of_node(world.node_id)
    assert (outage.kind, outage.ends_at) == ("failed", None)
    page = text(client.get(reverse("node", args=[world.node_id])))
    assert "it is failed" in page
    end = reverse("end-outage", args=[outage.id])
    assert end in page
    too_early = text(client.get(end, {"ended_at": f"{world.began_at:%Y-%m-%dT%H:%M}"}))
    assert "It began only at" in too_early
    confirmed(client, end, {"ended_at": f"{world.began_at + 2 * HOUR:%Y-%m-%dT%H:%M}"})
    assert queries.outage_on_record(outage.id).ends_at == world.began_at + 2 * HOUR


def test_devices_are_confirmed_after_they_were_listed(world):
    client = signed_in("platform")
    address = reverse("confirm-node-devices", args=[world.node_id])
    assert world.gpus[0] in text(client.get(address))
    assert client.post(address).status_code == 409, "nobody looked at them"
    confirmed(client, address, {})
    assert queries.unconfirmed_devices(world.now) == []
    assert "Every device of this node is confirmed" in text(client.get(address))


@pytest.mark.parametrize("role", ["finance", "lead", "viewer"])
def test_only_platform_changes_nodes(world, role):
    client = signed_in(role)
    for name in ("end-node", "record-outage", "confirm-node-devices"):
        address = reverse(name, args=[world.node_id])
        assert client.get(address).status_code == 403
        assert client.post(address).status_code == 403
        assert address not in text(client.get(reverse("node", args=[world.node_id])))


def test_a_stranger_signs_in_first(client, world):
    for address in ("/fleet", "/fleet.csv", "/prices", "/prices.csv"):
        assert client.get(address).status_code == 302


def test_what_is_not_on_record_is_not_found(world):
    client = signed_in("platform")
    for name in ("node", "device", "end-outage", "end-node", "rate"):
        for end in ("", ".csv"):
            assert client.get(reverse(name, args=[999]) + end).status_code == 404


def test_pages_of_nodes_ask_little(world, django_assert_max_num_queries):
    client = signed_in("platform")
    for address in ("/fleet", reverse("node", args=[world.node_id]), "/prices"):
        client.get(address)
        with django_assert_max_num_queries(15):
            client.get(address)


def test_a_moved_gpu_shows_both_its_lives(world):
    other = make.make_node("gpu-02", pool_id=world.pool_id, started_at=world.began_at, at=world.now)
    seen = fleet.ObservedDevice(uuid=world.gpus[7], model="NVIDIA H100 80GB HBM3", index=0)
    fleet.register_devices(
        node_id=other, devices=[seen], at=world.now, seen_from=world.now - 2 * HOUR
    )
    (life, _) = queries.lifetimes_of_uuid(world.gpus[7])
    page = text(signed_in("viewer").get(reverse("device", args=[life.id])))
    assert "gpu-01" in page
    assert "gpu-02" in page
