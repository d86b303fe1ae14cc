"""How far a forecast is to be trusted: as it would have been made day by day, against what came."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

import numpy as np

from apps.economics.forecast.candidates import candidates
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.mixing import observed_at
from apps.economics.forecast.names import BASELINES, RUNRATE
from apps.economics.forecast.rolling import RolledForecasts, rolled_forecasts
from apps.economics.forecast.scores import (
    DAY,
    Floats,
    coverage,
    mase,
    seasonal_scale,
    weighted_quantile_loss,
)
from apps.economics.refusal import Refusal


class NothingToForecast(Refusal):
    """The series ends before one whole horizon after the first origin."""


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """`mase` by method (Runrate's own and the baselines), the mean over origins; NaN where nothing has a scale.

    The scale is one for all of them, of the history before the first.
    `coverage_80` is the share of hours inside the 80 % interval, `wql` the weighted quantile loss of nine levels. `mae` are mean
    absolute errors, in the unit of the values: what tells methods apart where history never moved, and nothing has a scale.
    """

    origins: int
    mase: dict[str, float]
    coverage_80: float
    wql: float
    mae: dict[str, float] = field(default_factory=dict)


def backtest(values: Floats, first: int, horizon: int) -> ForecastScores:
    """Forecasts every 24 hours from the hour `first` as long as the horizon lies in the series, scored.

    Refuses NothingToForecast, TooLittleHistory.
    """
    count = (len(values) - horizon - first) // DAY + 1
    if count < 1:
        raise NothingToForecast("", f"no {horizon} hours follow in the series")
    return score_rolled(values, rolled_forecasts(values, first, count, horizon), horizon)


def score_rolled(values: Floats, rolled: RolledForecasts, horizon: int) -> ForecastScores:
    """Scores of the first `horizon` hours of those forecasts after which that many follow in the series.

    Refuses NothingToForecast where there is none.
    """
    is_followed = rolled.origins + horizon <= len(values)
    origins, leads = rolled.origins[is_followed], np.arange(horizon)
    if not len(origins):
        raise NothingToForecast("", f"no {horizon} hours follow in the series")
    actual = observed_at(values, origins, leads)
    begin = int(np.flatnonzero(~np.isnan(values))[0])
    pool = candidates(values[begin:], origins - begin, leads)
    forecasts = {RUNRATE: rolled.points[is_followed, :horizon]}
    forecasts |= {name: pool[name] for name in BASELINES}
    # One scale for all origins, of what was known before the first: an error is never small because a later day was wild.
    scales = [seasonal_scale(values[: origins[0]])] * len(origins)
    quantiles = np.moveaxis(rolled.quantiles[is_followed, :, :horizon], 1, 0)
    inside = np.where(np.isnan(quantiles).any(axis=0), np.nan, actual)
    return ForecastScores(
        origins=len(origins),
        mase={name: mean_mase(actual, of_method, scales) for name, of_method in forecasts.items()},
        coverage_80=coverage(inside, quantiles[0], quantiles[-1]),
        wql=weighted_quantile_loss(inside, quantiles, LEVELS),
        mae=mean_errors(actual, forecasts),
    )


def mean_errors(actual: Floats, forecasts: Mapping[str, Floats]) -> dict[str, float]:
    """By method the mean absolute error of what came; none where nothing did."""
    if np.isnan(actual).all():
        return {}
    return {
        name: float(np.nanmean(np.abs(actual - forecast))) for name, forecast in forecasts.items()
    }


def mean_mase(actual: Floats, forecasts: Floats, scales: list[float]) -> float:
    """The mean over origins, one in each row, of those that have a scale; NaN where none has."""
    scored = [mase(actual[row], forecasts[row], scale) for row, scale in enumerate(scales)]
    scores = [score for score in scored if not np.isnan(score)]
    return float(np.mean(scores)) if scores else nan
