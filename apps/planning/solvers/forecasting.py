"""A forecast of a history, with how well the same method did on it before."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.economics.forecast.backtest import ForecastScores, NothingToForecast, score_rolled
from apps.economics.forecast.daily import last_shift
from apps.economics.forecast.mixing import MOST_HORIZON
from apps.economics.forecast.names import CANDIDATES, JUDGED_HORIZONS
from apps.economics.forecast.rolling import (
    LEAST_OBSERVED,
    RolledForecasts,
    TooLittleHistory,
    rolled_forecasts,
)
from apps.economics.forecast.scores import DAY, Floats, seasonal_scale

LEAST_HOURS_OF_DAY = 18
"""Known ones, for a day to say where a level is."""
JUDGED_DAYS = 28
"""So many days of forecasts are judged, or as many as there are."""


def forecast_fields(values: Sequence[float | None], horizon: int = MOST_HORIZON) -> dict[str, Any]:
    """Method, points, quantiles, weights and backtests of the hours after `values`; None was not observed.

    The first value is known. Where history is too short to choose a method, the last value stands as a
    fallback, without intervals, and `refusal` says why.
    """
    known = nan_for_none(values)
    scale = seasonal_scale(known)
    fields: dict[str, Any] = {
        "horizon": horizon,
        "scale": None if np.isnan(scale) else scale,
        "shift": _shift_by_hours(known),
    }
    try:
        rolled = rolled_forecasts(known, *_origins(known), horizon)
    except TooLittleHistory as refused:
        last = float(known[~np.isnan(known)][-1])
        return fields | {
            "method": "last_value",
            "refusal": refused.message,
            "weights": {},
            "backtests": [],
            "points": [last] * horizon,
            "quantiles": [],
        }
    return fields | {
        "method": "weighted_median",
        "refusal": "",
        "weights": _weight_shares(rolled),
        "backtests": _backtests(known, rolled, horizon),
        "points": rolled.points[-1].tolist(),
        "quantiles": _without_nan(rolled.quantiles[-1]),
    }


def nan_for_none(values: Sequence[float | None]) -> Floats:
    """As an array, in which what is not known is NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def serialize_shift(place: int, effect: float) -> dict[str, Any]:
    """A new level: the place of its first value in the history, and by what share it differs from the last."""
    return {"place": place, "effect": round(effect, 6)}


def _shift_by_hours(known: Floats) -> dict[str, Any] | None:
    """The last change of level, by days of 24 hours that end with the history."""
    rest = len(known) % DAY
    days = known[rest:].reshape(-1, DAY)
    counts = (~np.isnan(days)).sum(axis=1)
    means = np.nansum(days, axis=1) / np.maximum(counts, 1)
    shift = last_shift(np.where(counts >= LEAST_HOURS_OF_DAY, means, np.nan))
    return None if shift is None else serialize_shift(rest + shift.day * DAY, shift.effect)


def _origins(known: Floats) -> tuple[int, int]:
    """The first origin and how many there are, a day apart, of which the last is the end of the history."""
    observed = np.flatnonzero(~np.isnan(known))
    if len(observed) < LEAST_OBSERVED:
        return len(known), 1
    earliest = int(observed[LEAST_OBSERVED - 1]) + 1
    days = min(JUDGED_DAYS, (len(known) - earliest) // DAY)
    return len(known) - days * DAY, days + 1


def _weight_shares(rolled: RolledForecasts) -> dict[str, float]:
    """The candidates' shares of the weight of the forecast, the mean over its hours; they sum to 1."""
    weights = rolled.weights[-1]
    shares = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    return {name: round(float(share), 6) for name, share in zip(CANDIDATES, shares, strict=True)}


def _backtests(known: Floats, rolled: RolledForecasts, horizon: int) -> list[dict[str, Any]]:
    """The scores of each judged horizon that lies in this one and in the history."""
    found = []
    for judged in sorted({min(each, horizon) for each in JUDGED_HORIZONS}):
        try:
            scores = score_rolled(known, rolled, judged)
        except NothingToForecast:
            continue
        found.append({"horizon": judged, **serialize_scores(scores)})
    return found


def serialize_scores(scores: ForecastScores) -> dict[str, Any]:
    """As JSON has it; null where a score is not known."""
    return {
        "origins": scores.origins,
        "mase": {method: _or_none(score) for method, score in scores.mase.items()},
        "coverage_80": _or_none(scores.coverage_80),
        "wql": _or_none(scores.wql),
    }


def _without_nan(levels: Floats) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in level] for level in levels]


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
