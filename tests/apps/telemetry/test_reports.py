"""Reports: what explains the windows and how agents are, once and never at its neighbours' cost."""

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.fleet.models import Agent, Device, Node
from apps.fleet.queries import agent_states
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.telemetry import queries
from apps.telemetry.actions import partitions
from apps.telemetry.models import DeviceHour, Incident, NodeReportHour, Report
from tests.apps.telemetry.sending import (
    BOOT,
    Sending,
    batch,
    gpu,
    gzipped,
    make_sending,
    ms,
    now,
    this_hour,
    window,
)
from tests.make import make_device

pytestmark = pytest.mark.django_db

URL = "/api/v1/telemetry/reports"
GOLDEN = Path(__file__).parents[2] / "contract" / "telemetry_report.json"
HOUR = timedelta(hours=1)


def report(sequence: int = 0, /, **given: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "boot": BOOT,
        "sequence": sequence,
        "sent_at_ms": ms(now()),
        "agent": {"version": "0.2.0", "source": "nvml"},
        "devices": ["GPU-0"],
    } | given


def reading(minute: int = 0, **given: Any) -> dict[str, Any]:
    """A minute of the first GPU as columns of one row."""
    start = this_hour() + timedelta(minutes=minute)
    row = {"device": 0, "starts_at_ms": ms(start), "seconds": 60} | given
    return {name: [value] for name, value in row.items()}


def event(minute: int = 0, /, kind: str = "xid", phase: str = "point", **given: Any) -> Any:
    at_ms = ms(this_hour() + timedelta(minutes=minute))
    return {"at_ms": at_ms, "kind": kind, "phase": phase, "device": 0, "code": 79} | given


def sent(sending: Sending, body: dict[str, Any] | bytes, **headers: str) -> Any:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return sending.client().post(URL, text, content_type="application/json", headers=headers)


@pytest.fixture
def sending() -> Sending:
    """An agent whose GPU-0 is known since long."""
    made = make_sending(source="nvml")
    make_device("GPU-0", node_id=made.node_id, at=now() - timedelta(days=15))
    return made


def hours() -> list[queries.DeviceEvidence]:
    ids = list(Device.objects.values_list("id", flat=True))
    return queries.device_evidence(ids, this_hour() - HOUR, this_hour() + 2 * HOUR)


def test_the_report_that_the_agents_own_tests_agree_on_is_taken_whole(monkeypatch):
    golden = json.loads(GOLDEN.read_text())
    sent_at = datetime.fromtimestamp(golden["sent_at_ms"] / 1000, tz=UTC)
    monkeypatch.setattr(timezone, "now", lambda: sent_at)
    sending = make_sending(source="nvml")
    since = sent_at - timedelta(days=1)
    Node.objects.filter(id=sending.node_id).update(period=(since, None))
    for uuid in golden["devices"]:
        make_device(uuid, node_id=sending.node_id, at=since)
    answer = sent(sending, GOLDEN.read_bytes())
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "accepted": {"readings": 3, "node_readings": 2, "events": 3},
            "duplicate": False,
            "ignored": [],
            "offset_ms": 0,
        },
    )
    ten = datetime(2026, 11, 20, 10, tzinfo=UTC)
    first, other = queries.device_evidence(
        list(Device.objects.order_by("id").values_list("id", flat=True)), ten, ten + HOUR
    )
    assert (first.temperature_celsius, first.temperature_peak_celsius) == (63.0, 64.5)
    assert (first.power_capped_seconds, first.ecc_uncorrected) == (15.0, 1.0)
    assert (other.sm_clock_mhz, other.pcie_bytes, other.nvlink_bytes) == (None, None, None)
    (node,) = queries.node_hours(sending.node_id, ten, ten + HOUR)
    assert (node.network_bytes, node.network_peak_bytes_per_second) == (6_600_000, 100_000)
    assert (node.disk_read_bytes, node.fabric_bytes, node.io_stalled_seconds) == (1200, None, 12.5)
    (state,) = agent_states([sending.node_id])
    assert (state.state, state.missing, state.spool_bytes) == (
        "gpus_missing",
        (golden["devices"][2],),
        40960,
    )
    ended = Node.objects.get(id=sending.node_id)
    assert (ended.period.upper, ended.end_reason) == (ten + timedelta(minutes=5), "reclaimed")


