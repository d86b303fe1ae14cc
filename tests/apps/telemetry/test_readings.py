"""How long a device worked, whoever held it: its own reading first."""

from datetime import timedelta

import pytest

from apps.telemetry.queries import device_hours
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def device_id() -> int:
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=scene.TEN, at=scene.LATER)
    return scene.device_ids(scene.make_gpus(node_id, 1))[0]


def hour(device_id: int):
    (found,) = device_hours([device_id], scene.TEN, scene.TEN + timedelta(hours=1))
    return found.observed_seconds, found.worked_seconds


def test_the_only_row_is_the_devices_own(device_id):
    scene.make_usage(device_id, [120] * 60, key="slurm/atlas/1")
    assert hour(device_id) == (3600, 1800)


def test_where_several_hold_it_the_devices_own_reading_counts_once(device_id):
    scene.make_usage(device_id, [200] * 60, key="")
    for key in ("slurm/atlas/1", "slurm/atlas/2"):
        scene.make_usage(device_id, [150] * 60, key=key)
    assert hour(device_id) == (3600, 3000)


def test_holders_that_follow_one_another_add_up(device_id):
    first, then = [240] * 30 + [0] * 30, [0] * 30 + [240] * 30
    scene.make_usage(device_id, first, key="slurm/atlas/1", observed=bytes(first))
    scene.make_usage(device_id, then, key="slurm/atlas/2", observed=bytes(then))
    assert hour(device_id) == (3600, 3600)


def test_minutes_without_an_own_reading_are_told_by_the_holder(device_id):
    own = [240] * 30 + [0] * 30
    scene.make_usage(device_id, [0] * 60, key="", observed=bytes(own))
    rest = [0] * 30 + [240] * 30
    scene.make_usage(device_id, rest, key="slurm/atlas/1", observed=bytes(rest))
    assert hour(device_id) == (3600, 1800)


def test_an_hour_of_which_nothing_was_measured_is_not_there(device_id):
    assert device_hours([device_id], scene.TEN, scene.TEN + timedelta(hours=1)) == []
