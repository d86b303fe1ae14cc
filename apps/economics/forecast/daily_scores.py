"""How far a forecast by day is to be trusted: as it would have been made week by week, against what came."""

from collections.abc import Mapping

import numpy as np

from apps.economics.forecast.answers import reaches_of
from apps.economics.forecast.backtest import (
    ForecastScores,
    NothingToForecast,
    mean_errors,
    mean_mase,
)
from apps.economics.forecast.daily import LEAST_DAYS, WEEK
from apps.economics.forecast.daily_calibration import calibrated_scenarios, trial_scores
from apps.economics.forecast.daily_swings import first_day_of_nothing, without_lone_days
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.names import RUNRATE
from apps.economics.forecast.scores import (
    Floats,
    coverage,
    seasonal_scale,
    weighted_quantile_loss,
)

LEAST_ORIGINS, MOST_ORIGINS = 4, 13


def score_daily(values: Floats, horizon: int) -> ForecastScores:
    """Forecasts of `horizon` days, one a week, the newest that is followed in full last; at most 13.

    MASE is scaled by days a week apart, of the history before the first. Refuses NothingToForecast where fewer than four are
    followed.
    """
    return judged_daily(values, horizon)[0]


def scores_until(values: Floats, horizon: int) -> Mapping[int, Floats]:
    """Return the scores that the intervals of all forecasts of so many days go by, as far as they are judged."""
    return trial_scores(values, earlier=MOST_ORIGINS + horizon // WEEK)


def judged_daily(
    values: Floats, horizon: int, scores: Mapping[int, Floats] | None = None
) -> tuple[ForecastScores, list[float]]:
    """Return the scores of forecasts by the day, and how far each day lay from its point, over how far its interval's end did.

    `scores` are what `scores_until` has for this horizon or a longer one.
    """
    known_days = np.cumsum(~np.isnan(values))
    origins = [
        origin
        for origin in range(len(values) - horizon, 0, -WEEK)
        if known_days[origin - 1] >= LEAST_DAYS
    ][:MOST_ORIGINS]
    if len(origins) < LEAST_ORIGINS:
        raise NothingToForecast(
            "", f"{len(origins)} forecasts are followed by {horizon} days; four are the least"
        )
    actual = np.stack([values[origin : origin + horizon] for origin in origins])
    scores = scores_until(values, horizon) if scores is None else scores
    forecasts = [calibrated_scenarios(values[:origin], horizon, scores) for origin in origins]
    baselines = [daily_baselines(values[:origin], horizon) for origin in origins]
    methods = {RUNRATE: np.stack([forecast.points for forecast in forecasts])} | {
        name: np.stack([baseline[name] for baseline in baselines]) for name in baselines[0]
    }
    quantiles = np.stack([forecast.quantiles for forecast in forecasts], axis=1)
    scales = [seasonal_scale(values[: min(origins)], WEEK)] * len(origins)
    judged = ForecastScores(
        origins=len(origins),
        mase={name: mean_mase(actual, points, scales) for name, points in methods.items()},
        coverage_80=coverage(actual, quantiles[0], quantiles[-1]),
        wql=weighted_quantile_loss(actual, quantiles, LEVELS),
        mae=mean_errors(actual, methods),
    )
    return judged, reaches_of(actual, methods[RUNRATE], quantiles).ravel().tolist()


def daily_baselines(before: Floats, horizon: int) -> dict[str, Floats]:
    """The last day, the last week again, and the mean of four weeks, of what is known of them.

    A credit or an incident of a single day is in none, and once nothing has come for over two weeks nothing from before is.
    """
    before = without_lone_days(before)
    last = float(before[~np.isnan(before)][-1])
    week = np.where(np.isnan(before[-WEEK:]), last, before[-WEEK:])
    recent = before[max(len(before) - 4 * WEEK, first_day_of_nothing(before)) :]
    mean = last if np.isnan(recent).all() else float(np.nanmean(recent))
    return {
        "naive": np.full(horizon, last),
        "seasonal_naive_7": np.tile(week, horizon // WEEK + 1)[:horizon],
        "mean_28": np.full(horizon, mean),
    }