def test_a_report_sent_again_is_answered_the_same_and_counted_once(sending):
    body = report(readings=reading(pcie_bytes=100, thermal_seconds=-1), events=[event()])
    first, again = sent(sending, body).json(), sent(sending, body).json()
    assert again == first | {"duplicate": True, "offset_ms": again["offset_ms"]}
    assert first["ignored"] == [
        {"index": 0, "field": "readings.thermal_seconds", "reason": "negative"}
    ]
    assert hours()[0].pcie_bytes == 100
    assert Incident.objects.get().count == 1


def test_reports_add_up_and_what_was_never_told_stays_unknown(sending):
    sent(sending, report(0, readings=reading(0, pcie_bytes=100, temperature_celsius=40)))
    sent(sending, report(1, readings=reading(1, pcie_bytes=50, temperature_celsius=60)))
    sent(sending, report(2, readings=reading(2)))
    (hour,) = hours()
    assert (hour.observed_seconds, hour.pcie_bytes, hour.temperature_celsius) == (180, 150, 50)
    assert (hour.nvlink_bytes, hour.thermal_seconds) == (None, None)


def test_a_row_across_the_hour_is_divided_by_time(sending):
    rows = reading(starts_at_ms=ms(this_hour()) - 15_000, pcie_bytes=100)
    sent(sending, report(readings=rows))
    assert [(each.hour, each.observed_seconds, each.pcie_bytes) for each in hours()] == [
        (this_hour() - HOUR, 15, 25),
        (this_hour(), 45, 75),
    ]


def test_two_sources_of_one_node_are_not_added(sending):
    other = make_sending("gpu-02", source="dcgm")
    Agent.objects.filter(id=other.agent_id).update(node_id=sending.node_id)
    rows = reading(pcie_bytes=100)
    sent(other, report(readings=reading(pcie_bytes=90)))
    sent(sending, report(readings=rows))
    assert [each.pcie_bytes for each in hours()] == [100]


def test_a_clock_that_is_off_is_corrected_as_for_batches(sending):
    off = timedelta(hours=5)
    late = ms(now() - off)
    rows = reading(30) | {"starts_at_ms": [ms(this_hour() + timedelta(minutes=30) - off)]}
    answer = sent(sending, report(sent_at_ms=late, readings=rows)).json()
    assert abs(answer["offset_ms"] - ms(now()) + late) < 5_000
    assert [each.hour for each in hours()] == [this_hour()]


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"device": 4}, "readings.device", "no such device in the report"),
        ({"device": 1}, "readings.device", "not on record on this node"),
        ({"device": True}, "readings.device", "no such device in the report"),
        ({"starts_at_ms": 5}, "readings.starts_at_ms", "older than 13 days"),
        ({"starts_at_ms": "x"}, "readings.starts_at_ms", "not a whole number"),
        ({"seconds": 7}, "readings.seconds", "not 10 to 300 whole seconds that divide an hour"),
    ],
)
def test_a_row_that_cannot_be_is_refused_and_its_neighbour_kept(sending, given, field, reason):
    good, bad = reading(0), reading(1, **given)
    rows = {name: good[name] + bad[name] for name in good}
    answer = sent(sending, report(devices=["GPU-0", "GPU-9"], readings=rows)).json()
    assert answer["accepted"]["readings"] == 1
    assert answer["ignored"] == [{"index": 1, "field": field, "reason": reason}]


@pytest.mark.parametrize(
    ("name", "cell", "reason"),
    [
        ("graphics_ratio", 1.5, "more than 1"),
        ("thermal_seconds", 90, "more than the window is long"),
        ("temperature_celsius", "hot", "not a number"),
        ("pcie_bytes", float("nan"), "not a finite number"),
        ("nvlink_bytes", 2**64, "not-supported sentinel"),
        ("ecc_corrected", [1], "not a number"),
    ],
)
def test_a_cell_that_cannot_be_is_left_out_and_its_row_kept(sending, name, cell, reason):
    answer = sent(sending, report(readings=reading(**{name: cell}))).json()
    assert answer["accepted"]["readings"] == 1
    assert answer["ignored"] == [{"index": 0, "field": f"readings.{name}", "reason": reason}]
    assert DeviceHour.objects.count() == 1


