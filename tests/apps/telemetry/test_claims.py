"""A GPU that two nodes report stays with the one that has it, until that falls silent about it."""

from typing import Any

import pytest

from apps.fleet.models import Device
from apps.telemetry.actions import interning
from apps.telemetry.models import TelemetryWindow
from tests.apps.telemetry.sending import Sending, batch, gpu, make_sending, window

pytestmark = pytest.mark.django_db

REJECTED = {"field": "device", "reason": "reported by another node"}


@pytest.fixture
def owner() -> Sending:
    """Has reported the first GPU for ten minutes."""
    sending = make_sending("gpu-01")
    sending.post(batch([window(minute) for minute in range(10)], devices=[gpu(0)]))
    return sending


@pytest.fixture
def other() -> Sending:
    return make_sending("gpu-02")


def lives() -> list[tuple[str, int]]:
    return list(Device.objects.order_by("id").values_list("uuid", "node_id"))


def answer(sending: Sending, *args: Any, **given: Any) -> dict[str, Any]:
    return sending.post(batch(*args, **given)).json()


def test_an_agent_does_not_take_a_gpu_that_another_node_reports(owner, other):
    said = answer(other, [window(9), window(12), window(12, device=1)])
    assert said["rejected"] == [{"index": 0} | REJECTED, {"index": 1} | REJECTED]
    assert said["accepted"] == 1
    assert lives() == [("GPU-0", owner.node_id), ("GPU-1", other.node_id)]
    assert TelemetryWindow.objects.filter(agent_id=other.agent_id).count() == 1


def test_nor_by_a_slice_that_would_bring_it_along(owner, other):
    cut = gpu(0) | {"uuid": "MIG-1", "kind": "mig", "parent": "GPU-0"}
    assert answer(other, [window(10)], devices=[cut])["accepted"] == 0
    assert lives() == [("GPU-0", owner.node_id)]


def test_nor_by_listing_it_without_a_window(owner, other):
    assert answer(other, [window(10, device=1)])["rejected"] == []
    assert lives() == [("GPU-0", owner.node_id), ("GPU-1", other.node_id)]


def test_the_owner_goes_on_in_every_process(owner, other):
    answer(other, [window(10)], devices=[gpu(0)])
    interning.forget()
    assert answer(owner, [window(11)], devices=[gpu(0)], sequence=1)["accepted"] == 1
    assert lives() == [("GPU-0", owner.node_id)]


def test_a_gpu_that_its_node_reports_no_longer_may_have_moved(owner, other):
    assert answer(other, [window(15)], devices=[gpu(0)])["accepted"] == 1
    assert lives() == [("GPU-0", owner.node_id), ("GPU-0", other.node_id)]


def test_what_the_old_node_says_late_of_the_time_before_the_move_is_kept(owner, other):
    answer(other, [window(20)], devices=[gpu(0)])
    interning.forget()
    late = answer(owner, [window(10), window(11)], devices=[gpu(0)], sequence=1)
    assert (late["accepted"], late["rejected"]) == (2, [])
    assert len(lives()) == 2
