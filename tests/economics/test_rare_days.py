"""Days that often have no demand: the level is of the window, not of the last week, and an interval holds none and a busy day."""

from collections.abc import Callable

import numpy as np
import pytest

from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.daily_rare import comes_rarely, rare_level
from apps.economics.forecast.planned import ORDINARY, DayEffect
from apps.economics.forecast.scores import Floats
from apps.planning.solvers.daily_forecasting import daily_forecast_fields

DAYS = 112


def every_second_week(draw: np.random.Generator) -> Floats:
    return np.where(np.arange(DAYS) // 7 % 2 == 0, draw.integers(4, 12, DAYS), 0.0)


def one_day_in_ten(draw: np.random.Generator) -> Floats:
    return np.where(draw.random(DAYS) < 0.1, draw.integers(4, 12, DAYS), 0.0)


def a_week_a_month(draw: np.random.Generator) -> Floats:
    return np.where(np.arange(DAYS) % 28 < 7, draw.integers(4, 12, DAYS), 0.0)


RARE = (every_second_week, one_day_in_ten, a_week_a_month)
SEEDS = range(7)


@pytest.mark.parametrize("make", RARE)
@pytest.mark.parametrize("left", [0, 7, 14, 21])
def test_a_month_is_what_months_were_whatever_the_last_week_was(
    make: Callable[[np.random.Generator], Floats], left: int
) -> None:
    ours, last_week = [], []
    for seed in SEEDS:
        values = make(np.random.default_rng(seed))[: DAYS - left]
        mean = 28 * values.mean()
        months = calibrated_scenarios(values, 28).totals.sum(axis=1)
        ours.append(abs(months.mean() - mean) / mean)
        last_week.append(abs(4 * values[-7:].sum() - mean) / mean)
    assert np.median(ours) < 0.5
    assert np.mean(ours) < 0.6 * np.mean(last_week)


@pytest.mark.parametrize("make", RARE)
def test_an_interval_of_a_day_holds_none_and_a_busy_one(
    make: Callable[[np.random.Generator], Floats],
) -> None:
    for seed in SEEDS:
        values = make(np.random.default_rng(seed))
        assert comes_rarely(values)
        made = calibrated_scenarios(values, 60)
        assert (made.quantiles[0] == 0).all()
        assert (made.quantiles[-1] >= np.median(values[-91:][values[-91:] > 0])).all()
        assert (np.diff(made.quantiles, axis=0) >= 0).all()
        assert made.totals.max() <= 3 * values.max()


def test_what_dies_out_is_expected_to_be_less_and_what_starts_more() -> None:
    draw = np.random.default_rng(1)
    chance = np.clip(1 - np.arange(DAYS) / 90, 0, 1)
    dying = np.where(draw.random(DAYS) < chance, 8.0, 0.0)
    assert rare_level(dying) < 0.5 * dying.mean()
    starting = np.where(draw.random(DAYS) < chance[::-1], 8.0, 0.0)
    assert rare_level(starting) > 1.3 * starting.mean()
    made = calibrated_scenarios(starting, 28)
    assert (made.totals[made.totals > 0] <= 8 * 1.5).mean() > 0.9, "more often, not larger"


def test_what_its_weekday_says_is_not_rare_and_what_was_long_ago_is_over() -> None:
    assert not comes_rarely(np.where(np.arange(DAYS) % 7 < 5, 8.0, 0.0))
    assert not comes_rarely(np.full(DAYS, 8.0))
    assert not comes_rarely(np.zeros(DAYS))
    assert not comes_rarely(np.where(np.arange(DAYS) % 3 == 0, -1.0, 2.0)), "credits are no demand"
    once = np.zeros(DAYS)
    once[40] = 8.0
    assert comes_rarely(once)
    made = calibrated_scenarios(once, 28)
    # One week in eight is too few for a busy day; an interval holds what is expected, which is next to nothing.
    assert made.quantiles[-1] == pytest.approx(made.totals.mean(axis=0))
    assert made.totals.mean(axis=0).sum() < 1


def test_a_weekday_that_never_has_any_has_none_and_unknown_days_are_not_days_without() -> None:
    draw = np.random.default_rng(3)
    values = np.where((np.arange(DAYS) % 7 < 5) & (draw.random(DAYS) < 0.6), 8.0, 0.0)
    made = calibrated_scenarios(values, 28)
    weekend = np.arange(28) % 7 >= 5
    assert (made.totals[:, weekend] == 0).all()
    assert (made.quantiles[-1, ~weekend] >= 8).all()
    values[5:75] = np.nan
    assert rare_level(values) == pytest.approx(np.nanmean(values), rel=0.4)
    assert comes_rarely(np.concatenate([np.full(60, np.nan), values[-40:]]))


def test_the_forecast_of_rare_days_says_of_its_intervals_that_they_hold_both() -> None:
    values = one_day_in_ten(np.random.default_rng(2)).tolist()
    effects = [ORDINARY, DayEffect(factor=2.0), *[ORDINARY] * 26]
    made = daily_forecast_fields(values, effects, [28])
    high = made["quantiles"][-1]
    assert high[1] >= 2 * min(value for value in values if value)
    (coverage,) = [gate for gate in made["gates"] if gate["name"] == "coverage"]
    assert coverage["is_passed"] is True
    assert sum(made["expected"]) == pytest.approx(made["months"][0]["value"])
