"""How machines that nothing is on are given back: the simplest way that saves as much, and never more than stood there."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.moves.spare_machines import (
    PoolHour,
    SparePlan,
    SpareWay,
    best_plan,
    gpus_of_machines,
    level_above,
    level_below,
    machines_within,
    packed_machines,
    scales,
    spare_plans,
)

WEEK = 168


def pool(
    free: Callable[[int], float], nodes: Callable[[int], float] = lambda _: 4, weeks: int = 4
) -> list[PoolHour]:
    """So many machines free in each hour, all of them paid by the hour."""
    return [
        PoolHour(
            hour // WEEK, hour % WEEK, nodes(hour), free(hour), free(hour),
            min(free(hour), free(hour - 1)) if hour else 0.0,
        )
        for hour in range(weeks * WEEK)
    ]  # fmt: skip


def best(hours: list[PoolHour]) -> SparePlan:
    plan = best_plan(hours)
    assert plan is not None
    return plan


def test_levels_are_values_and_of_nothing_nothing() -> None:
    assert (level_below([]), level_above([])) == (0.0, 0.0)
    values = [float(each) for each in range(1, 101)]
    assert (level_below(values), level_above(values)) == (2.0, 99.0)


def test_what_is_always_free_is_given_back_whatever_an_hour_in_a_hundred_needs() -> None:
    plan = best(pool(lambda hour: 0 if hour in (100, 300) else 2))
    assert (plan.way, plan.machines) == (SpareWay.GIVE_BACK, 2)
    assert plan.total == 2 * (4 * WEEK - 2)
    assert (plan.short, plan.tried, plan.wakes) == (2, 4 * WEEK, 2)


def test_of_one_week_no_other_tries_the_plan() -> None:
    assert best(pool(lambda _: 2, weeks=1)).tried == 0


def test_free_nights_are_a_schedule_and_an_hour_between_is_none() -> None:
    plan = best(pool(lambda hour: 4 if hour % 24 < 8 else 1 if hour % 24 == 12 else 0))
    assert (plan.way, plan.machines, plan.short) == (SpareWay.SCHEDULE, 4, 0)
    assert plan.total == 4 * 8 * 28


def test_a_schedule_goes_round_the_end_of_the_week() -> None:
    """One hour before its end and two after it are three on end; two hours elsewhere are none."""
    plan = best(pool(lambda hour: 4 if hour % WEEK in (167, 0, 1, 80, 81) else 3))
    schedule = next(
        each
        for each in spare_plans(pool(lambda hour: 4 if hour % WEEK in (167, 0, 1, 80, 81) else 0))
        if each.way is SpareWay.SCHEDULE
    )
    assert (plan.way, plan.machines) == (SpareWay.GIVE_BACK, 3)
    assert schedule.total == 4 * 3 * 4


def test_what_is_free_at_no_hour_of_the_week_is_scaled() -> None:
    plan = best(pool(lambda hour: 3 if hour % 61 < 30 else 0))
    assert (plan.way, plan.machines) == (SpareWay.SCALE, 3)
    assert plan.wakes == 11


def test_a_minimum_that_is_never_needed_is_the_floor() -> None:
    def by_day(day: float, night: float) -> Callable[[int], float]:
        return lambda hour: day if 8 <= hour % 24 < 20 else night

    hours = pool(by_day(0, 1), nodes=by_day(4, 2))
    assert scales(hours)
    plan = best(hours)
    assert (plan.way, plan.machines) == (SpareWay.FLOOR, 1)
    assert plan.total == 12 * 28
    assert not scales(pool(lambda _: 1))


def test_a_pool_that_is_seldom_at_its_least_has_no_minimum_to_lower() -> None:
    hours = pool(
        lambda hour: 2 if hour % 20 == 0 else 0, nodes=lambda hour: 2 if hour % 20 == 0 else 4
    )
    plans = {plan.way: plan for plan in spare_plans(hours)}
    assert plans[SpareWay.FLOOR].total == 0


@pytest.mark.parametrize("free", [lambda _: 0, lambda hour: 1 if hour % 50 < 2 else 0])
def test_next_to_nothing_is_no_plan(free: Callable[[int], float]) -> None:
    assert best_plan(pool(free)) is None
    assert best_plan([]) is None


def test_jobs_are_packed_with_headroom() -> None:
    # 32 GPUs in 99 hours of 100: 35.2 with headroom are five machines of eight.
    assert packed_machines([[8.0] * 4] * 99 + [[8.0] * 10], [8.0] * 10) == 5
    assert packed_machines([[]] * 10, [8.0]) == 0
    assert packed_machines([[], []], []) == 0


@pytest.mark.parametrize(
    ("pieces", "needed"),
    [
        ([5.0] * 10 + [4.0] * 5, 13),
        ([3.0] * 40, 20),
        ([16.0, 4.0, 4.0], 4),
        ([8.0] * 60, 66),
    ],
)
def test_a_machine_does_only_for_jobs_that_fit_on_it_together(
    pieces: list[float], needed: int
) -> None:
    """A job of five leaves no room for one of four; more than there are machines is more than there are."""
    assert packed_machines([pieces], [8.0] * 50) == needed


def test_the_largest_machines_are_packed_first() -> None:
    assert packed_machines([[4.0, 2.0, 1.0]], [1.0, 1.0, 8.0]) == 1
    assert packed_machines([[8.0, 1.0]], [1.0, 1.0, 8.0]) == 3


@given(
    st.lists(st.integers(1, 8).map(float), max_size=30),
    st.lists(st.sampled_from([1.0, 4.0, 8.0]), max_size=8),
)
def test_packed_machines_hold_what_is_asked_for(pieces: list[float], sizes: list[float]) -> None:
    whole = [*sizes, 8.0]
    needed = packed_machines([pieces], whole)
    largest = sorted(whole, reverse=True)[:needed]
    assert sum(largest) + 8.0 * (needed - len(largest)) >= sum(pieces) - 1e-6


def test_machines_are_counted_by_their_own_sizes_the_smallest_first() -> None:
    assert machines_within([8.0, 1.0, 1.0], 2.0) == 2
    assert machines_within([8.0, 1.0], 5.0) == 1.5
    assert machines_within([8.0], 9.0) == 1
    assert machines_within([8.0], -1.0) == 0
    assert gpus_of_machines([8.0, 1.0, 1.0], 2) == 2
    assert gpus_of_machines([8.0], 0.5) == 4
    assert gpus_of_machines([8.0], 3) == 8


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=1, max_size=400
    )
)
def test_no_way_gives_back_more_than_stood_there(machines: list[tuple[int, int, bool]]) -> None:
    hours = [
        PoolHour(
            place // WEEK, place % WEEK, float(max(nodes, free)), float(free), float(free),
            float(free if is_rested else 0),
        )
        for place, (nodes, free, is_rested) in enumerate(machines)
    ]  # fmt: skip
    for plan in spare_plans(hours):
        for given_back, hour in zip(plan.hours, hours, strict=True):
            assert 0 <= given_back <= hour.givable
        assert plan.short <= plan.tried
    plan = best_plan(hours)
    assert plan is None or plan.total > 0
