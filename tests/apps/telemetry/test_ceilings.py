"""What a node reports beyond what it can have waits as one incident, costs nothing and disturbs nothing."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.economics.hours import HOUR
from apps.fleet.actions import decide_trust_incident
from apps.fleet.models import Device, TrustDecision, TrustIncident
from apps.telemetry import api as telemetry_api
from apps.telemetry.actions import ceilings
from apps.telemetry.actions.ingest import KINDS
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.models import HolderKey, TelemetryWindow, UsageHour
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.telemetry.sending import Sending, batch, gpu, now, this_hour, window

pytestmark = pytest.mark.django_db


@pytest.fixture
def sending() -> Sending:
    """A node of two GPUs in a pool that says what machine that is, priced at $20 an hour."""
    telemetry_api.forget()
    make.make_organisation()
    began_at = this_hour() - timedelta(days=1)
    pool = make.make_pool("pair", instance_type="a2-highgpu-2g", gpus_per_node=2)
    scene.make_rate(pool, Decimal(20))
    node = make.make_node("gpu-01", pool_id=pool, at=began_at, units=2)
    token = make.make_token(at=began_at)
    agent = make.make_agent(node_id=node, token_id=token.id, at=began_at)
    return Sending(node, agent, token.secret)


def devices_of(count: int) -> list[dict[str, Any]]:
    return [gpu(index) for index in range(count)]


def settled_lines(sending: Sending) -> list[Any]:
    """The ledger's lines of the hour, settled and audited."""
    hour = this_hour()
    roll_up_hour(hour=hour)
    scene.recharge(hour)
    scene.settle(at=hour + 3 * scene.HOUR, starts_at=hour, ends_at=hour + scene.HOUR)
    assert audit_here(hour, hour + scene.HOUR).places == ()
    return scene.lines(hour)


def test_a_thousand_invented_gpus_wait_and_the_real_two_stay_as_they_are(
    sending: Sending, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = [window(minute, device=device) for minute in range(30) for device in (0, 1)]
    assert sending.post(batch(windows, devices=devices_of(2))).json()["accepted"] == 60
    invented = [window(31, device=device) for device in range(1_024)]
    for sequence in range(1, 4):
        told = sending.post(batch(invented, devices=devices_of(1_024)[::-1], sequence=sequence))
        assert (told.status_code, told.json()["accepted"]) == (200, 2)
    assert set(Device.objects.values_list("uuid", flat=True)) == {"GPU-0", "GPU-1"}
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.ceiling, incident.reported) == ("devices_waiting", 2, 1_024)
    lines = settled_lines(sending)
    # Two GPUs at $20, of which one minute more was reported in the flood: nothing of the invented.
    assert len(lines) <= 4
    assert scene.charge(sending.node_id, this_hour()).effective_micros == 20_000_000


def test_what_a_person_approves_counts_from_then_on(sending: Sending) -> None:
    invented = [window(1, device=device) for device in range(4)]
    sending.post(batch(invented, devices=devices_of(4)))
    assert Device.objects.count() == 2
    incident = TrustIncident.objects.get()
    decide_trust_incident(
        trust_incident_id=incident.id, decision=TrustDecision.APPROVED, by="Ada", at=now()
    )
    ceilings.forget()  # as a minute later
    sending.post(batch([window(2, device=3)], devices=devices_of(4), sequence=1))
    assert Device.objects.count() == 4
    assert set(TelemetryWindow.objects.values_list("starts_at__minute", flat=True)) == {1, 2}


def test_a_growth_that_was_refused_is_counted_and_raises_nothing(sending: Sending) -> None:
    def flood(sequence: int, count: int) -> None:
        ceilings.forget()
        invented = [window(sequence, device=device) for device in range(count)]
        sending.post(batch(invented, devices=devices_of(count), sequence=sequence))

    flood(0, 100)
    decide_trust_incident(
        trust_incident_id=TrustIncident.objects.get().id,
        decision=TrustDecision.REFUSED, by="Ada", at=now(),
    )  # fmt: skip
    flood(1, 100)
    assert [each.count for each in TrustIncident.objects.all()] == [2]
    flood(2, 101)
    assert TrustIncident.objects.filter(decided_at=None).count() == 1


