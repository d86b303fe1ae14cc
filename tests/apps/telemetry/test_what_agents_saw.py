"""Clocks that are off, windows across hours, slices, several holders, devices nobody knew."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.fleet.models import Agent, Device
from apps.fleet.queries import unconfirmed_devices
from apps.marks.models import ChangedHour
from apps.telemetry import api
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.actions.windows import CUT, SHIFTED
from apps.telemetry.models import HolderKey, TelemetryWindow, UsageHour
from tests.apps.telemetry.sending import (
    batch,
    gpu,
    make_sending,
    ms,
    now,
    this_hour,
    window,
)

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[2] / "contract" / "telemetry_batch.json"


def test_a_clock_that_is_off_by_more_than_two_seconds_is_corrected_and_flagged():
    off = timedelta(minutes=7)
    sent = batch([window(10)], sent_at_ms=ms(now() - off))
    make_sending().post(sent)
    stored = TelemetryWindow.objects.get()
    expected = this_hour() + timedelta(minutes=10) + off
    assert abs(stored.starts_at - expected) < timedelta(seconds=2)
    assert stored.flags == SHIFTED


def test_a_clock_that_is_off_by_less_is_believed():
    sent = batch([window(10)], sent_at_ms=ms(now()) - 1_000)
    make_sending().post(sent)
    stored = TelemetryWindow.objects.get()
    assert (stored.starts_at, stored.flags) == (this_hour() + timedelta(minutes=10), 0)


def test_a_clock_years_behind_loses_nothing():
    years = timedelta(days=3_650)
    start = this_hour() - years
    sent = batch([window(hour=start)], sent_at_ms=ms(now() - years))
    assert make_sending().post(sent).json()["accepted"] == 1
    assert abs(TelemetryWindow.objects.get().starts_at - this_hour()) < timedelta(seconds=2)


def test_an_agent_tells_its_version_and_its_clock_to_the_fleet():
    sending = make_sending()
    sending.post(batch([window()], sent_at_ms=ms(now()) + 60_000))
    agent = Agent.objects.get(id=sending.agent_id)
    assert agent.version == "0.1.0"
    assert agent.clock_offset_ms == pytest.approx(-60_000, abs=10_000)
    assert now() - agent.last_seen_at < timedelta(minutes=1)


def test_a_window_across_the_hour_is_cut_in_proportion():
    start = this_hour() + timedelta(seconds=-15)
    windows = [window(hour=start, worked_seconds=40, energy_joules=6_000, sm_ratio=0.5)]
    sending = make_sending()
    assert sending.post(batch(windows)).json()["accepted"] == 1
    assert list(
        TelemetryWindow.objects.order_by("starts_at").values_list(
            "starts_at", "length_ms", "observed_seconds", "worked_seconds", "energy_joules",
            "sm_ratio", "flags",
        )
    ) == [
        (start, 15_000, 15.0, 10.0, 1_500.0, 0.5, CUT),
        (this_hour(), 45_000, 45.0, 30.0, 4_500.0, 0.5, CUT),
    ]  # fmt: skip
    assert set(ChangedHour.objects.filter(pass_id=1).values_list("hour", flat=True)) == {
        this_hour() - timedelta(hours=1),
        this_hour(),
    }


def test_what_was_not_sampled_or_cannot_tell_is_not_observed():
    windows = [window(0, observed_seconds=30, worked_seconds=20), window(1, worked_seconds=None)]
    make_sending().post(batch(windows))
    roll_up_hour(hour=this_hour())
    row = UsageHour.objects.get()
    assert (list(bytes(row.observed)[:3]), list(bytes(row.worked)[:3])) == ([120, 0, 0], [80, 0, 0])


def test_with_several_holders_the_device_has_a_row_of_its_own_and_each_holder_one():
    windows = [
        window(0, holder=0, worked_seconds=50, sm_ratio=0.5),
        window(0, holder=1, worked_seconds=30),
        window(0, holder=2, worked_seconds=25),
    ]
    holders = ["", "slurm/atlas/1", "slurm/atlas/2"]
    make_sending().post(batch(windows, holders=holders))
    roll_up_hour(hour=this_hour())
    keys = dict(HolderKey.objects.values_list("id", "key"))
    rows = {keys[row.holder_id]: row for row in UsageHour.objects.all()}
    assert {key: bytes(row.worked)[0] for key, row in rows.items()} == {
        "": 200,
        "slurm/atlas/1": 120,
        "slurm/atlas/2": 100,
    }
    assert (rows[""].sm_seconds, rows[""].sm_observed_seconds) == (30.0, 60.0)
    assert rows["slurm/atlas/1"].sm_seconds is None


def test_a_device_nobody_knew_is_kept_from_its_first_window_and_waits_for_a_yes():
    sending = make_sending()
    sending.post(batch([window(5)], devices=[gpu(0)]))
    waiting = unconfirmed_devices(datetime.now(UTC))
    assert [(each.uuid, each.node_id) for each in waiting] == [("GPU-0", sending.node_id)]
    assert waiting[0].seen_from == this_hour() + timedelta(minutes=5)


def test_windows_from_before_a_device_was_known_move_its_beginning_back():
    sending = make_sending()
    sending.post(batch([window(30)], devices=[gpu(0)]))
    sending.post(batch([window(10)], devices=[gpu(0)], sequence=1))
    assert Device.objects.get().period.lower == this_hour() + timedelta(minutes=10)


def slice_of(index: int, profile: str, compute: int) -> dict[str, object]:
    return gpu(9) | {
        "uuid": "MIG-1",
        "kind": "mig",
        "parent": f"GPU-{index}",
        "profile": profile,
        "compute_slices": compute,
        "memory_slices": compute,
    }


def test_a_slice_is_kept_under_its_gpu():
    sending = make_sending()
    devices = [gpu(0), slice_of(0, "3g.40gb", 3)]
    assert sending.post(batch([window(5, device=1)], devices=devices)).json()["accepted"] == 1
    made = Device.objects.get(kind="mig")
    assert (made.parent.uuid, made.compute_slices) == ("GPU-0", 3)
    assert made.parent.period.lower == this_hour() + timedelta(minutes=5)
    assert TelemetryWindow.objects.get().device_id == made.id


def test_a_slice_made_again_under_its_old_uuid_is_a_new_device():
    sending = make_sending()
    for sequence, devices in enumerate(
        ([gpu(0), slice_of(0, "3g.40gb", 3)], [gpu(0), slice_of(0, "2g.20gb", 2)])
    ):
        windows = [window(10 * sequence, device=1)]
        sending.post(batch(windows, devices=devices, sequence=sequence))
    assert list(
        Device.objects.filter(uuid="MIG-1").order_by("id").values_list("profile", flat=True)
    ) == ["3g.40gb", "2g.20gb"]
    assert TelemetryWindow.objects.values("device_id").distinct().count() == 2


def test_an_old_batch_delivered_again_does_not_bring_back_a_slice_that_is_gone():
    sending = make_sending()
    old = batch([window(0, device=1)], devices=[gpu(0), slice_of(0, "3g.40gb", 3)])
    sending.post(old)
    sending.post(batch([window(10)], devices=[gpu(0)], sequence=1))
    lives = list(Device.objects.order_by("id").values_list("uuid", "period"))
    api.forget()
    assert sending.post(old).json()["duplicate"]
    assert list(Device.objects.order_by("id").values_list("uuid", "period")) == lives


def test_a_late_batch_goes_to_the_slice_of_its_time():
    sending = make_sending()
    cut = [gpu(0), slice_of(0, "3g.40gb", 3)]
    sending.post(batch([window(20, device=1)], devices=cut))
    sending.post(batch([window(30)], devices=[gpu(0)], sequence=1))
    sending.post(batch([window(40, device=1)], devices=cut, sequence=2))
    sending.post(batch([window(21, device=1)], devices=cut, sequence=3))
    sending.post(batch([window(41, device=1)], devices=cut, sequence=4))
    lives = list(Device.objects.filter(uuid="MIG-1").order_by("id").values_list("id", flat=True))
    seen = TelemetryWindow.objects.filter(device_id__in=lives).order_by("starts_at")
    assert list(seen.values_list("device_id", flat=True)) == [
        lives[0], lives[0], lives[1], lives[1],
    ]  # fmt: skip


def test_the_batch_that_the_agents_own_tests_agree_on_is_taken_whole(monkeypatch):
    golden = json.loads(GOLDEN.read_text())
    sent_at = datetime.fromtimestamp(golden["sent_at_ms"] / 1000, tz=UTC)
    monkeypatch.setattr(timezone, "now", lambda: sent_at)
    answer = make_sending(source=golden["agent"]["source"]).post(GOLDEN.read_bytes())
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "accepted": len(golden["windows"]["device"]),
            "duplicate": False,
            "rejected": [],
            "ignored": [],
        },
    )
    assert set(HolderKey.objects.values_list("key", flat=True)) >= set(golden["holders"])
    assert Device.objects.filter(kind="mig").exists()
