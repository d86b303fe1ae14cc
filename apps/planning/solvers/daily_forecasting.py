"""A forecast by day of a history by day, with its months and with how well the same method did on it before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from apps.economics.forecast.answers import (
    AnsweredForecast,
    covering,
    gate_against_baselines,
    judged_steps,
    rare_gate,
    with_baseline,
)
from apps.economics.forecast.backtest import ForecastScores, NothingToForecast
from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.daily import (
    WEEK,
    DailyScenarios,
    clip_with_means,
    quantiles_of,
)
from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.daily_scores import (
    LEAST_ORIGINS,
    daily_baselines,
    judged_daily,
    scores_until,
)
from apps.economics.forecast.hour_paths import BegunDays
from apps.economics.forecast.names import JUDGED_DAYS_AHEAD
from apps.economics.forecast.near_days import NearDays, joined, near_days
from apps.economics.forecast.planned import DayEffect
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats, seasonal_scale
from apps.economics.gates import serialize_gates
from apps.planning.solvers.forecasting import nan_for_none, serialize_scores, serialize_shift

MOST_OF_JOINED = 1.5
SWING_DAYS = 56
Judged = dict[int, tuple[ForecastScores, list[float]]]
"""By days ahead the scores, and how far days lay from their points."""


def daily_forecast_fields(
    values: Sequence[float | None],
    effects: Sequence[DayEffect],
    month_ends: Sequence[int],
    *,
    is_mean: bool = False,
    capacity: Sequence[float] = (),
    begun: BegunDays | None = None,
) -> dict[str, Any]:
    """Method, points, quantiles, months and backtests of the days after `values`; None was not known.

    At least one is known. `effects` has one for each day ahead: what events do to it. `month_ends` are the days ahead
    (from 0) with which a new month begins, and their number at the end: totals of months are the sums of what is expected of
    their days and can be held of it (`capacity` by day, empty where nothing bounds it), means where `is_mean`, with quantiles of whole scenarios. The days that are `begun` are as the hours say them, with later ones joined on; `room` is what then bounds each day. `paths` are the scenarios as ForecastPaths keeps them. Where history is too short, the mean of its last known week stands as a fallback, without intervals, and `refusal` says why.
    """
    history = nan_for_none(values)
    scale = seasonal_scale(history, WEEK)
    fields: dict[str, Any] = {
        "horizon": len(effects),
        "scale": None if np.isnan(scale) else scale,
        "weights": {},
    }
    ends = np.array(month_ends, dtype=np.int64)
    near = None if begun is None else near_days(begun.hours, begun.days, is_mean=is_mean)
    if near is not None:
        capacity = near.room_beside(capacity)
    fields["room"] = [*capacity]
    try:
        scores = scores_until(history, max(JUDGED_DAYS_AHEAD))
        scenarios = calibrated_scenarios(history, len(effects), scores)
    except TooLittleHistory as refused:
        level = float(np.mean(history[~np.isnan(history)][-WEEK:]))
        flat = _with_effects(np.full((1, len(effects)), level), effects)
        if near is not None:
            flat[0, near.places] = near.planned.mean(axis=0)
        return fields | {
            "method": "last_week",
            "refusal": refused.message,
            "backtests": [],
            "points": flat[0].tolist(),
            "quantiles": [],
            "paths": b"",
            "shift": None,
            "months": _months(flat, ends, capacity, is_mean=is_mean),
        }
    judged = _judged(history, scores)
    most = _most_joined(history, capacity)
    answer = _answered(history, scenarios, judged)
    planned, made_fields = _planned(scenarios, answer, judged, effects, near, most)
    months = _months(planned.totals, ends, capacity, is_mean=is_mean)
    return fields | made_fields | {"months": months}


def _planned(
    scenarios: DailyScenarios,
    answer: AnsweredForecast,
    judged: Judged,
    effects: Sequence[DayEffect],
    near: NearDays | None,
    most: float,
) -> tuple[DailyScenarios, dict[str, Any]]:
    """The scenarios with their gates passed, begun with the near days, and with events, and what is kept of them."""
    totals, points = answer.quantiles, answer.points
    if near is not None:
        totals, order = joined(totals, near, most, is_rare=scenarios.busy is not None)
        later = np.arange(len(points)) > near.places[-1]
        before = answer.quantiles.mean(axis=0)
        # What a baseline answers joins on as its scenarios do.
        moved = points * _over(totals.mean(axis=0), before)
        is_middle = np.isclose(points, np.median(answer.quantiles, axis=0)) | near.is_open
        points = np.where(later, np.where(is_middle, np.median(totals, axis=0), moved), points)
    totals, points = _with_effects(totals, effects), _with_effects(points[None], effects)[0]
    if near is not None:
        totals[:, near.places] = near.planned[order]
        points[near.places] = np.median(near.planned, axis=0)
    busy = None if scenarios.busy is None else _with_effects(scenarios.busy[None], effects)[0]
    planned = DailyScenarios(totals, scenarios.shift, busy)
    return planned, {
        "method": "baseline" if answer.baseline else "level_scenarios",
        "refusal": "",
        "backtests": [
            {"horizon": horizon, **serialize_scores(scores)}
            for horizon, (scores, _) in judged.items()
        ],
        "points": points.tolist(),
        "quantiles": planned.quantiles.tolist(),
        "expected": planned.totals.mean(axis=0).tolist(),
        "sums": quantiles_of(planned.totals.cumsum(axis=1)).tolist(),
        "gates": serialize_gates(answer.gates),
        "paths": planned.totals.astype("<f4").tobytes(),
        "shift": scenarios.shift and serialize_shift(scenarios.shift.day, scenarios.shift.effect),
    }


def _most_joined(history: Floats, capacity: Sequence[float]) -> float:
    """How far days that join on to the hours go: as far as there is room, or half beyond what was ever seen."""
    return max(MOST_OF_JOINED * float(np.nanmax(history)), *capacity, 0.0)


def _over(values: Floats, others: Floats) -> Floats:
    """Each over the other; 1 where that is 0 or less."""
    ratios: Floats = np.where(others > 0, values / np.where(others > 0, others, 1.0), 1.0)
    return ratios


def _answered(history: Floats, scenarios: DailyScenarios, judged: Judged) -> AnsweredForecast:
    """The scenarios with their gates passed, as `quantiles`: days held against baselines as far ahead as they lie."""
    horizon = scenarios.totals.shape[1]
    baselines = daily_baselines(history, horizon)
    answer = AnsweredForecast(scenarios.points, scenarios.totals, ())
    is_baselines = np.zeros(horizon, dtype=bool)
    steps_of = zip(judged_steps(judged, horizon), judged.items(), strict=True)
    for steps, (ahead, (scores, _)) in steps_of:
        gate = gate_against_baselines(scores, f"{ahead} days", LEAST_ORIGINS)
        if scenarios.swings:
            # What comes and goes is no level that stays: for far days a baseline of it is none.
            steps = slice(steps.start, min(ahead, horizon, SWING_DAYS))
        answer = with_baseline(answer, gate, baselines, steps)
        is_baselines[steps] = gate.is_passed is False
    for scores, reaches in list(judged.values())[:1]:
        if scenarios.busy is None:
            answer = covering(answer, scores, reaches)
        else:
            answer = replace(answer, gates=(*answer.gates, rare_gate(scores)))
    # Wider intervals are no more demand, and what a baseline answers adds up to its own total.
    expected = np.where(is_baselines, answer.points, scenarios.totals.mean(axis=0))
    totals = clip_with_means(history, answer.quantiles, expected)
    points = np.where(is_baselines, answer.points, np.median(totals, axis=0))
    return replace(answer, points=points, quantiles=totals)


def _with_effects(totals: Floats, effects: Sequence[DayEffect]) -> Floats:
    """As DayEffect.planned has it, of every scenario."""
    ordinary = totals * np.array([effect.factor for effect in effects])
    added = np.array([effect.added for effect in effects])
    planned: Floats = np.maximum(ordinary + added, np.minimum(ordinary, 0.0))
    return planned


def _months(
    totals: Floats, ends: Ints, capacity: Sequence[float], *, is_mean: bool
) -> list[dict[str, Any]]:
    """Each month's days, what they come to together and can be held, quantiles of that, and what is expected to wait beyond it.

    Of one scenario alone there are no quantiles.
    """
    expected = totals.mean(axis=0)
    most = np.array(capacity) if len(capacity) else np.full(totals.shape[1], np.inf)
    months = []
    for begin, end in pairwise([0, *ends.tolist()]):
        count = end - begin if is_mean else 1
        sums = np.minimum(totals, most)[:, begin:end].sum(axis=1) / count
        held_total = float(np.minimum(expected, most)[begin:end].sum())
        months.append(
            {
                "days": end - begin,
                "value": held_total / count,
                "quantiles": quantiles_of(sums).tolist() if len(totals) > 1 else [],
                "waiting": float(expected[begin:end].sum()) - held_total,
            }
        )
    return months


def _judged(history: Floats, scores: Mapping[int, Floats]) -> Judged:
    """The scores of each judged number of days ahead that the history is long enough for."""
    judged: Judged = {}
    for horizon in JUDGED_DAYS_AHEAD:
        try:
            judged[horizon] = judged_daily(history, horizon, scores)
        except NothingToForecast:
            continue
    return judged