def test_ten_thousand_invented_holders_wait_and_the_devices_time_is_whole(
    sending: Sending, capsys: pytest.CaptureFixture[str]
) -> None:
    real = [window(minute, holder=holder) for minute in range(60) for holder in (0, 1)]
    assert sending.post(batch(real, devices=devices_of(2))).json()["accepted"] == 120
    keys = ["", *(f"process/{number}" for number in range(9_999))]
    for sequence in range(1, 3):
        flood = [window(5 + sequence, device=1, holder=holder) for holder in range(1, 9_999)]
        told = sending.post(
            batch(flood, devices=devices_of(2), holders=keys, sequence=sequence)
        ).json()
        assert told["accepted"] == 256
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.ceiling, incident.reported) == ("holders_waiting", 256, 9_998)
    assert HolderKey.objects.count() == 258
    lines = settled_lines(sending)
    assert len(lines) < 300
    of_first = UsageHour.objects.filter(device__uuid="GPU-0").count()
    assert of_first == 2


@pytest.mark.parametrize(
    ("model", "slices", "taken"),
    [("NVIDIA H100 80GB HBM3", 7, 7), ("NVIDIA H100 80GB HBM3", 9, 7), ("NVIDIA A30", 5, 4),
     ("Some B300", 8, 8), ("Some B300", 9, 8)],
)  # fmt: skip
def test_a_gpu_has_as_many_slices_as_its_model(
    sending: Sending, model: str, slices: int, taken: int
) -> None:
    cut = [
        {"uuid": f"MIG-{number}", "kind": "mig", "parent": "GPU-0", "profile": "1g.10gb"}
        for number in range(slices)
    ]
    windows = [window(1, device=device) for device in range(1, slices + 1)]
    told = sending.post(batch(windows, devices=[gpu(0) | {"model": model}, *cut]))
    assert told.json()["accepted"] == taken
    assert TrustIncident.objects.filter(kind="slices_waiting").count() == (slices > taken)


def test_large_worlds_that_are_real_raise_nothing() -> None:
    telemetry_api.forget()
    began_at = now() - timedelta(days=9)
    for name, type_, gpus, slices in (
        ("tray", "gb200", 4, 0), ("dgx", "", 16, 0), ("mig", "p5.48xlarge", 8, 7),
    ):  # fmt: skip
        pool = make.make_pool(name, instance_type=type_, gpus_per_node=gpus)
        node = make.make_node(name, pool_id=pool, at=began_at, units=gpus)
        token = make.make_token(at=began_at)
        agent = make.make_agent(node_id=node, token_id=token.id, at=began_at)
        whole = [gpu(number) | {"uuid": f"{name}-{number}"} for number in range(gpus)]
        cut = [
            {"uuid": f"{each['uuid']}/gi{number}", "kind": "mig", "parent": each["uuid"]}
            for each in whole
            for number in range(slices)
        ]
        keys = ["", *(f"{name}/client/{number}" for number in range(48))]
        windows = [
            window(1, device=device, holder=holder)
            for device in range(len(whole) + len(cut))
            for holder in range(49)
        ]
        told = Sending(node, agent, token.secret).post(
            batch(windows, devices=[*whole, *cut], holders=keys)
        )
        assert told.json()["accepted"] == len(windows)
    assert not TrustIncident.objects.exists()


def test_new_names_of_a_day_are_bounded(sending: Sending, settings: Any) -> None:
    settings.MOST_NEW_NAMES = 50
    for sequence in range(4):
        keys = ["", *(f"pod/{sequence}-{number}" for number in range(20))]
        windows = [window(sequence, holder=holder) for holder in range(1, 21)]
        sending.post(batch(windows, devices=devices_of(2), holders=keys, sequence=sequence))
    assert HolderKey.objects.exclude(key="").count() <= 50
    assert TrustIncident.objects.get().kind == "names_waiting"


def test_an_odd_name_of_a_device_is_refused_and_one_of_a_holder_is_cleaned(
    sending: Sending,
) -> None:
    odd = gpu(1) | {"uuid": "GPU-\u202e<b>1"}
    told = sending.post(
        batch(
            [window(1), window(2, device=1)],
            devices=[gpu(0), odd],
            holders=["", "slurm/atlas/<i>\u202e1"],
        )
    ).json()
    assert told["accepted"] == 1
    assert Device.objects.get().uuid == "GPU-0"
    assert set(HolderKey.objects.exclude(key="").values_list("key", flat=True)) == {
        "slurm/atlas/?i??1"
    }


def test_it_is_decided_over_the_wire_too(sending: Sending) -> None:
    sending.post(batch([window(1, device=d) for d in range(4)], devices=devices_of(4)))
    client = Client(headers={"Authorization": f"Bearer {make.make_token('read', 'manage').secret}"})
    (row,) = client.get(f"/api/v1/trust-incidents?node_id={sending.node_id}").json()["results"]
    assert (row["kind"], row["reported"], row["node"]["name"]) == ("devices_waiting", 4, "gpu-01")
    answer = client.post(f"/api/v1/trust-incidents/{row['id']}/approve", {}, "application/json")
    assert answer.json()["decision"] == "approved"
    again = client.post(f"/api/v1/trust-incidents/{row['id']}/refuse", {}, "application/json")
    assert again.status_code == 409


