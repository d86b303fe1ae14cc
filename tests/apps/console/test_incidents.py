"""Incidents and agents: what happened, what it cost, what to do, and who may know which."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.console.pages.fleet.incident_costs import apart, cost_together, costs_of
from apps.fleet import actions as fleet
from apps.telemetry.models import Incident
from apps.telemetry.queries import IncidentFact, IncidentsWanted, incident_facts
from tests import make
from tests.apps.console.people import csv_rows, signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
KINDS = ("gpu_lost", "recovery_needed", "driver_unresponsive", "xid")
NOON = make.NOON


class World:
    """gpu-01 of eight GPUs costs 80 an hour, settled for the two full hours before this one."""

    def __init__(self) -> None:
        make.make_organisation()
        self.now = datetime.now(UTC)
        self.until = self.now.replace(minute=0, second=0, microsecond=0)
        self.began_at = self.until - 2 * HOUR
        pool_id = make.make_pool("h100")
        scene.make_rate(pool_id, amount=Decimal(80))
        self.node_id = make.make_node(
            "gpu-01", pool_id=pool_id, started_at=self.began_at, at=self.now
        )
        self.uuids = scene.make_gpus(self.node_id, seen_from=self.began_at)
        self.agent_id = make.make_agent(node_id=self.node_id)
        scene.settle(self.now, starts_at=self.began_at, ends_at=self.until)

    def hear(self, ago: timedelta = timedelta(0), offset_ms: int = 0, **given: object) -> None:
        seen = fleet.AgentHeartbeat(self.agent_id, "0.2.0", offset_ms)
        fleet.record_heartbeats(agents=[seen], at=self.now - ago)
        if given:
            told = fleet.ReportedStatus(boot=1, sequence=1, **given)
            fleet.note_status(agent_id=self.agent_id, status=told, at=self.now - ago)

    def incident(self, kind: str = "gpu_lost", gpu: int | None = 0, **given: object) -> int:
        uuid = "" if gpu is None else self.uuids[gpu]
        values = {"started_at": self.began_at, "last_at": self.began_at, "uuid": uuid, "kind": kind}
        return Incident.objects.create(node_id=self.node_id, **values | given).id

    def facts(self) -> list[IncidentFact]:
        return incident_facts(IncidentsWanted(), 100)


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def text(answer) -> str:
    assert answer.status_code == 200
    said = re.sub(r"<[^>]+>", " ", answer.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", said)


def test_a_lost_gpu_costs_its_part_of_the_node_for_as_long_as_it_is_lost(world):
    half = world.incident(ended_at=world.began_at + 30 * MINUTE)
    whole = world.incident("driver_unresponsive", None, ended_at=world.began_at + HOUR)
    assert costs_of(world.facts(), world.now) == {half: 5_000_000, whole: 80_000_000}


def test_what_overlaps_is_counted_once_in_the_sum(world):
    world.incident(ended_at=world.began_at + HOUR)
    world.incident("recovery_needed", ended_at=world.began_at + HOUR)
    assert cost_together(world.facts(), world.now) == 10_000_000
    world.incident("driver_mismatch", None, ended_at=world.began_at + 30 * MINUTE)
    assert cost_together(world.facts(), world.now) == 45_000_000
    page = text(signed_in("finance").get("/fleet/incidents"))
    assert "Cost of lost GPU time $45" in page


def test_what_takes_no_gpu_away_or_tells_no_end_has_no_known_cost(world):
    world.incident("xid", code=79, ended_at=world.began_at)
    world.incident("clock_stepped", None, ended_at=world.began_at + HOUR)
    world.incident("gpu_missing", None, ended_at=world.began_at + HOUR)
    assert set(costs_of(world.facts(), world.now).values()) == {None}
    assert cost_together(world.facts(), world.now) is None
    page = text(signed_in("finance").get("/fleet/incidents"))
    assert page.count("not known") == 3
    assert "$0" not in page
    assert "The GPU has fallen off the bus" in page


def test_silence_ends_no_incident_and_costs_nothing_that_nobody_saw(world):
    world.incident()
    world.hear(ago=self_told(world))
    page = text(signed_in("finance").get("/fleet/incidents"))
    assert "Open when the agent was last heard," in page
    assert costs_of(world.facts(), world.now) == {world.facts()[0].id: 10_000_000}


def self_told(world: World) -> timedelta:
    """So long ago that the first hour alone is known."""
    return world.now - world.began_at - HOUR


def test_an_incident_on_a_node_that_ended_is_not_called_mended(world):
    fleet.end_node(node_id=world.node_id, ended_at=world.until - HOUR, reason="sold", at=world.now)
    world.incident(ended_at=world.until - HOUR)
    assert "Until the node ended" in text(signed_in("platform").get("/fleet/incidents"))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS), st.sampled_from("ab"), st.integers(0, 50), st.integers(0, 50)
        ),
        max_size=12,
    )
)
def test_no_moment_of_a_gpu_is_in_two_spans(told):
    facts = [
        IncidentFact(
            *(index, 1, "n", None, uuid, kind, None, "", NOON + first * MINUTE, NOON),
            *(NOON + (first + long) * MINUTE, 1, None, NOON),
        )
        for index, (kind, uuid, first, long) in enumerate(told)
    ]
    spans = apart(facts, NOON + 200 * MINUTE)

    def out(uuid: str) -> set[int]:
        return {
            minute
            for kind, of, first, long in told
            for minute in range(first, first + long)
            if kind == "driver_unresponsive" or (kind != "xid" and of == uuid)
        }

    def of(is_whole: bool) -> int:
        own = [each for each in spans if each.is_whole_node is is_whole]
        return sum((each.ends_at - each.starts_at) // MINUTE for each in own)

    assert of(is_whole=False) + 2 * of(is_whole=True) == len(out("a")) + len(out("b"))


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_who_may_not_know_prices_reads_what_happened_without_amounts(world, role):
    world.incident(ended_at=world.began_at + HOUR)
    client = signed_in(role)
    page, sheet = text(client.get("/fleet/incidents")), client.get("/fleet/incidents.csv")
    assert "GPU fell off the bus" in page
    assert "Cost of lost GPU time" not in page
    assert "$" not in page
    assert "lost_cost" not in sheet.content.decode()
    assert "currency" not in sheet.content.decode()


def test_the_address_chooses_and_the_sheet_has_the_same_rows(world):
    world.incident(ended_at=world.began_at + HOUR)
    world.incident("xid", code=48, ended_at=world.began_at)
    old = world.began_at - 50 * timedelta(days=1)
    world.incident("clock_stepped", None, started_at=old, last_at=old, ended_at=old)
    client = signed_in("finance")

    def kinds(asked: str) -> list[str]:
        answer = client.get(f"/fleet/incidents.csv?{asked}").content.decode()
        return [row["kind"] for row in csv.DictReader(io.StringIO(answer))]

    assert sorted(kinds("")) == ["gpu_lost", "xid"]
    assert kinds("kind=xid") == ["xid"]
    assert len(kinds("since=year&node=gpu-01")) == 3
    assert kinds("open=yes") == []
    assert len(kinds(f"since={old:%Y-%m-%d}")) == 3
    wrong = text(client.get("/fleet/incidents?kind=x&node=y&open=z&since=w"))
    assert "There is no incident of the kind" in wrong
    assert "A time is day, week, year or a date" in wrong


def test_each_trouble_of_an_agent_says_what_to_do(world):
    world.hear(
        offset_ms=90_000,
        state="driver_unresponsive",
        expected_gpus=8,
        seen_gpus=7,
        spool_batches=4,
        spool_bytes=4_000_000,
        spool_oldest_at=world.now - HOUR,
        dropped_windows=3,
        problems=({"code": "no_pod_resources", "detail": "not mounted"},),
    )
    page = text(signed_in("viewer").get("/fleet/agents"))
    for said in (
        "1 of 1 agent needs attention.",
        "Drain the node; reset the GPUs or reboot.",
        "7 of 8",
        "Its spool grows",
        "3 windows dropped",
        "Its clock is 1 min 30 s behind",
        "Run NTP or chrony",
        "Mount the kubelet's pod-resources socket".replace("'", "&#x27;"),
    ):
        assert said in page, said


def test_an_agent_that_is_silent_old_or_never_heard_is_told_apart_and_unknown_is_no_zero(world):
    client = signed_in("platform")
    assert "Enrolled, and not heard yet" in text(client.get("/fleet/agents"))
    world.hear(ago=3 * HOUR)
    newer = make.make_agent(node_id=world.node_id)
    fleet.record_heartbeats(agents=[fleet.AgentHeartbeat(newer, "0.10.0", 0)], at=world.now)
    page = text(client.get("/fleet/agents"))
    assert "Silent" in page
    assert "Its version 0.2.0 is older than 0.10.0" in page
    rows = csv_rows(client.get("/fleet/agents.csv"))
    assert {row["spool_batches"] for row in rows} == {""}
    assert page.count("not reported") >= 6


def test_the_nodes_and_the_overview_say_what_is_open_and_unhealthy(world):
    world.incident()
    client = signed_in("finance")
    nodes, overview = client.get("/fleet").content.decode(), client.get("/").content.decode()
    assert '<a href="/fleet/incidents?open=yes">1 open incident</a>' in nodes
    assert '<a href="/fleet/agents?show=unwell">1 unhealthy agent</a>' in nodes
    assert "1 open incident" in overview
    Incident.objects.update(ended_at=world.until)
    world.hear(state="ok")
    nodes, overview = client.get("/fleet").content.decode(), client.get("/").content.decode()
    assert "open incident" not in nodes + overview
    assert "unhealthy" not in nodes


def test_the_pages_ask_little(world, django_assert_max_num_queries):
    for gpu in range(5):
        world.incident(gpu=gpu)
    world.hear(state="ok")
    client = signed_in("finance")
    for path in ("/fleet/incidents", "/fleet/incidents.csv", "/fleet/agents", "/fleet/agents.csv"):
        client.get(path)
        with django_assert_max_num_queries(15):
            assert client.get(path).status_code == 200