def test_a_future_agents_fields_are_listed_and_left_out(sending):
    rows = reading(pcie_bytes=1, colour=3)
    body = report(
        readings=rows,
        status={"state": "dreaming", "mood": 7},
        events=[event(kind="haunted", ghost=True)],
        novelty={},
    )
    answer = sent(sending, body).json()
    assert {each["field"] for each in answer["ignored"]} == {
        "novelty",
        "readings.colour",
        "status.mood",
        "events[0].ghost",
    }
    assert answer["accepted"] == {"readings": 1, "node_readings": 0, "events": 1}
    assert (Incident.objects.get().kind, agent_states()[0].state) == ("haunted", "dreaming")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"<html>", ""),
        (b"[1]", ""),
        (b"[" * 100_000, ""),
        (b'{"boot": -1, "sequence": 1}', "boot"),
        (b'{"boot": 1, "sequence": "1"}', "sequence"),
        (b'{"boot": 1, "sequence": 1, "format": 2}', "format"),
    ],
)
def test_what_cannot_be_read_at_all_is_refused(sending, body, field):
    answer = sent(sending, body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert Report.objects.count() == 0


@pytest.mark.parametrize(
    "part",
    [
        {"status": []},
        {"devices": {}},
        {"readings": [1]},
        {"node_readings": {"seconds": [60]}},
        {"events": {}},
        {"events": [7]},
        {"events": [{"at_ms": 1}]},
        {"events": [{"at_ms": 2**63, "kind": "xid", "phase": "point"}]},
        {"status": {"missing": 3, "spool": 4, "problems": [{}], "expected_gpus": 2**40}},
        {"status": {"spool": {"oldest_at_ms": 2**61}, "cpu_seconds": "x"}},
        {"readings": {"device": [0], "starts_at_ms": [1, 2], "seconds": [60, 60]}},
    ],
)
def test_a_part_that_is_not_what_it_should_be_costs_no_other(sending, part):
    whole = {"node_readings": {"starts_at_ms": [ms(this_hour())], "seconds": [60]}}
    answer = sent(sending, report(**{"status": {"state": "ok"}, **whole, **part}))
    assert answer.status_code == 200
    assert NodeReportHour.objects.count() == (0 if "node_readings" in part else 1)


def test_text_that_no_database_keeps_is_kept_without_it(sending):
    body = json.dumps(report(events=[event(detail="a\0b\ud800c", kind="x" * 900)])).encode()
    assert sent(sending, body).status_code == 200
    kept = Incident.objects.get()
    assert (kept.detail, kept.kind) == ("a?b?c", "x" * 60)


def test_a_gzipped_report_is_read_and_an_endless_one_is_not(sending):
    header = {"Content-Encoding": "gzip"}
    assert sent(sending, gzipped(report()), **header).status_code == 200
    bomb = gzipped(report(1, note="x" * 40_000_000))
    assert sent(sending, bomb, **header).status_code == 413


def test_only_an_enrolled_agents_token_may_report(sending):
    strange = Sending(sending.node_id, sending.agent_id, "rr_no-such-token")
    assert sent(strange, report()).status_code == 401


def test_a_device_of_another_node_is_none_of_this_agents(sending):
    other = make_sending("gpu-02")
    make_device("GPU-7", node_id=other.node_id, at=now() - timedelta(days=2))
    body = report(devices=["GPU-7"], readings=reading(), events=[event()])
    assert sent(sending, body).json()["accepted"] == {
        "readings": 0,
        "node_readings": 0,
        "events": 1,
    }
    assert (Incident.objects.get().device_id, Incident.objects.get().uuid) == (None, "GPU-7")


def test_an_incident_begins_goes_on_and_ends(sending):
    kind = "driver_unresponsive"
    given = {"kind": kind, "device": None, "code": None}
    sent(sending, report(0, events=[event(1, phase="began", **given)]))
    sent(sending, report(1, events=[event(3, phase="began", **given)]))
    lasting = Incident.objects.get()
    assert (lasting.ended_at, lasting.count) == (None, 2)
    sent(sending, report(2, events=[event(9, phase="ended", **given)]))
    over = Incident.objects.get()
    assert (over.started_at, over.ended_at) == (
        this_hour() + timedelta(minutes=1),
        this_hour() + timedelta(minutes=9),
    )
    again = sent(sending, report(3, events=[event(10, phase="ended", **given)])).json()
    assert [each["reason"] for each in again["ignored"]] == ["ends what had not begun"]


def test_an_older_agents_count_of_memory_errors_is_no_identity(sending):
    given = {"kind": "ecc_uncorrected", "detail": ""}
    sent(sending, report(0, events=[event(0, code=1, **given), event(1, code=2, **given)]))
    sent(sending, report(1, events=[event(2, code=None, **given | {"detail": "5 errors"})]))
    held = Incident.objects.get()
    assert (held.code, held.count, held.detail) == (None, 3, "5 errors")
    sent(sending, report(2, events=[event(3, code=4, **given)]))
    assert Incident.objects.get().detail == "4 errors that could not be corrected"


def test_points_within_the_hour_are_counted_and_others_apart(sending):
    early = event(code=79, at_ms=ms(this_hour() - 2 * HOUR))
    events = [event(0), event(20), event(40, code=48), early]
    sent(sending, report(events=events))
    counted = Incident.objects.order_by("started_at", "code").values_list("code", "count")
    assert list(counted) == [(79, 1), (79, 2), (48, 1)]


def test_an_older_status_that_comes_late_changes_nothing(sending):
    sent(sending, report(5, status={"state": "ok"}))
    sent(sending, report(4, status={"state": "driver_missing"}))
    assert agent_states()[0].state == "ok"
    sent(sending, report(0, boot=BOOT + 1, status={"state": "starting"}))
    assert agent_states()[0].state == "starting"


def test_an_agents_older_batches_are_taken_beside_reports(sending):
    answer = sending.post(batch([window()], devices=[gpu(0)]))
    assert answer.json()["accepted"] == 1
    assert sent(sending, report(readings=reading())).json()["accepted"]["readings"] == 1


def test_a_report_is_a_few_queries(sending, django_assert_max_num_queries):
    rows = {"starts_at_ms": [ms(this_hour())], "seconds": [60], "network_bytes": [1]}
    sent(sending, report(0))
    with django_assert_max_num_queries(12):  # two of them are the savepoint of the test
        body = report(
            1,
            readings=reading(),
            node_readings=rows,
            events=[event()],
            status={"state": "ok"},
        )
        sent(sending, body)


def test_what_is_older_than_25_months_is_forgotten_but_not_what_lasts(sending):
    old = now() - timedelta(days=800)
    device_id = Device.objects.get().id
    DeviceHour.objects.create(hour=old, device_id=device_id, source=1, observed_seconds=1)
    NodeReportHour.objects.create(hour=old, node_id=sending.node_id, source=1, observed_seconds=1)
    for kind, ended_at in (("over", old), ("lasts", None)):
        Incident.objects.create(
            node_id=sending.node_id, kind=kind, started_at=old, last_at=old, ended_at=ended_at
        )
    partitions.keep_partitions(at=now())
    assert (DeviceHour.objects.count(), NodeReportHour.objects.count()) == (0, 0)
    assert [each.kind for each in Incident.objects.all()] == ["lasts"]


@pytest.mark.django_db(transaction=True)
def test_of_two_deliveries_at_once_one_is_counted():
    made = make_sending(source="nvml")
    make_device("GPU-0", node_id=made.node_id, at=now() - timedelta(days=15))
    body = report(readings=reading(pcie_bytes=10), events=[event()])
    answers: list[Any] = []

    def deliver() -> None:
        from django.db import connection

        answers.append(sent(made, body).json())
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(each["duplicate"] for each in answers) == [False, True, True, True]
    assert (hours()[0].pcie_bytes, Incident.objects.get().count) == (10, 1)


def test_a_notice_ends_the_node_once_and_marks_its_hour(sending):
    gone = now().replace(microsecond=0) + timedelta(minutes=2)
    given = {"kind": "reclaim_notice", "device": None, "code": None, "at_ms": ms(now())}
    ChangedHour.objects.all().delete()
    sent(sending, report(0, events=[event(**given, ends_at_ms=ms(gone))]))
    sent(sending, report(1, events=[event(**given, ends_at_ms=ms(gone) + 60_000)]))
    node = Node.objects.get(id=sending.node_id)
    assert (node.period.upper, node.end_reason) == (gone, "reclaimed")
    assert set(ChangedHour.objects.values_list("pass_id", "unit")) >= {
        (int(Pass.CHARGE), 0),
        (int(Pass.SPLIT), sending.node_id),
    }


def test_a_notice_for_another_year_ends_nothing(sending):
    given = {"kind": "reclaim_notice", "device": None, "ends_at_ms": 2**61}
    answer = sent(sending, report(events=[event(**given)])).json()
    assert [each["field"] for each in answer["ignored"]] == ["events.ends_at_ms"]
    assert Node.objects.get(id=sending.node_id).period.upper is None
