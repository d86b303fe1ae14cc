"""Forecasts by day: the shape of the week stays, a trend is damped, a step is no trend, nothing is made of too little."""

from math import exp

import numpy as np
import pytest

from apps.economics.forecast.backtest import NothingToForecast
from apps.economics.forecast.daily import LEAST_DAYS, daily_scenarios, last_shift
from apps.economics.forecast.daily_scores import score_daily
from apps.economics.forecast.planned import DayEffect, joint_effect
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats

WEEK = np.array([1.1, 1.1, 1.1, 1.1, 1.0, 0.8, 0.8])


def noisy(days: int, seed: int = 0, spread: float = 0.04) -> Floats:
    draw = np.random.default_rng(seed)
    return 100 * WEEK[np.arange(days) % 7] * np.exp(draw.normal(0, spread, days))


def test_a_steady_week_goes_on_as_it_is_without_doubt() -> None:
    made = daily_scenarios(np.tile(100 * WEEK, 8), 30)
    expected = np.tile(100 * WEEK, 5)[:30]
    assert made.points == pytest.approx(expected)
    assert made.quantiles[0] == pytest.approx(expected)
    assert made.shift is None


def test_the_same_days_have_the_same_scenarios_and_days_before_a_gap_count() -> None:
    values = noisy(80)
    values[50:60] = np.nan
    once, again = daily_scenarios(values, 100), daily_scenarios(values.copy(), 100)
    assert (once.totals == again.totals).all()
    assert once.totals.shape == (200, 100)
    assert (np.diff(once.quantiles, axis=0) >= 0).all()
    assert np.median(once.points[:28]) == pytest.approx(105, rel=0.1)


def test_a_trend_that_never_changed_goes_on_and_less_each_week() -> None:
    growth = 0.03
    values = noisy(91, spread=0.001) * np.exp(growth * np.arange(91) / 7)
    made = daily_scenarios(values, 548)
    level = made.points / WEEK[np.arange(548) % 7] / (100 * exp(growth * 13))
    first_weeks = np.diff(level[3::7])
    assert (first_weeks[:10] > 0).all()
    assert first_weeks[20] < 0.7 * first_weeks[0]
    assert level[-1] == pytest.approx(exp(growth * 19), rel=0.1)


def test_a_step_is_a_new_level_and_no_trend_but_widens_what_may_come() -> None:
    plain, values = noisy(84), noisy(84)
    values[56:] *= 1.6
    made, without = daily_scenarios(values, 180), daily_scenarios(plain, 180)
    assert made.shift is not None
    assert made.shift.day == 56
    assert made.shift.effect == pytest.approx(0.6, abs=0.05)
    assert made.points.mean() == pytest.approx(1.6 * without.points.mean(), rel=0.08)
    width, before = (each.quantiles[-1] / each.quantiles[0] for each in (made, without))
    assert width[-30:].mean() > 1.3 * before[-30:].mean()


def test_what_ended_stays_at_nothing_and_is_no_level_that_shifted() -> None:
    values = np.concatenate([noisy(60), np.zeros(10)])
    assert last_shift(values) is None
    assert (daily_scenarios(values, 60).points == 0).all()


def test_sums_of_scenarios_are_their_days_together() -> None:
    made = daily_scenarios(noisy(60), 90)
    sums = made.sums(np.array([10, 41, 90]))
    assert sums.sum(axis=1) == pytest.approx(made.totals.sum(axis=1))
    assert sums[:, 1] == pytest.approx(made.totals[:, 10:41].sum(axis=1))


def test_fewer_than_four_weeks_of_known_days_are_refused() -> None:
    values = noisy(LEAST_DAYS + 5)
    values[3:9] = np.nan
    with pytest.raises(TooLittleHistory, match="27 days are known in full; 28 are the least"):
        daily_scenarios(values, 30)


def test_intervals_of_unseen_weeks_hold_about_what_they_say() -> None:
    inside = []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        level = np.repeat(np.cumsum(draw.normal(0, 0.05, 16)), 7)
        values = noisy(112, seed) * np.exp(level)
        quantiles = daily_scenarios(values[:84], 28).quantiles
        inside.append(((values[84:] >= quantiles[0]) & (values[84:] <= quantiles[-1])).mean())
    assert 0.6 <= np.mean(inside) <= 0.95