def send_new_holders(sending: Sending, batch_number: int, hours: range) -> int:
    """250 holders that nobody named before in each of the hours; how many windows were taken."""
    keys = ["", *(f"process/{batch_number}-{number}" for number in range(250))]
    windows = [
        window(batch_number, hour=this_hour() - back * HOUR, holder=holder)
        for back in hours
        for holder in range(1, 251)
    ]
    answer = sending.post(
        batch(windows, devices=devices_of(2), holders=keys, sequence=batch_number)
    )
    accepted: int = answer.json()["accepted"]
    return accepted


def most_holders_of_an_hour() -> int:
    hours: dict[Any, set[int]] = {}
    for starts_at, holder in TelemetryWindow.objects.values_list("starts_at", "holder_id"):
        hours.setdefault(starts_at.replace(minute=0), set()).add(holder)
    return max(len(holders) for holders in hours.values())


@pytest.mark.parametrize("forgets", [False, True], ids=["one process", "another each time"])
def test_the_holders_of_old_hours_that_left_the_memory_still_count(
    sending: Sending, *, forgets: bool
) -> None:
    taken = []
    for batch_number in range(4):
        if forgets:
            ceilings.forget()
        taken.append(send_new_holders(sending, batch_number, range(1, 6)))
    assert taken == [5 * 250, 5 * 6, 0, 0]
    assert most_holders_of_an_hour() == 256
    assert TrustIncident.objects.get().kind == "holders_waiting"


def store_as_another_process(holders: int) -> None:
    """Windows like the one that is stored, of so many holders that this process never heard of."""
    columns = ", ".join(name for name, _ in KINDS if name != "holder_id")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO telemetry_holderkey (key)"
            " SELECT 'elsewhere/' || number FROM generate_series(1, %s) AS number",
            [holders],
        )
        cursor.execute(
            f"INSERT INTO telemetry_window ({columns}, holder_id)"  # noqa: S608
            f" SELECT {columns}, holder.id FROM telemetry_window, telemetry_holderkey AS holder"
            " WHERE holder.key LIKE 'elsewhere/%%'"
        )


def test_what_another_process_stored_meanwhile_counts(sending: Sending) -> None:
    assert sending.post(batch([window(59)], devices=devices_of(2))).json()["accepted"] == 1
    store_as_another_process(200)
    assert send_new_holders(sending, 1, range(1)) == 55
    assert most_holders_of_an_hour() == 256


def test_holders_that_were_named_in_the_hour_before_are_not_read(sending: Sending) -> None:
    sending.post(batch([window(1)], devices=devices_of(2)))
    with CaptureQueriesContext(connection) as asked:
        sending.post(batch([window(2)], devices=devices_of(2), sequence=1))
    assert not [each for each in asked if "AS named\nJOIN fleet_device_fact" in each["sql"]]
    with CaptureQueriesContext(connection) as asked:
        fresh = ["", "slurm/atlas/4712"]
        sending.post(batch([window(3)], devices=devices_of(2), holders=fresh, sequence=2))
    assert len([each for each in asked if "AS named\nJOIN fleet_device_fact" in each["sql"]]) == 1


def test_gpus_in_lists_that_take_turns_count_together(sending: Sending) -> None:
    def post_pair(first: int, minute: int, back: int = 0) -> int:
        pair = [gpu(first), gpu(first + 1)]
        windows = [
            window(minute, hour=this_hour() - back * HOUR, device=device) for device in (0, 1)
        ]
        answer = sending.post(batch(windows, devices=pair, sequence=100 * minute + first))
        accepted: int = answer.json()["accepted"]
        return accepted

    assert post_pair(0, 1) == 2
    telemetry_api.forget()
    assert post_pair(2, 1) == 0
    telemetry_api.forget()
    # A machine made anew, with other GPUs in it, is no flood; a third one in the hour is.
    assert post_pair(2, 10) == 2
    telemetry_api.forget()
    assert post_pair(4, 20) == 0
    assert post_pair(0, 21) == 2
    assert set(Device.objects.values_list("uuid", flat=True)) == {f"GPU-{n}" for n in range(4)}
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.ceiling, incident.reported) == ("devices_waiting", 2, 6)
