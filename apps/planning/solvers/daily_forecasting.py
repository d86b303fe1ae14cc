"""A forecast by day of a history by day, with its months and with how well the same method did on it before."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.economics.forecast.backtest import NothingToForecast
from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.daily import WEEK, DailyScenarios, quantiles_of
from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.daily_scores import score_daily
from apps.economics.forecast.names import JUDGED_DAYS_AHEAD
from apps.economics.forecast.planned import DayEffect
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats, seasonal_scale
from apps.planning.solvers.forecasting import nan_for_none, serialize_scores, serialize_shift


def daily_forecast_fields(
    values: Sequence[float | None],
    effects: Sequence[DayEffect],
    month_ends: Sequence[int],
    *,
    is_mean: bool = False,
) -> dict[str, Any]:
    """Method, points, quantiles, months and backtests of the days after `values`; None was not known.

    At least one is known. `effects` has one for each day ahead: what events do to it. `month_ends` are the days ahead
    (from 0) with which a new month begins, and their number at the end: totals of months come of whole scenarios, means
    where `is_mean`. `paths` are the scenarios as ForecastPaths keeps them. Where history is too short, the mean of its last known week stands as a fallback, without
    intervals, and `refusal` says why.
    """
    known = nan_for_none(values)
    scale = seasonal_scale(known, WEEK)
    fields: dict[str, Any] = {
        "horizon": len(effects),
        "scale": None if np.isnan(scale) else scale,
        "weights": {},
    }
    ends = np.array(month_ends, dtype=np.int64)
    try:
        made = calibrated_scenarios(known, len(effects))
    except TooLittleHistory as refused:
        level = float(np.mean(known[~np.isnan(known)][-WEEK:]))
        flat = _with_effects(np.full((1, len(effects)), level), effects)
        return fields | {
            "method": "last_week",
            "refusal": refused.message,
            "backtests": [],
            "points": flat[0].tolist(),
            "quantiles": [],
            "paths": b"",
            "shift": None,
            "months": _months(
                DailyScenarios(flat, None), ends, is_mean=is_mean, has_interval=False
            ),
        }
    planned = DailyScenarios(_with_effects(made.totals, effects), made.shift)
    return fields | {
        "method": "level_scenarios",
        "refusal": "",
        "backtests": _daily_backtests(known),
        "points": planned.points.tolist(),
        "quantiles": planned.quantiles.tolist(),
        "paths": planned.totals.astype("<f4").tobytes(),
        "shift": made.shift and serialize_shift(made.shift.day, made.shift.effect),
        "months": _months(planned, ends, is_mean=is_mean, has_interval=True),
    }


def _with_effects(totals: Floats, effects: Sequence[DayEffect]) -> Floats:
    """As DayEffect.planned has it, of every scenario."""
    ordinary = totals * np.array([effect.factor for effect in effects])
    added = np.array([effect.added for effect in effects])
    planned: Floats = np.maximum(ordinary + added, np.minimum(ordinary, 0.0))
    return planned


def _months(
    made: DailyScenarios, ends: Ints, *, is_mean: bool, has_interval: bool
) -> list[dict[str, Any]]:
    """Each month's days, the median of its totals, and their quantiles."""
    sums = made.sums(ends)
    days = np.diff(np.concatenate([[0], ends]))
    totals = sums / days if is_mean else sums
    quantiles = quantiles_of(totals).T.tolist() if has_interval else [[]] * len(days)
    return [
        {"days": int(count), "value": float(value), "quantiles": levels}
        for count, value, levels in zip(days, np.median(totals, axis=0), quantiles, strict=True)
    ]


def _daily_backtests(known: Floats) -> list[dict[str, Any]]:
    """The scores of each judged number of days ahead that the history is long enough for."""
    scored = []
    for horizon in JUDGED_DAYS_AHEAD:
        try:
            scores = score_daily(known, horizon)
        except NothingToForecast:
            continue
        scored.append({"horizon": horizon, **serialize_scores(scores)})
    return scored
