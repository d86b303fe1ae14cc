"""What waits meets what stands once, and only where it fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.moves.queues import Room, meet


def test_a_job_of_many_machines_fits_not_on_what_jobs_leave_of_each() -> None:
    """Two GPUs stand on each of eight machines: none of a job of 64 waits for these, jobs of two do."""
    found = meet({64.0: 64.0, 2.0: 40.0}, Room(0.0, 8.0, 16.0, 8.0))
    assert (found.hours, found.waiting) == (16.0, {64.0: 64.0, 2.0: 24.0})


def test_large_jobs_take_whole_machines_and_small_ones_share_them() -> None:
    assert meet({12.0: 12.0}, Room(24.0, 8.0)).room.free == 8.0
    assert meet({12.0: 12.0}, Room(8.0, 8.0)).hours == 0.0
    assert meet({5.0: 50.0}, Room(16.0, 8.0)).hours == 10.0
    assert meet({4.0: 50.0}, Room(16.0, 8.0)).hours == 16.0


def test_a_single_gpu_fits_wherever_one_stands() -> None:
    assert Room(0.0, 8.0, 2.0, 4.0).largest_partly == 1.0
    assert Room(0.0, 8.0).largest_partly == 0.0
    assert meet({1.0: 9.0}, Room(0.0, 8.0, 2.0, 4.0)).hours == pytest.approx(2.0)


@given(
    st.dictionaries(st.sampled_from([0.5, 1.0, 2.0, 5.0, 8.0, 12.0, 64.0]), st.floats(0, 300)),
    st.integers(0, 20),
    st.floats(0, 60),
    st.integers(0, 12),
)
def test_nothing_is_met_twice(
    waiting: dict[float, float], machines: int, partly: float, nodes: int
) -> None:
    room = Room(machines * 8.0, 8.0, partly if nodes else 0.0, nodes)
    found = meet(waiting, room)
    took = room.free + room.partly - found.room.free - found.room.partly
    assert 0 <= found.hours <= took + 1e-6
    assert sum(waiting.values()) == pytest.approx(sum(found.waiting.values()) + found.hours)
    assert all(-1e-6 <= left <= waiting[size] + 1e-6 for size, left in found.waiting.items())
