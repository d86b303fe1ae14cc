"""The sweeps find what is due by themselves."""

from datetime import timedelta

import pytest

from apps.fleet.actions import end_node
from apps.marks.models import ChangedHour
from apps.telemetry import tasks
from apps.telemetry.actions import partitions, rollup
from apps.telemetry.models import Incident, UsageHour
from apps.telemetry.queries import holder_keys, usage_of_hour
from tests import make
from tests.apps.telemetry.sending import batch, make_sending, this_hour, window

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def test_the_roll_up_goes_on_until_nothing_is_due():
    for place, name in enumerate(("gpu-01", "gpu-02")):
        devices = [{"uuid": f"GPU-{place}"}]
        make_sending(name).post(batch([window(0), window(-1)], devices=devices))
    assert tasks.roll_up_usage() == 4
    assert tasks.roll_up_usage() == 0
    assert UsageHour.objects.count() == 4
    assert not ChangedHour.objects.filter(pass_id=1).exists()


def test_an_hour_that_raises_keeps_no_other_from_its_roll_up(monkeypatch, caplog):
    make_sending().post(batch([window(0), window(-1)]))
    real = rollup.roll_up_hour

    def break_off(*, hour):
        if hour != this_hour():
            raise KeyError("a device")
        return real(hour=hour)

    with monkeypatch.context() as patch:
        patch.setattr(rollup, "roll_up_hour", break_off)
        assert tasks.roll_up_usage() == 1
    put_off = [each.args[:2] for each in caplog.records if each.levelname == "ERROR"]
    assert put_off == [("USAGE", this_hour() - HOUR)]
    assert tasks.roll_up_usage() == 1


def test_a_roll_up_that_has_no_time_left_leaves_the_rest_to_the_next(monkeypatch):
    make_sending().post(batch([window(0), window(-1)]))
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "SWEEP_SECONDS", -1)
        assert tasks.roll_up_usage() == 0
        patch.setattr(tasks, "SWEEP_SECONDS", 0)
        assert tasks.roll_up_usage() <= 1
    tasks.roll_up_usage()
    assert UsageHour.objects.count() == 2


def test_partitions_are_kept_by_the_clock(monkeypatch):
    kept = []
    monkeypatch.setattr(partitions, "keep_partitions", lambda *, at: kept.append(at))
    tasks.keep_partitions()
    assert len(kept) == 1


def test_what_lasted_on_a_node_that_ended_ends_with_it_and_the_rest_lasts_on():
    began_at, ended_at = this_hour() - 5 * HOUR, this_hour() - 2 * HOUR
    gone, living = (
        make.make_node(name, started_at=began_at, at=began_at) for name in ("gone", "living")
    )
    end_node(node_id=gone, ended_at=ended_at, reason="sold", at=ended_at)
    for node_id, at in ((gone, began_at), (gone, ended_at + HOUR), (living, began_at)):
        Incident.objects.create(node_id=node_id, kind="gpu_lost", started_at=at, last_at=at)
    assert tasks.end_incidents() == 2
    assert tasks.end_incidents() == 0
    ends = Incident.objects.order_by("id").values_list("ended_at", flat=True)
    assert list(ends) == [ended_at, ended_at + HOUR, None]


def test_usage_is_asked_for_by_hour_and_device():
    make_sending().post(batch([window(0)]))
    tasks.roll_up_usage()
    stored = UsageHour.objects.get()
    assert usage_of_hour(this_hour(), [stored.device_id]) == [
        (stored.device_id, stored.holder_id, bytes(stored.observed), bytes(stored.worked))
    ]
    assert usage_of_hour(this_hour(), []) == []
    assert holder_keys([stored.holder_id]) == {stored.holder_id: "slurm/atlas/4711"}
