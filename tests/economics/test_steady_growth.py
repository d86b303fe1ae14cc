"""Growth that has gone on for months as it was is carried on; what ended, stepped or only wandered is not."""

from collections.abc import Callable

import numpy as np
import pytest

from apps.economics.forecast.daily import daily_scenarios
from apps.economics.forecast.daily_moves import damped_trend, steadiness
from apps.economics.forecast.scores import Floats

WEEK, QUARTER = 7, 91
SHAPE = np.array([1.1, 1.1, 1.1, 1.1, 1.0, 0.8, 0.8])


def growing_days(growth: float, weeks: int, seed: int, *, noise: float = 0.05) -> Floats:
    """By day, with `growth` of the logarithm a week."""
    day = np.arange(weeks * WEEK)
    scatter = np.random.default_rng(seed).normal(0, noise, len(day))
    return 100 * SHAPE[day % WEEK] * np.exp(growth * day / WEEK + scatter)


@pytest.mark.parametrize("growth", [-0.02, 0.02, 0.04])
@pytest.mark.parametrize("seed", range(3))
def test_a_quarter_of_steady_growth_is_foreseen_nearer_than_four_weeks_of_now(
    growth: float, seed: int
) -> None:
    values = growing_days(growth, 39, seed)
    known, actual = values[:-QUARTER], float(values[-QUARTER:].sum())
    expected = float(daily_scenarios(known, QUARTER).totals.mean(axis=0).sum())
    as_now = float(known[-28:].sum()) * QUARTER / 28
    assert abs(expected - actual) < 0.5 * abs(as_now - actual)
    assert expected == pytest.approx(actual, rel=0.1)


def test_a_year_of_steady_growth_is_not_carried_on_for_ever() -> None:
    values = growing_days(0.02, 52, 1)
    expected = daily_scenarios(values, 548).totals.mean(axis=0)
    assert expected[-WEEK:].sum() < 1.6 * values[-WEEK:].sum()


@pytest.mark.parametrize("seed", range(8))
def test_levels_that_wander_or_scatter_are_not_steady(seed: int) -> None:
    draw = np.random.default_rng(seed)
    assert steadiness(100 * np.exp(draw.normal(0, 0.1, 30))) < 0.2
    assert steadiness(100 * np.exp(np.cumsum(draw.normal(0, 0.06, 30)))) < 0.5


def test_growth_that_ended_and_a_step_are_not_steady() -> None:
    weeks = np.arange(26)
    assert steadiness(100 * np.exp(0.04 * np.minimum(weeks, 13))) < 0.3
    assert steadiness(np.where(weeks < 13, 100.0, 150.0)) == 0
    assert steadiness(np.full(26, 100.0)) == 0


ENDED = {
    "flat for four weeks": lambda week: 0.05 * np.minimum(week, 22),
    "flat for six weeks": lambda week: 0.05 * np.minimum(week, 20),
    "falling for three weeks": lambda week: (
        0.06 * (np.minimum(week, 23) - np.maximum(week - 23, 0))
    ),
}


@pytest.mark.parametrize("grew", ENDED.values(), ids=ENDED)
@pytest.mark.parametrize("seed", range(4))
def test_growth_that_ended_weeks_ago_is_mostly_believed_no_more(
    grew: Callable[[Floats], Floats], seed: int
) -> None:
    day = np.arange(182)
    scatter = np.random.default_rng(seed).normal(0, 0.05, len(day))
    values = 100 * np.exp(grew(day / WEEK) + scatter)
    totals = daily_scenarios(values, 184).totals[:, -1]
    last_week = float(values[-WEEK:].mean())
    assert totals.mean() < 1.5 * last_week
    assert np.quantile(totals, 0.1) < 1.2 * last_week


def test_what_grew_fast_may_end_or_go_on_and_the_interval_holds_both() -> None:
    values = growing_days(0.1, 26, 0)
    low, high = np.quantile(daily_scenarios(values, 184).totals[:, -1], (0.1, 0.9))
    assert high > 1.5 * low
    assert low < 2 * values[-WEEK:].mean()


def test_a_season_near_its_top_is_not_carried_on() -> None:
    week = np.arange(26.0)
    assert steadiness(100 * np.exp(0.6 * np.sin(2 * np.pi * (week - 13) / 52))) < 0.6


def test_little_history_and_weeks_of_nothing_are_not_steady() -> None:
    assert steadiness(100 * 1.02 ** np.arange(8.0)) == 0
    assert steadiness(np.full(26, np.nan)) == 0
    assert steadiness(np.zeros(26)) == 0
    lately_unknown = 100 * 1.02 ** np.arange(26.0)
    lately_unknown[-2] = np.nan
    assert steadiness(lately_unknown) == 0


def test_growth_that_never_changed_is_wholly_steady_and_its_trend_longer() -> None:
    assert steadiness(100 * 1.02 ** np.arange(26.0)) == pytest.approx(1)
    assert steadiness(100 * 1.02 ** np.arange(9.0)) == pytest.approx(1)
    half, whole = (damped_trend(0.02, QUARTER, steady)[-1] for steady in (0.0, 1.0))
    assert half < 0.1
    assert 0.16 < whole < 0.2
