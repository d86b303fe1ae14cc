"""Forecasts look at nothing ahead, nest their intervals, and do on every kind of series about as well as its best baseline."""

from datetime import UTC, datetime

import numpy as np
import pytest

from apps.economics.forecast.backtest import NothingToForecast, backtest
from apps.economics.forecast.candidates import candidates
from apps.economics.forecast.mixing import LeadGroups
from apps.economics.forecast.names import CANDIDATES
from apps.economics.forecast.rolling import RolledForecasts, TooLittleHistory, rolled_forecasts
from apps.economics.forecast.scores import DAY, seasonal_scale
from apps.economics.forecast.series import HourlySeries, SpanTooLong, hourly_means

HOURS = 30 * 24
FIRST = 20 * 24
NAN = float("nan")


def chance(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def seasonal(noise: float = 5.0, level: float = 100.0) -> np.ndarray:
    """Requests: a day's curve, quiet weekends, noise."""
    hour = np.arange(HOURS)
    weekend = (hour // 24 % 7 >= 5) * 30
    return level + 40 * np.sin(2 * np.pi * hour / 24) - weekend + chance().normal(0, noise, HOURS)


def stepped() -> np.ndarray:
    """GPUs held: a level for hours or days, then another."""
    draw = chance(3)
    jumps = draw.random(HOURS) < 0.04
    return np.cumsum(np.where(jumps, draw.integers(-16, 17, HOURS), 0)) + 128.0


def with_gaps() -> np.ndarray:
    values = seasonal()
    values[FIRST - 90 : FIRST - 60] = NAN
    values[::17] = NAN
    values[0] = 100.0
    return values


SERIES = {"seasonal": seasonal, "stepped": stepped, "with gaps": with_gaps}


def rolled(values: np.ndarray, count: int = 3, horizon: int = 30) -> RolledForecasts:
    return rolled_forecasts(values, FIRST, count, horizon)


@pytest.mark.parametrize("kind", SERIES)
def test_shuffling_the_future_changes_no_forecast(kind):
    values = SERIES[kind]()
    before = rolled(values)
    for row, origin in enumerate(before.origins):
        shuffled = values.copy()
        chance(row).shuffle(shuffled[origin:])
        after = rolled(shuffled)
        np.testing.assert_array_equal(after.points[: row + 1], before.points[: row + 1])
        np.testing.assert_array_equal(after.quantiles[: row + 1], before.quantiles[: row + 1])


@pytest.mark.parametrize("kind", SERIES)
def test_a_forecast_is_the_last_row_of_its_own_backtest(kind):
    values = SERIES[kind]()
    alone = rolled_forecasts(values, FIRST + 48, 1, 30)
    np.testing.assert_array_equal(alone.points[0], rolled(values).points[2])
    assert alone.origins.tolist() == [FIRST + 48]


@pytest.mark.parametrize("kind", SERIES)
def test_intervals_nest_around_the_forecast_and_none_is_below_nothing(kind):
    forecasts = rolled(SERIES[kind]())
    assert (np.diff(forecasts.quantiles, axis=1) >= 0).all()
    np.testing.assert_array_equal(forecasts.quantiles[:, 4], forecasts.points)
    assert (forecasts.quantiles >= 0).all()


def test_figures_below_nothing_may_be_forecast_so():
    assert (rolled(seasonal(level=-200)).points < 0).all()


@pytest.mark.parametrize(
    ("kind", "best", "most"),
    [("seasonal", "seasonal_naive_168", 1.0), ("stepped", "naive", 1.05)],
)
def test_each_kind_of_series_is_forecast_about_as_well_as_by_its_best_baseline(kind, best, most):
    scores = backtest(SERIES[kind](), FIRST, 24)
    baselines = {name: score for name, score in scores.mase.items() if name != "runrate"}
    assert min(baselines, key=baselines.__getitem__) == best
    assert scores.mase["runrate"] <= most * baselines[best]


def test_intervals_cover_what_they_say_where_errors_stay_alike():
    scores = backtest(seasonal(noise=20.0), 10 * 24, 24)
    assert scores.origins == 20
    assert 0.75 <= scores.coverage_80 <= 0.85
    assert 0 < scores.wql < 0.5


def test_after_a_lasting_change_of_level_the_forecast_is_at_the_new_one_within_days():
    values = seasonal()
    values[FIRST - 72 :] /= 2
    forecast = rolled_forecasts(values, FIRST, 1, 24).points[0]
    assert np.abs(forecast - values[FIRST : FIRST + 24]).mean() < 15


def test_what_never_changes_is_forecast_so_and_has_no_scaled_error():
    scores = backtest(np.full(HOURS, 64.0), FIRST, 24)
    assert np.isnan(scores.mase["runrate"])
    assert (scores.coverage_80, scores.wql) == (1.0, 0.0)


@pytest.mark.parametrize("first", [47, 0, -3])
def test_under_two_days_of_history_are_refused(first):
    with pytest.raises(TooLittleHistory, match="48 are the least"):
        backtest(seasonal(), first, 24)


def test_hours_long_ago_are_no_history():
    values = np.concatenate([seasonal(), np.full(91 * 24, NAN), [5.0] * 60])
    with pytest.raises(TooLittleHistory, match="10 hours are"):
        rolled_forecasts(values, len(values) - 50, 1, 24)


def test_with_two_days_of_history_there_is_a_forecast_and_no_interval_yet():
    forecasts = rolled_forecasts(seasonal(), 48, 1, 48)
    assert np.isfinite(forecasts.points).all()
    assert np.isnan(forecasts.quantiles[0, 0, 24:]).all()
    scores = backtest(seasonal()[:96], 48, 48)
    assert scores.mase["runrate"] > 0


def test_a_series_that_ends_before_the_horizon_is_refused():
    with pytest.raises(NothingToForecast, match="no 24 hours follow"):
        backtest(seasonal(), HOURS - 23, 24)


def test_leads_are_judged_by_hours_first_and_by_days_later():
    groups = LeadGroups(60)
    assert groups.bounds == ((0, 1), (1, 3), (3, 6), (6, 12), (12, 24), (24, 48), (48, 60))
    assert len(groups.group_of_lead) == 60
    assert groups.judged_leads.max() < 60


def plain_candidates(values: np.ndarray, origin: int, lead: int) -> dict[str, float]:
    """The baselines of one hour as one would write them down, on a series without gaps."""
    known = values[:origin]
    same_hour = [origin + lead - 24 * day for day in range(1, 40)]
    losses, levels = {}, {}
    for constant in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0):
        level, losses[constant] = known[0], 0.0
        for value in known:
            losses[constant] += (value - level) ** 2
            level += constant * (value - level)
        levels[constant] = level
    return {
        "naive": known[-1],
        "seasonal_naive_24": known[next(place for place in same_hour if place < origin)],
        "seasonal_naive_168": known[origin + lead - 168],
        "hour_of_day_mean_7": np.mean([known[p] for p in same_hour if p < origin][:7]),
        "ses": levels[min(losses, key=losses.__getitem__)],
        "median_24": np.median(known[-24:]),
        "median_168": np.median(known[-168:]),
    }


@pytest.mark.parametrize("lead", [0, 23, 30])
def test_candidates_are_what_their_names_say(lead):
    values = seasonal()
    found = candidates(values, np.array([FIRST]), np.array([lead]))
    assert set(found) == set(CANDIDATES)
    for name, value in plain_candidates(values, FIRST, lead).items():
        assert found[name][0, 0] == pytest.approx(value), name


def test_values_within_an_hour_are_meaned_and_hours_without_any_stay_open():
    day = datetime(2026, 3, 2, tzinfo=UTC)
    start = day.timestamp()
    series = hourly_means([start + 7_300, start + 60, start + 1_800], [9.0, 1.0, 2.0])
    assert series.starts_at == day
    np.testing.assert_array_equal(series.values, [1.5, NAN, 9.0])
    assert series.position_of(datetime(2026, 3, 2, 1, 30, tzinfo=UTC)) == 2
    assert series.position_of(datetime(2026, 3, 1, 23, tzinfo=UTC)) == -1
    assert HourlySeries(day, series.values).hour_at(2) == datetime(2026, 3, 2, 2, tzinfo=UTC)


def test_moments_over_ten_years_apart_are_no_series():
    with pytest.raises(SpanTooLong, match="11 years apart"):
        hourly_means([0.0, 11.1 * 366 * 86_400], [1.0, 1.0])


def test_all_origins_of_a_backtest_have_the_scale_of_before_the_first():
    draw = np.random.default_rng(8)
    calm = 100 + draw.normal(0, 1, 20 * DAY)
    wild = 100 + draw.normal(0, 50, 10 * DAY)
    both = backtest(np.concatenate([calm, wild]), 20 * DAY, DAY)
    first = seasonal_scale(calm)
    errors = [
        np.abs(
            np.concatenate([calm, wild])[at : at + DAY] - np.concatenate([calm, wild])[at - 1]
        ).mean()
        for at in range(20 * DAY, 30 * DAY, DAY)
    ]
    assert both.mase["naive"] == pytest.approx(np.mean(errors) / first)
