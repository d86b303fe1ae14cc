"""How far a forecast is to be trusted: as it would have been made day by day, against what came."""

from dataclasses import dataclass
from math import nan

import numpy as np

from apps.economics.forecast.candidates import BASELINES, candidates
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.mixing import observed_at
from apps.economics.forecast.rolling import rolled_forecasts
from apps.economics.forecast.scores import (
    DAY,
    Floats,
    coverage,
    mase,
    seasonal_scale,
    weighted_quantile_loss,
)
from apps.economics.refusal import Refusal

RUNRATE = "runrate"


class NothingToForecast(Refusal):
    """The series ends before one whole horizon after the first origin."""


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """`mase` by method (Runrate's own and the baselines), the mean over origins; NaN where nothing has a scale.

    `coverage_80` is the share of hours inside the 80 % interval, `wql` the weighted quantile loss of nine levels.
    """

    origins: int
    mase: dict[str, float]
    coverage_80: float
    wql: float


def backtest(values: Floats, first: int, horizon: int) -> ForecastScores:
    """Forecasts every 24 hours from the hour `first` as long as the horizon lies in the series, scored.

    Refuses NothingToForecast, TooLittleHistory.
    """
    count = (len(values) - horizon - first) // DAY + 1
    if count < 1:
        raise NothingToForecast("", f"no {horizon} hours follow in the series")
    rolled = rolled_forecasts(values, first, count, horizon)
    leads = np.arange(horizon)
    actual = observed_at(values, rolled.origins, leads)
    begin = int(np.flatnonzero(~np.isnan(values))[0])
    pool = candidates(values[begin:], rolled.origins - begin, leads)
    forecasts = {RUNRATE: rolled.points} | {name: pool[name] for name in BASELINES}
    scales = [seasonal_scale(values[:origin]) for origin in rolled.origins]
    is_bounded = ~np.isnan(rolled.quantiles).any(axis=1)
    inside = np.where(is_bounded, actual, np.nan)
    quantiles = np.moveaxis(rolled.quantiles, 1, 0)
    return ForecastScores(
        origins=count,
        mase={name: _mean_mase(actual, of_method, scales) for name, of_method in forecasts.items()},
        coverage_80=coverage(inside, quantiles[0], quantiles[-1]),
        wql=weighted_quantile_loss(inside, quantiles, LEVELS),
    )


def _mean_mase(actual: Floats, forecasts: Floats, scales: list[float]) -> float:
    scored = [mase(actual[row], forecasts[row], scale) for row, scale in enumerate(scales)]
    known = [score for score in scored if not np.isnan(score)]
    return float(np.mean(known)) if known else nan
