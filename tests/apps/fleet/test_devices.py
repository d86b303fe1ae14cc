"""Devices: what an agent names, from when, and what becomes of it when it changes."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db import connections, transaction
from django.test.utils import CaptureQueriesContext

from apps.fleet import actions
from apps.fleet.actions import ObservedDevice
from apps.fleet.models import Device
from apps.fleet.queries import devices_alive_between, unconfirmed_devices
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass, hours_marked
from tests.make import NOON, make_device, make_node

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
GPU = ObservedDevice(uuid="GPU-0", model="NVIDIA A100-SXM4-80GB")
SMALL = ObservedDevice(
    uuid="MIG-1",
    kind="mig",
    parent="GPU-0",
    profile="1g.10gb",
    compute_slices=1,
    memory_slices=1,
)
LARGE = ObservedDevice(
    uuid="MIG-3",
    kind="mig",
    parent="GPU-0",
    profile="3g.40gb",
    compute_slices=3,
    memory_slices=4,
)


def see(node_id: int, *devices: ObservedDevice, seen_from: datetime = NOON) -> dict[str, int]:
    return actions.register_devices(
        node_id=node_id, devices=devices, at=NOON + 5 * HOUR, seen_from=seen_from
    )


def lives(node_id: int, uuid: str) -> list[tuple[datetime, datetime]]:
    rows = devices_alive_between([node_id], NOON - 99 * HOUR, NOON + 99 * HOUR)
    return [(row.lived_from, row.lived_to) for row in rows if row.uuid == uuid]


END = NOON + 99 * HOUR


def test_an_unknown_device_is_stored_unconfirmed_and_used() -> None:
    node = make_node()
    ids = see(node, GPU)
    assert [(each.uuid, each.node_name) for each in unconfirmed_devices(NOON)] == [
        ("GPU-0", "gpu-01")
    ]
    assert [row.id for row in devices_alive_between([node], NOON, NOON + HOUR)] == [ids["GPU-0"]]


def test_a_confirmed_device_is_asked_about_no_more() -> None:
    node = make_node()
    see(node, GPU, ObservedDevice(uuid="GPU-1"))
    actions.confirm_device(device_id=see(node, GPU)["GPU-0"], at=NOON)
    assert [each.uuid for each in unconfirmed_devices(NOON)] == ["GPU-1"]
    assert actions.confirm_devices(node_id=node, at=NOON) == 1
    assert unconfirmed_devices(NOON) == []


def test_nobody_is_asked_about_what_is_on_a_node_that_ended() -> None:
    ended, living = make_node(), make_node("gpu-02")
    actions.end_node(node_id=ended, ended_at=NOON + HOUR, reason="sold", at=NOON + 2 * HOUR)
    # A device that an agent still named after the end, as it ended only later than its node.
    Device.objects.create(uuid="GPU-9", node_id=ended, kind="gpu", period=(NOON, None))
    see(living, GPU)
    assert [each.uuid for each in unconfirmed_devices(NOON + 3 * HOUR)] == ["GPU-0"]


def test_confirming_twice_keeps_the_first_time() -> None:
    device = make_device(node_id=make_node())
    actions.confirm_device(device_id=device, at=NOON)
    actions.confirm_device(device_id=device, at=NOON + HOUR)
    assert Device.objects.get(pk=device).confirmed_at == NOON


def test_a_device_seen_again_is_looked_up_once_and_the_same() -> None:
    node = make_node()
    first = see(node, GPU, SMALL)
    with CaptureQueriesContext(connections["default"]) as queries:
        assert see(node, GPU, SMALL, seen_from=NOON + HOUR) == first
    assert len([q for q in queries.captured_queries if "fleet_device" in q["sql"]]) == 1


def test_a_new_device_marks_the_hours_of_its_node_for_the_split() -> None:
    node = make_node(at=NOON + 9 * HOUR)
    ChangedHour.objects.all().delete()
    see(node, GPU, seen_from=NOON + 3 * HOUR)
    assert hours_marked(Pass.SPLIT, END, 99) == [NOON + 3 * HOUR, NOON + 4 * HOUR]


def test_evidence_from_before_moves_a_devices_first_moment_back() -> None:
    node = make_node(at=NOON)
    later = see(node, GPU, seen_from=NOON + 3 * HOUR)
    ChangedHour.objects.all().delete()
    assert see(node, GPU, seen_from=NOON + HOUR) == later
    assert lives(node, "GPU-0") == [(NOON + HOUR, END)]
    assert hours_marked(Pass.SPLIT, END, 99) == [NOON + HOUR, NOON + 2 * HOUR]


def test_a_gpu_that_moves_to_another_node_ends_there_and_begins_here() -> None:
    old, new = make_node("gpu-01"), make_node("gpu-02")
    before = see(old, GPU)
    after = see(new, GPU, seen_from=NOON + 2 * HOUR)
    assert before != after
    assert lives(old, "GPU-0") == [(NOON, NOON + 2 * HOUR)]
    assert lives(new, "GPU-0") == [(NOON + 2 * HOUR, END)]


def test_a_late_batch_of_the_old_node_means_the_device_of_then() -> None:
    old, new = make_node("gpu-01"), make_node("gpu-02")
    before = see(old, GPU)
    see(new, GPU, seen_from=NOON + 2 * HOUR)
    assert see(old, GPU, seen_from=NOON + HOUR) == before
    assert lives(new, "GPU-0") == [(NOON + 2 * HOUR, END)]


def test_a_slice_made_again_with_another_geometry_is_a_new_device_under_its_old_uuid() -> None:
    node = make_node()
    before = see(node, GPU, SMALL)
    again = ObservedDevice(
        uuid="MIG-1",
        kind="mig",
        parent="GPU-0",
        profile="2g.20gb",
        compute_slices=2,
        memory_slices=2,
    )
    after = see(node, GPU, again, seen_from=NOON + HOUR)
    assert after["GPU-0"] == before["GPU-0"]
    assert after["MIG-1"] != before["MIG-1"]
    assert lives(node, "MIG-1") == [(NOON, NOON + HOUR), (NOON + HOUR, END)]


def test_other_replicas_are_another_share_and_so_a_new_device() -> None:
    node = make_node()
    before = see(node, GPU)
    after = see(node, ObservedDevice(uuid="GPU-0", replicas=4), seen_from=NOON + HOUR)
    assert before != after
    rows = devices_alive_between([node], NOON, NOON + 2 * HOUR)
    assert [row.replicas for row in rows] == [1, 4]


def test_a_gpu_that_is_listed_without_a_slice_ends_that_slice() -> None:
    node = make_node()
    see(node, GPU, SMALL)
    see(node, GPU, LARGE, seen_from=NOON + HOUR)
    assert lives(node, "MIG-1") == [(NOON, NOON + HOUR)]
    assert lives(node, "MIG-3") == [(NOON + HOUR, END)]


def test_a_slice_that_comes_back_after_it_was_gone_is_a_new_device() -> None:
    node = make_node()
    before = see(node, GPU, SMALL)
    see(node, GPU, seen_from=NOON + HOUR)
    after = see(node, GPU, SMALL, seen_from=NOON + 2 * HOUR)
    assert before["MIG-1"] != after["MIG-1"]
    assert lives(node, "MIG-1") == [(NOON, NOON + HOUR), (NOON + 2 * HOUR, END)]


def test_an_old_geometry_that_arrives_late_ends_where_the_new_one_began() -> None:
    node = make_node()
    see(node, GPU, LARGE, seen_from=NOON + HOUR)
    see(node, GPU, SMALL, seen_from=NOON)
    assert lives(node, "MIG-1") == [(NOON, NOON + HOUR)]
    assert lives(node, "MIG-3") == [(NOON + HOUR, END)]


def test_slices_of_a_gpu_that_is_not_listed_stay() -> None:
    node = make_node()
    see(node, GPU, SMALL)
    see(node, ObservedDevice(uuid="GPU-1"), seen_from=NOON + HOUR)
    assert lives(node, "MIG-1") == [(NOON, END)]


def test_a_parent_known_only_by_its_slice_is_stored_first() -> None:
    node = make_node()
    ids = see(node, SMALL)
    parent = Device.objects.get(uuid="GPU-0")
    assert set(ids) == {"MIG-1"}
    assert Device.objects.get(pk=ids["MIG-1"]).parent_id == parent.id


def test_a_gpu_known_only_by_its_slice_is_named_once_it_is_listed() -> None:
    node = make_node(at=NOON)
    named_by_slice = replace(SMALL, model="NVIDIA A100-SXM4-80GB MIG 1g.10gb")
    see(node, named_by_slice)
    assert Device.objects.get(uuid="GPU-0").model == ""
    ChangedHour.objects.all().delete()
    see(node, GPU, named_by_slice, seen_from=NOON + HOUR)
    parent = Device.objects.get(uuid="GPU-0")
    assert (parent.model, parent.period.lower) == (GPU.model, NOON)
    assert NOON in hours_marked(Pass.SPLIT, END, 99)


def test_each_device_may_have_been_seen_since_another_moment() -> None:
    node = make_node()
    see(node, GPU, ObservedDevice(uuid="GPU-1", seen_from=NOON + HOUR))
    assert lives(node, "GPU-0") == [(NOON, END)]
    assert lives(node, "GPU-1") == [(NOON + HOUR, END)]


def test_two_descriptions_of_one_moment_leave_the_one_said_last() -> None:
    node = make_node()
    first = see(node, GPU)
    assert see(node, ObservedDevice(uuid="GPU-0", replicas=2)) == first
    assert [row.replicas for row in devices_alive_between([node], NOON, END)] == [2]


@pytest.mark.parametrize(
    "device",
    [ObservedDevice(uuid="MIG-1", kind="mig"), ObservedDevice(uuid="GPU-0", parent="GPU-1")],
)
def test_a_slice_without_a_parent_and_a_gpu_with_one_are_refused(device: ObservedDevice) -> None:
    with pytest.raises(actions.SliceWithoutParent):
        see(make_node(), device)


@pytest.mark.django_db(transaction=True)
def test_a_uuid_lives_once_at_a_time_even_past_the_actions() -> None:
    node = make_node()
    see(node, GPU)
    with pytest.raises(Exception, match="device_uuid_lives_once_at_a_time"), transaction.atomic():
        Device.objects.create(node_id=node, uuid="GPU-0", period=(NOON + HOUR, None))
