"""Totals are forecast as totals: sums of whole paths, never of medians; what comes rarely is neither nothing nor sure."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.forecast.day_totals import day_totals, tsb_levels
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.paths import TotalsAhead, rolled_sums, sample_paths
from apps.economics.forecast.rolling import rolled_forecasts
from apps.economics.forecast.scores import DAY, Floats

WEEK = 7 * DAY


def office_hours(days: int) -> Floats:
    hour = np.arange(days * DAY)
    return np.asarray(
        ((hour // DAY % 7 < 5) & (hour % DAY >= 9) & (hour % DAY < 18)), dtype=np.float64
    )


def intermittent(seed: int, days: int = 56) -> Floats:
    """8 GPUs in 45 % of office hours."""
    draw = np.random.default_rng(seed)
    return np.where(draw.random(days * DAY) < 0.45, 8.0, 0.0) * office_hours(days)


def rare(seed: int) -> Floats:
    """A job of a day once in eight days."""
    draw = np.random.default_rng(seed)
    return np.repeat(np.where(draw.random(60) < 0.13, 8.0, 0.0), DAY)


def stepped(seed: int) -> Floats:
    draw = np.random.default_rng(seed)
    jumps = draw.random(60 * DAY) < 0.02
    return np.maximum(np.cumsum(np.where(jumps, draw.integers(-2, 3, 60 * DAY), 0)) * 8.0 + 64, 0)


def with_gap(seed: int) -> Floats:
    noise = np.random.default_rng(seed).normal(0, 1, 60 * DAY)
    values = np.maximum(stepped(seed) + noise, 0)
    values[30 * DAY : 33 * DAY + 5] = np.nan
    return values


def credits_too(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(1, 30, 60 * DAY)


def ahead_of(values: Floats, horizon: int = 14 * DAY) -> tuple[Floats, TotalsAhead, Floats]:
    """What came by day, totals as they would have been forecast, and the paths of now."""
    rolled = rolled_forecasts(values, len(values), 1, horizon)
    begin = rolled.begin
    days = day_totals(values[begin:], len(values) - begin, rolled.day_sums)
    sums = rolled_sums(days)
    return days.came, sums, sample_paths(days, sums)


def test_two_hours_that_are_likely_nothing_are_together_likely_not() -> None:
    draw = np.random.default_rng(11)
    hours = np.where(draw.random((100_000, 2)) < 0.4, 8.0, 0.0)
    assert np.median(hours, axis=0).sum() == 0
    totals = hours.sum(axis=1)
    assert [round(float((totals == each).mean()), 2) for each in (0, 8, 16)] == [0.36, 0.48, 0.16]
    assert (np.median(totals), *np.quantile(totals, [0.1, 0.9])) == (8, 0, 16)
    assert totals.mean() == pytest.approx(6.4, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_a_week_of_intermittent_demand_is_near_its_weeks_before_and_never_sure(seed: int) -> None:
    values = intermittent(seed)
    _, _, paths = ahead_of(values)
    weeks = values.reshape(-1, WEEK).sum(axis=1)
    of_week = paths[:, :WEEK].sum(axis=1)
    low, high = np.quantile(of_week, [0.1, 0.9])
    assert of_week.mean() == pytest.approx(weeks[-4:].mean(), rel=0.15)
    assert 0 < low < high
    assert low < weeks[-4:].mean() < high
    at_night = paths.reshape(len(paths), -1, DAY)[:, :, [0, 3, 22]]
    assert at_night.max() < 0.5, "the hours of a day stay where they are"
    assert (paths.reshape(len(paths), -1, DAY)[:, :, 9:18].max(axis=2)[:, 0] > 4).mean() > 0.8


def test_no_hour_of_the_week_in_which_a_quarter_of_weeks_had_demand_is_sure_to_have_none() -> None:
    values = np.zeros(8 * WEEK)
    for week in (0, 2, 5, 7):
        values[week * WEEK + 2 * DAY + 10] = 8.0
    rolled = rolled_forecasts(values, len(values), 1, 2 * WEEK)
    hour = 2 * DAY + 10
    assert (rolled.quantiles[-1, -1, [hour, WEEK + hour]] > 2).all()
    assert rolled.quantiles[-1, -1, hour + 1] == pytest.approx(0.0, abs=1.0)
    assert (np.diff(rolled.quantiles[-1], axis=0) >= 0).all()


def test_what_is_intermittent_is_expected_less_while_nothing_comes() -> None:
    levels = tsb_levels(np.array([0.0, 0.0, 3.0, 0.0, 5.0]), 0.4, 4.0)
    assert levels == pytest.approx([1.44, 1.296, 1.48808, 1.339272, 1.685472])
    assert tsb_levels(np.array([np.nan, 0.0]), 0.4, 4.0) == pytest.approx([1.6, 1.44])


@pytest.mark.parametrize("make", [intermittent, rare, stepped, with_gap])
def test_hours_days_and_weeks_of_the_same_paths_come_to_the_same(
    make: Callable[[int], Floats],
) -> None:
    _, sums, paths = ahead_of(make(4))
    by_day = paths.reshape(len(paths), -1, DAY).sum(axis=2)
    assert (paths >= 0).all()
    assert by_day.mean(axis=0).sum() == pytest.approx(sums.expected[-1, -1], rel=0.05)
    assert paths[:, :WEEK].sum(axis=1) == pytest.approx(by_day[:, :7].sum(axis=1))
    assert (np.diff(sums.quantiles[-1], axis=0) >= -1e-9).all()
    assert (ahead_of(make(4))[2] == paths).all(), "the same history has the same paths"


@pytest.mark.parametrize("make", [intermittent, rare, stepped])
def test_totals_of_days_and_weeks_lie_in_their_intervals_about_as_often_as_they_say(
    make: Callable[[int], Floats],
) -> None:
    inside: dict[int, list[bool]] = {1: [], 7: []}
    for seed in range(4):
        came, sums, _ = ahead_of(make(seed))
        for days, found in inside.items():
            total = came.cumsum(axis=1)[21:, days - 1]
            low, high = sums.quantiles[21:, 0, days - 1], sums.quantiles[21:, -1, days - 1]
            known = ~np.isnan(total)
            found += ((total >= low - 1e-9) & (total <= high + 1e-9))[known].tolist()
    assert {days: 0.65 <= np.mean(found) <= 0.97 for days, found in inside.items()} == {
        1: True,
        7: True,
    }, {days: float(np.mean(found)) for days, found in inside.items()}


def test_no_total_depends_on_what_came_after_its_origin() -> None:
    values, other = stepped(1), stepped(1)
    other[-10 * DAY :] = np.random.default_rng(0).permutation(other[-10 * DAY :]) + 40
    ours, theirs = ahead_of(values)[1], ahead_of(other)[1]
    assert ours.expected[:-10] == pytest.approx(theirs.expected[:-10])
    assert ours.quantiles[:-10] == pytest.approx(theirs.quantiles[:-10], nan_ok=True)


def test_with_three_days_known_there_is_one_path_and_no_interval_of_totals() -> None:
    _, sums, paths = ahead_of(stepped(2)[: 2 * DAY + 5])
    assert len(paths) == 1
    assert np.isnan(sums.quantiles[-1]).all()


def test_amounts_below_nothing_keep_their_mean() -> None:
    _, sums, paths = ahead_of(credits_too(3))
    assert paths.min() < 0
    assert paths.sum(axis=1).mean() == pytest.approx(sums.expected[-1, -1], rel=0.05)


def test_of_nothing_at_all_nothing_is_expected() -> None:
    _, sums, paths = ahead_of(np.zeros(30 * DAY))
    assert not paths.any()
    assert not sums.expected.any()


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 40), st.integers(0, 23), st.integers(0, 5), st.sampled_from([1, 3, 7, 14]))
def test_every_history_has_paths_that_nest_and_are_bounded(
    days: int, rest: int, seed: int, ahead: int
) -> None:
    values = intermittent(seed)[: days * DAY + rest]
    values[: seed * 7] = np.nan
    _, sums, paths = ahead_of(values, ahead * DAY)
    assert np.isfinite(paths).all()
    assert paths.shape[1] == ahead * DAY
    assert paths.min() >= 0
    assert sums.quantiles.shape[1:] == (len(LEVELS), ahead)
