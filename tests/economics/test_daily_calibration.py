"""Intervals by day are as wide as what came before asks for, and look at nothing ahead."""

import numpy as np
import pytest

from apps.economics.forecast.daily import daily_scenarios
from apps.economics.forecast.daily_calibration import (
    NARROWEST,
    WIDEST,
    calibrated_scenarios,
    spread_factors,
    trial_scores,
)

NAN = float("nan")


def wandering(seed: int, days: int) -> np.ndarray:
    """A level that wanders, with quiet weekends."""
    draw = np.random.default_rng(seed)
    weekend = np.arange(days) % 7 >= 5
    return 100 * np.exp(np.cumsum(draw.normal(0, 0.03, days))) * np.where(weekend, 0.7, 1.0)


def growing(seed: int, days: int) -> np.ndarray:
    """A trend that nothing in the method believes."""
    noise = np.random.default_rng(seed).normal(0, 0.05, days)
    return 100 * np.exp(0.004 * np.arange(days) + noise)


def share_inside(values: np.ndarray, *, is_calibrated: bool) -> float:
    history, came = values[:-28], values[-28:]
    made = calibrated_scenarios(history, 28) if is_calibrated else daily_scenarios(history, 28)
    return float(np.mean((came >= made.quantiles[0]) & (came <= made.quantiles[-1])))


@pytest.mark.parametrize("count", [8, pytest.param(24, marks=pytest.mark.proof)])
@pytest.mark.parametrize("kind", [wandering, growing])
def test_more_of_what_came_lies_in_intervals_that_were_too_narrow_before(kind, count):
    series = [kind(seed, 40 * 7 + 28) for seed in range(count)]
    before = np.mean([share_inside(values, is_calibrated=False) for values in series])
    after = np.mean([share_inside(values, is_calibrated=True) for values in series])
    assert before < after <= 0.9


def test_medians_stay_and_intervals_keep_to_their_bounds():
    values = wandering(2, 200)
    plain, made = daily_scenarios(values, 120), calibrated_scenarios(values, 120)
    np.testing.assert_allclose(made.points, plain.points)
    assert (made.totals >= 0).all()
    assert (made.totals <= 3 * values.max()).all()
    assert not np.array_equal(made.quantiles, plain.quantiles)


def bursts(seed: int, days: int) -> np.ndarray:
    """A level that leaps between some and much from week to week: the history covers next to nothing of itself."""
    draw = np.random.default_rng(seed)
    level = np.repeat(draw.choice([20.0, 60.0, 200.0], days // 7 + 1), 7)[:days]
    return level * np.exp(draw.normal(0, 0.1, days))


@pytest.mark.parametrize("seed", range(4))
def test_wider_intervals_are_no_more_demand(seed: int) -> None:
    values = bursts(seed, 100 + 7 * seed)
    plain, made = daily_scenarios(values, 120), calibrated_scenarios(values, 120)
    assert made.totals.mean() <= 1.02 * plain.totals.mean()
    assert (made.totals >= 0).all()


def test_with_little_history_nothing_says_how_wide_they_should_be():
    values = wandering(1, 56 + 3 * 7)
    np.testing.assert_array_equal(spread_factors(trial_scores(values), len(values)), np.ones(6))
    np.testing.assert_array_equal(
        calibrated_scenarios(values, 30).totals, daily_scenarios(values, 30).totals
    )


def test_a_factor_is_of_what_was_followed_by_then_and_later_days_take_the_one_before():
    values = wandering(4, 230)
    scores, earlier = trial_scores(values), len(values) - 5 * 7
    np.testing.assert_array_equal(
        spread_factors(scores, earlier), spread_factors(trial_scores(values[:earlier]), earlier)
    )
    further = trial_scores(values, earlier=5)
    np.testing.assert_array_equal(spread_factors(further, earlier), spread_factors(scores, earlier))
    short = spread_factors(trial_scores(values[:100]), 100)
    assert short[2] == short[3], "no 84 days were followed yet"


def test_scores_are_shares_of_the_interval_and_far_ones_are_believed_in_part():
    scores = {7 * week: np.full(86, 9.0) for week in range(8, 40)}
    np.testing.assert_allclose(spread_factors(scores, 400), WIDEST ** (13 / 19))
    scores = {7 * week: np.full(86, 0.0) for week in range(8, 40)}
    np.testing.assert_allclose(spread_factors(scores, 400), NARROWEST ** (13 / 19))
    scores = {7 * week: np.full(86, NAN) for week in range(8, 40)}
    np.testing.assert_array_equal(spread_factors(scores, 400), np.ones(6))
