"""A budget is told of at its thresholds, and where an excess is likely for two days or as sure as can be."""

from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.budget_alerts import BudgetOutlook, is_over, is_warned, threshold_reached
from apps.economics.budgets import hours_within
from apps.economics.hours_ahead import HoursAhead, repeated_sum, repeated_values

FIRST = date(2026, 3, 10)


def looks(*chances: float | None, share: str = "1.1", gone: float = 0.5) -> list[BudgetOutlook]:
    """One a day with these chances."""
    return [
        BudgetOutlook(FIRST + timedelta(days=place), chance, Fraction(share), gone)
        for place, chance in enumerate(chances)
    ]


@pytest.mark.parametrize(
    ("share", "reached"),
    [
        ("0.4999", None),
        ("0.5", 50),
        ("0.7499", 50),
        ("0.75", 75),
        ("0.9", 90),
        ("1", 100),
        ("3", 100),
    ],
)
def test_a_threshold_is_reached_when_its_share_is_used(share: str, reached: int | None) -> None:
    assert threshold_reached(Fraction(share)) == reached


def test_what_is_not_known_reaches_none() -> None:
    assert threshold_reached(None) is None


@pytest.mark.parametrize(
    ("chances", "warned"),
    [
        ((0.85,), False),
        ((0.85, 0.82), True),
        ((0.85, 0.5), False),
        ((0.3, 0.9), True),
        ((0.79, 0.79, 0.79), False),
        ((None,), False),
        ((None, None), True),
        ((), False),
    ],
)
def test_two_likely_days_or_one_sure_one_are_a_warning(
    chances: tuple[float | None, ...], warned: bool
) -> None:
    assert is_warned(looks(*chances)) is warned


def test_a_day_that_was_not_looked_at_is_no_day_in_a_row() -> None:
    first, _, last = looks(0.85, 0.85, 0.85)
    assert not is_warned([first, last])
    assert not is_over(
        [*looks(0.1, share="0.8"), BudgetOutlook(last.day, 0.1, Fraction(4, 5), 0.5)]
    )


def test_a_run_rate_warns_from_a_tenth_of_the_time_on_and_two_per_cent_over() -> None:
    assert is_warned(looks(None, None, share="1.02", gone=0.1))
    assert not is_warned(looks(None, None, share="1.01", gone=0.1))
    assert not is_warned(looks(None, None, share="1.5", gone=0.09))


@pytest.mark.parametrize(
    ("chances", "share", "known_days", "warned"),
    [
        ((0.9,), "1.2", 27, False),
        ((0.9, 0.9), "1.2", 27, True),
        ((0.85, 0.85), "1.1", 27, False),
        ((0.85, 0.85), "1.1", 28, True),
        ((0.9,), "1.2", 28, True),
        ((None, None), "1.02", 12, True),
    ],
)
def test_a_short_series_warns_after_two_days_and_with_a_margin(
    chances: tuple[float | None, ...], share: str, known_days: int, *, warned: bool
) -> None:
    """Half is used: of an expected 1.2 the excess is 0.2 of 0.7 that are to come, of 1.1 a sixth of 0.6."""
    found = looks(*chances, share=share)
    found[-1] = replace(found[-1], known_days=known_days, share_used=Fraction(1, 2))
    assert is_warned(found) is warned


def test_what_is_expected_within_the_amount_warns_of_nothing_and_ends_a_warning_after_two_days() -> (
    None
):
    inside = looks(0.95, 0.95, share="1")
    assert not is_warned(inside)
    assert is_over(inside)
    assert not is_over(inside[:1])
    unknown = [BudgetOutlook(each.day, None, None, 0.5) for each in inside]
    assert not is_over(unknown)
    assert not is_warned(unknown)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=200), st.integers(0, 400), st.integers(0, 500)
)
def test_hours_beyond_a_forecast_are_those_that_its_sum_is_of(
    values: list[int], first: int, hours: int
) -> None:
    repeated = repeated_values(values, first, hours)
    assert len(repeated) == hours
    assert sum(repeated) == repeated_sum(values, first, hours)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=60),
    st.integers(0, 90),
    st.integers(1, 200),
    st.integers(0, 4_000),
)
def test_the_hour_of_the_excess_is_the_first_by_which_the_sum_is_above(
    values: list[int], first: int, hours: int, room: int
) -> None:
    ahead = HoursAhead(values, {})
    passed = hours_within(room, [(ahead, first)], hours)
    if passed is None:
        assert repeated_sum(values, first, hours) <= room
    else:
        assert repeated_sum(values, first, passed) <= room < repeated_sum(values, first, passed + 1)


def test_what_comes_on_top_is_spread_evenly() -> None:
    flat = HoursAhead([1.0], {})
    assert hours_within(50, [(flat, 0)], 100) == 50
    assert hours_within(50, [(flat, 0)], 100, more=100) == 25
    assert hours_within(50, [(flat, 0), (flat, 0)], 100, more=200) == 12
    assert hours_within(1_000, [(flat, 0)], 100) is None
