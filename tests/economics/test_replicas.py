"""Replicas beyond what the load takes with headroom; never one that was active."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.moves.replicas import ServiceHour, replica_size, spare_replicas
from apps.economics.moves.shrinking import MOST_WORKED


def hour(busy: float, held: float = 8.0, portion: float = 2.0) -> ServiceHour:
    return ServiceHour(0, 0, held, busy, portion)


def test_of_four_replicas_that_are_a_quarter_active_two_are_spare() -> None:
    # 2 of 8 GPUs active, at 70 % at most: 2.86 GPUs are two replicas of two.
    first, second = spare_replicas([hour(2.0), hour(2.0)], 2.0)
    assert (first.nodes, first.givable, first.rested) == (4.0, 2.0, 0.0)
    assert (second.givable, second.rested) == (2.0, 2.0)


def test_without_any_activity_all_are_spare_and_at_full_load_none() -> None:
    assert [each.givable for each in spare_replicas([hour(0.0), hour(8.0), hour(0.1)], 2.0)] == [
        4.0, 0.0, 3.0,
    ]  # fmt: skip


def test_a_replica_is_what_most_jobs_hold() -> None:
    assert replica_size([hour(1, portion=2), hour(1, portion=2), hour(1, portion=8)]) == 2
    assert replica_size([]) == 0.0


@given(st.floats(0, 64), st.floats(0, 64), st.sampled_from([0.5, 1, 2, 8]))
def test_what_is_left_is_never_more_active_than_headroom_allows(
    held: float, part: float, size: float
) -> None:
    busy = min(part, held)
    (found,) = spare_replicas([hour(busy, held)], size)
    left = (found.nodes - found.givable) * size
    assert found.givable >= 0
    assert not found.givable or busy <= MOST_WORKED * left + 1e-6
