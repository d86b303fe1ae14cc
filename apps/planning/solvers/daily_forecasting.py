"""A forecast by day of a history by day, with its months and with how well the same method did on it before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.answers import (
    AnsweredForecast,
    covering,
    held_against_baselines,
    judged_steps,
    with_baseline,
)
from apps.economics.forecast.backtest import ForecastScores, NothingToForecast
from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.daily import (
    WEEK,
    DailyScenarios,
    held_to_bounds,
    quantiles_of,
)
from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.daily_scores import LEAST_ORIGINS, daily_baselines, judged_daily
from apps.economics.forecast.names import JUDGED_DAYS_AHEAD
from apps.economics.forecast.planned import DayEffect
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats, seasonal_scale
from apps.economics.gates import serialize_gates
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
    planned, made_fields = _planned(known, made, effects)
    months = _months(planned, ends, is_mean=is_mean, has_interval=True)
    return fields | made_fields | {"months": months}


def _planned(
    known: Floats, made: DailyScenarios, effects: Sequence[DayEffect]
) -> tuple[DailyScenarios, dict[str, Any]]:
    """The scenarios with their gates passed and with events, and what is kept of them."""
    judged = _judged(known)
    answer = _answered(known, made, judged)
    planned = DailyScenarios(_with_effects(answer.quantiles, effects), made.shift)
    return planned, {
        "method": "baseline" if answer.baseline else "level_scenarios",
        "refusal": "",
        "backtests": [
            {"horizon": horizon, **serialize_scores(scores)}
            for horizon, (scores, _) in judged.items()
        ],
        "points": _with_effects(answer.points[None], effects)[0].tolist(),
        "quantiles": planned.quantiles.tolist(),
        "expected": planned.totals.mean(axis=0).tolist(),
        "sums": quantiles_of(planned.totals.cumsum(axis=1)).tolist(),
        "gates": serialize_gates(answer.gates),
        "paths": planned.totals.astype("<f4").tobytes(),
        "shift": made.shift and serialize_shift(made.shift.day, made.shift.effect),
    }


def _answered(
    known: Floats, made: DailyScenarios, judged: Mapping[int, tuple[ForecastScores, list[float]]]
) -> AnsweredForecast:
    """The scenarios with their gates passed, as `quantiles`: days held against baselines as far ahead as they lie."""
    horizon = made.totals.shape[1]
    baselines = daily_baselines(known, horizon)
    answer = AnsweredForecast(made.points, made.totals, ())
    is_baselines = np.zeros(horizon, dtype=bool)
    steps_of = zip(judged_steps(judged, horizon), judged.items(), strict=True)
    for steps, (ahead, (scores, _)) in steps_of:
        gate = held_against_baselines(scores, f"{ahead} days", LEAST_ORIGINS)
        answer = with_baseline(answer, gate, baselines, steps)
        is_baselines[steps] = gate.is_passed is False
    for scores, reaches in list(judged.values())[:1]:
        answer = covering(answer, scores, reaches)
    totals = _as_much_as(answer.points, held_to_bounds(known, answer.quantiles), is_baselines)
    points = np.where(is_baselines, answer.points, np.median(totals, axis=0))
    return replace(answer, points=points, quantiles=totals)


def _as_much_as(points: Floats, totals: Floats, days: NDArray[np.bool_]) -> Floats:
    """Scenarios of which these days come to the points on average: what a baseline answers adds up to its own total."""
    means = totals.mean(axis=0)
    is_scaled = days & (means > 0) & (points >= 0)
    scaled: Floats = totals * np.where(is_scaled, points / np.where(is_scaled, means, 1.0), 1.0)
    return scaled


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


def _judged(known: Floats) -> dict[int, tuple[ForecastScores, list[float]]]:
    """The scores of each judged number of days ahead that the history is long enough for."""
    judged = {}
    for horizon in JUDGED_DAYS_AHEAD:
        try:
            judged[horizon] = judged_daily(known, horizon)
        except NothingToForecast:
            continue
    return judged
