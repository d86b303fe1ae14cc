"""Sums ahead by hand, and the chance that they exceed what is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.budgets import Chance, chance_above, hours_within, sum_ahead
from apps.economics.hours_ahead import HoursAhead, repeated_sum

LEVELS = {0.1: 80.0, 0.5: 100.0, 0.9: 140.0}


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=400),
    first=st.integers(0, 900),
    hours=st.integers(0, 900),
)
def test_beyond_its_end_the_last_week_day_or_hour_comes_again(
    values: list[int], first: int, hours: int
) -> None:
    period = 168 if len(values) >= 168 else 24 if len(values) >= 24 else 1
    longer = list(values)
    while len(longer) < first + hours:
        longer.append(longer[-period])
    assert repeated_sum(values, first, hours) == sum(longer[first : first + hours])


def test_forecasts_are_added_each_from_its_own_hour_on_and_so_are_their_quantiles() -> None:
    red = HoursAhead([1.0, 2.0, 3.0], {0.1: [0.0, 1.0, 2.0], 0.9: [2.0, 4.0, 6.0]})
    blue = HoursAhead([10.0, 20.0, 30.0], {0.1: [9.0, 8.0, 7.0], 0.9: [11.0, 22.0, 33.0]})
    both = sum_ahead([(red, 1), (blue, 0)], 2)
    assert both.expected == (2 + 3) + (10 + 20)
    assert both.quantiles == {0.1: (1 + 2) + (9 + 8), 0.9: (4 + 6) + (11 + 22)}


def test_one_forecast_without_an_interval_leaves_the_sum_without() -> None:
    bare, banded = HoursAhead([1.0], {}), HoursAhead([1.0], {0.5: [1.0]})
    assert sum_ahead([(bare, 0), (banded, 0)], 3).quantiles == {}
    assert sum_ahead([(bare, 0), (banded, 0)], 3).expected == 6
    assert sum_ahead([], 3).expected == 0, "of nothing nothing is expected"


@pytest.mark.parametrize(
    ("room", "chance"),
    [
        (140.0, (0.0, 0.1)),
        (200.0, (0.0, 0.1)),
        (120.0, (0.3, 0.3)),
        (100.0, (0.5, 0.5)),
        (90.0, (0.7, 0.7)),
        (80.0, (0.9, 0.9)),
        (79.0, (0.9, 1.0)),
        (-5.0, (0.9, 1.0)),
    ],
)
def test_the_chance_is_read_between_quantiles_and_bounded_beyond_them(
    room: float, chance: tuple[float, float]
) -> None:
    found = chance_above(room, LEVELS)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(chance)


def test_without_an_interval_there_is_no_chance_to_tell() -> None:
    assert chance_above(1.0, {}) is None
    assert chance_above(1.0, {0.5: 1.0}) == Chance(0.0, 0.5)


def test_totals_of_paths_are_summed_as_totals_and_never_fall_below_nothing() -> None:
    rare = HoursAhead(
        [0.0] * 24,
        {0.1: [0.0] * 24, 0.9: [8.0] * 24},
        [2.0] * 24,
        (24,),
        {0.1: (-60.0,), 0.9: (30.0,)},
    )
    found = sum_ahead([(rare, 0)], 24)
    assert found.expected == 48
    assert found.quantiles == {0.1: 0.0, 0.9: 78.0}
    assert hours_within(10.0, [(rare, 0)], 24) == 5