def test_a_method_is_judged_by_weeks_that_followed_and_not_by_too_few() -> None:
    values = noisy(91)
    scores = score_daily(values, 28)
    assert scores.origins == 6
    assert scores.mase["runrate"] < scores.mase["seasonal_naive_7"] < scores.mase["naive"]
    assert 0.5 < scores.coverage_80 <= 1
    with pytest.raises(NothingToForecast, match="0 forecasts are followed by 84 days"):
        score_daily(values, 84)


def test_what_events_do_is_taken_from_history_and_put_on_what_comes() -> None:
    launch = joint_effect([DayEffect(factor=2.0), DayEffect(added=24.0)])
    assert launch.planned(100) == 224
    assert launch.ordinary(224) == 100
    assert launch.planned(4, 1 / 24) == 9
    assert launch.ordinary(9, 1 / 24) == 4
    assert launch.ordinary(10) == 0, "what ran was less than what was said to come on top"
    assert DayEffect(added=-30.0).planned(10) == DayEffect(factor=0.5, added=-7).planned(12) == 0
    assert DayEffect(added=-3.0).planned(-2) == -2, "a day of refunds is not made one of none"
    assert DayEffect(is_unknown=True).ordinary(5) is None
    assert DayEffect(factor=0).ordinary(0) is None
    assert DayEffect(added=3.0).ordinary(None) is None


SMALL_WEEKEND = np.array([1.38, 1.38, 1.38, 1.38, 1.38, 0.05, 0.05])


@pytest.mark.parametrize("seed", range(4))
def test_a_busy_weekend_of_a_series_that_rests_on_weekends_is_no_level(seed: int) -> None:
    draw = np.random.default_rng(seed)
    # The last day is a Sunday: Friday to Sunday are much busier than they ever were.
    ordinary = 100 * SMALL_WEEKEND[np.arange(84) % 7]
    values = ordinary * np.exp(draw.normal(0, 0.05, 84))
    values[-2:] = 150.0
    values[-3] *= 1.6
    made = daily_scenarios(values, 548)
    assert made.points[:28].mean() < 2.2 * ordinary.mean()
    assert made.points[100:].mean() < 2.0 * ordinary.mean()


def test_a_step_of_three_days_is_half_forgotten_and_one_of_three_weeks_stands() -> None:
    def mean_later(days: int) -> float:
        values = noisy(91, seed=3)
        values[-days:] *= 2.0
        return float(daily_scenarios(values, 365).points[90:].mean())

    plain = float(daily_scenarios(noisy(91, seed=3), 365).points[90:].mean())
    assert mean_later(3) < 1.6 * plain
    assert mean_later(21) == pytest.approx(2 * plain, rel=0.15)


def test_where_nothing_is_known_before_the_last_week_its_level_is_that_of_its_days() -> None:
    values = np.concatenate([noisy(28), np.full(35, np.nan), 3 * noisy(7)])
    assert daily_scenarios(values, 28).points.mean() == pytest.approx(300, rel=0.1)


def test_where_nothing_ever_was_nothing_comes() -> None:
    made = daily_scenarios(np.zeros(60), 30)
    assert (made.totals == 0).all()
    assert (made.quantiles == 0).all()


def test_weeks_apart_say_how_much_and_nothing_of_how_it_grows() -> None:
    values = noisy(84)
    values[np.arange(84) // 7 % 2 == 0] = np.nan
    made = daily_scenarios(values, 28)
    assert made.points.mean() == pytest.approx(100, rel=0.1)


def test_a_weekday_that_nobody_knows_is_an_ordinary_day() -> None:
    values = noisy(84)
    values[6::7] = np.nan
    made = daily_scenarios(values, 14)
    assert made.points[6] == pytest.approx(made.points[:6].mean(), rel=0.15)


def test_noise_of_single_weeks_is_no_trend_and_a_month_is_as_months_were() -> None:
    missed, of_last_week = [], []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        values = noisy(112, seed) * np.repeat(np.exp(draw.normal(0, 0.15, 16)), 7)
        came = values[84:].sum()
        month = daily_scenarios(values[:84], 28).sums(np.array([28])).mean()
        missed.append(abs(month - came))
        of_last_week.append(abs(4 * values[77:84].sum() - came))
    assert np.mean(missed) < 0.85 * np.mean(of_last_week)


def test_one_week_that_stood_out_is_in_no_level() -> None:
    values = noisy(84, seed=1)
    values[63:65] *= 10
    assert np.median(daily_scenarios(values, 28).points) == pytest.approx(110, rel=0.2)
