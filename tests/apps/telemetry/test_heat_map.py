"""How hard the nodes of a fleet worked, hour by hour: exactly what the windows add up to."""

import math
from datetime import timedelta

import pytest
from django.db import connection

from apps.fleet import actions as fleet
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.queries import heat
from tests import make
from tests.apps.ledger import scene
from tests.apps.telemetry.sending import batch, make_sending, this_hour, window

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)

# Sums of the windows themselves, of devices that one holder at a time had.
PLAIN = """
SELECT sum(observed_seconds)::float8, sum(worked_seconds)::float8
FROM telemetry_window AS told JOIN fleet_device AS device ON device.id = told.device_id
WHERE device.node_id = %s AND told.starts_at >= %s AND told.starts_at < %s
"""


def plain_sum(node_id: int) -> tuple[float, float]:
    with connection.cursor() as cursor:
        cursor.execute(PLAIN, [node_id, this_hour(), this_hour() + HOUR])
        observed, worked = cursor.fetchone()
    return observed, worked


def of(node_id: int) -> tuple[float, float]:
    found = heat(this_hour(), this_hour() + HOUR, [node_id])
    return found.observed_seconds[0, 0], found.worked_seconds[0, 0]


def spread_out() -> list[dict]:
    """An hour of two GPUs, of which the second is not told of in its last twenty minutes."""
    first = [window(minute, worked_seconds=minute) for minute in range(60)]
    return first + [window(minute, device=1, worked_seconds=7.25) for minute in range(40)]


def test_an_hour_of_a_node_is_exactly_the_sum_of_its_windows():
    sending, other = make_sending(), make_sending("gpu-02")
    assert sending.post(batch(spread_out())).status_code == 200
    roll_up_hour(hour=this_hour())
    assert of(sending.node_id) == plain_sum(sending.node_id) == (6000, 1770 + 290)
    assert of(other.node_id) == (0, 0)


def test_windows_that_come_late_are_in_it_after_the_next_sweep():
    sending = make_sending()
    windows = spread_out()
    sending.post(batch(windows[:30]))
    roll_up_hour(hour=this_hour())
    assert of(sending.node_id) == (1800, sum(range(30)))
    sending.post(batch(windows[30:], sequence=1))
    roll_up_hour(hour=this_hour())
    assert of(sending.node_id) == plain_sum(sending.node_id) == (6000, 2060)


def test_observed_idle_is_zero_and_unobserved_is_unknown():
    node_id = make.make_node(at=scene.TEN - HOUR)
    device_id = scene.device_ids(scene.make_gpus(node_id, seen_from=scene.TEN - HOUR))[0]
    scene.make_usage(device_id, [0] * 60)
    scene.make_busy(node_id)
    found = heat(scene.TEN - HOUR, scene.TEN + HOUR, [node_id])
    assert found.hours == (scene.TEN - HOUR, scene.TEN)
    assert math.isnan(found.worked_ratio[0, 0])
    assert found.worked_ratio[0, 1] == 0


def test_a_shared_gpu_counts_once():
    node_id = make.make_node(at=scene.TEN)
    device_id = scene.device_ids(scene.make_gpus(node_id, seen_from=scene.TEN))[0]
    scene.make_usage(device_id, [120] * 60, key="")
    scene.make_usage(device_id, [120] * 60, key="slurm/atlas/1")
    scene.make_usage(device_id, [60] * 60, key="slurm/atlas/2")
    scene.make_busy(node_id)
    found = heat(scene.TEN, scene.TEN + HOUR, [node_id])
    assert (found.observed_seconds.tolist(), found.worked_seconds.tolist()) == ([[3600]], [[1800]])


def test_a_gpu_in_slices_is_told_by_them_as_one_gpu():
    node_id = make.make_node(at=scene.TEN)
    seen = [
        fleet.ObservedDevice(uuid="GPU-0", model="NVIDIA H100 80GB HBM3", index=0),
        fleet.ObservedDevice(uuid="MIG-a", model="", kind="mig", parent="GPU-0", compute_slices=3),
        fleet.ObservedDevice(uuid="MIG-b", model="", kind="mig", parent="GPU-0", compute_slices=1),
    ]
    ids = fleet.register_devices(node_id=node_id, devices=seen, at=scene.LATER, seen_from=scene.TEN)
    scene.make_usage(ids["MIG-a"], [240] * 60)
    scene.make_usage(ids["MIG-b"], [0] * 60)
    scene.make_busy(node_id)
    found = heat(scene.TEN, scene.TEN + HOUR, [node_id])
    assert (found.observed_seconds.tolist(), found.worked_seconds.tolist()) == ([[3600]], [[2700]])


def test_nodes_are_in_the_order_asked_for():
    ids = [make.make_node(name, at=scene.TEN) for name in ("a", "b")]
    for node_id in ids:
        device_ids = scene.device_ids(scene.make_gpus(node_id, seen_from=scene.TEN))
        for device_id in device_ids[: 1 + ids.index(node_id)]:
            scene.make_usage(device_id, [240] * 60)
        scene.make_busy(node_id)
    found = heat(scene.TEN, scene.TEN + HOUR, [ids[1], ids[0]])
    assert found.node_ids == (ids[1], ids[0])
    assert found.observed_seconds.tolist() == [[7200], [3600]]
