"""A forecast of a history, with how well the same method did on it before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from apps.economics.forecast.answers import (
    AnsweredForecast,
    covering,
    fresh_gate,
    gate_against_baselines,
    judged_steps,
    middles_gate,
    reaches_of,
    totals_gate,
    with_baseline,
)
from apps.economics.forecast.backtest import ForecastScores, NothingToForecast, score_rolled
from apps.economics.forecast.candidates import candidates
from apps.economics.forecast.daily import last_shift
from apps.economics.forecast.day_totals import LEAST_HOURS_OF_DAY, day_totals, has_known_day
from apps.economics.forecast.fresh_levels import fresh_level
from apps.economics.forecast.fresh_steps import FreshStep, fresh_step
from apps.economics.forecast.intervals import LEVELS, reaching_demand
from apps.economics.forecast.mixing import MOST_HORIZON, bounded, observed_at
from apps.economics.forecast.names import BASELINES, CANDIDATES, JUDGED_HORIZONS, SEEN_LEVELS
from apps.economics.forecast.paths import rolled_sums, sample_paths
from apps.economics.forecast.rolling import (
    LEAST_OBSERVED,
    RolledForecasts,
    TooLittleHistory,
    rolled_forecasts,
)
from apps.economics.forecast.scores import DAY, Floats, seasonal_scale
from apps.economics.gates import Gate, serialize_gates

SEEN_HOURS = 8 * 7 * DAY
JUDGED_DAYS = 28
"""So many days of forecasts are judged, or as many as there are."""


def forecast_fields(values: Sequence[float | None], horizon: int = MOST_HORIZON) -> dict[str, Any]:
    """Method, points, quantiles, weights and backtests of the hours after `values`; None was not observed.

    The first value is known. `expected` and `sums` are of whole paths, `paths` as HourPaths has them. What a gate refuses is its best baseline's, and said
    in `gates`. Where history is too short to choose a method, the last value stands as a
    fallback, without intervals, and `refusal` says why.
    """
    history = nan_for_none(values)
    scale = seasonal_scale(history)
    spare_hours, days = len(history) % DAY, _days_to_the_end(history)
    shift = last_shift(days)
    step = fresh_step(days, np.ones(len(days)), shift)
    fields: dict[str, Any] = {
        "horizon": horizon,
        "scale": None if np.isnan(scale) else scale,
        "seen": _observed_quantiles(history),
        "shift": None
        if shift is None
        else serialize_shift(spare_hours + shift.day * DAY, shift.effect),
    }
    try:
        rolled = rolled_forecasts(history, *_origins(history), horizon)
    except TooLittleHistory as refused:
        last = float(history[~np.isnan(history)][-1])
        return fields | {
            "method": "last_value",
            "refusal": refused.message,
            "weights": {},
            "backtests": [],
            "points": [last] * horizon,
            "quantiles": [],
        }
    scores = _scores(history, rolled, horizon)
    is_fresh = step is not None or fresh_level(days) is not None
    answer = _with_width(_answered(history, rolled, scores, is_fresh=is_fresh), step)
    fields |= {
        "method": "baseline" if answer.baseline else "weighted_median",
        "refusal": "",
        "weights": _weight_shares(rolled),
        "backtests": [{"horizon": ahead, **serialize_scores(of)} for ahead, of in scores.items()],
        "points": answer.points.tolist(),
        "quantiles": _without_nan(answer.quantiles),
    }
    totals, gates = _totals(history, rolled, answer.points, step) if horizon >= DAY else ({}, ())
    return fields | totals | {"gates": serialize_gates((*answer.gates, *gates))}


def _answered(
    history: Floats,
    rolled: RolledForecasts,
    scores: Mapping[int, ForecastScores],
    *,
    is_fresh: bool,
) -> AnsweredForecast:
    """The newest forecast with its gates passed: the first day held against baselines a day ahead, the others a week."""
    origin, horizon = rolled.origins[-1:], rolled.points.shape[1]
    pool = candidates(history[rolled.begin :], origin - rolled.begin, np.arange(horizon))
    baselines = {name: pool[name][0] for name in BASELINES}
    answer = AnsweredForecast(rolled.points[-1], rolled.quantiles[-1], ())
    for steps, (ahead, of) in zip(judged_steps(scores, horizon), scores.items(), strict=True):
        gate = gate_against_baselines(of, f"{ahead} hours")
        answer = with_baseline(answer, gate, baselines, steps)
    if scores:
        ahead, of = max(scores.items())
        followed = rolled.origins + ahead <= len(history)
        actual = observed_at(history, rolled.origins[followed], np.arange(ahead))
        quantiles = np.moveaxis(rolled.quantiles[followed, :, :ahead], 1, 0)
        reaches = reaches_of(actual, rolled.points[followed, :ahead], quantiles)
        answer = covering(answer, of, reaches.ravel().tolist(), is_fresh=is_fresh)
    held_values = bounded(history, origin, np.stack([answer.points, *answer.quantiles])[None])[0]
    held_values[1:] = reaching_demand(history, origin, held_values[None, 1:])[0]
    return replace(answer, points=held_values[0], quantiles=held_values[1:])


def _totals(
    history: Floats, rolled: RolledForecasts, points: Floats, step: FreshStep | None
) -> tuple[dict[str, Any], tuple[Gate, ...]]:
    """Return what hours come to together, of whole paths: the mean of each hour, and quantiles of sums of days.

    Nothing where no day before is known well enough to have a total.
    """
    begin, origin = rolled.begin, int(rolled.origins[-1]) - rolled.begin
    if not has_known_day(history[begin:], origin):
        return {}, ()
    days = day_totals(history[begin:], origin, rolled.day_sums)
    before = rolled_sums(days)
    level = fresh_level(days.totals)
    gate, wider = totals_gate(days, before, is_fresh=step is not None)
    if level is not None:
        gate = fresh_gate(level, days.came.shape[1])
    paths = sample_paths(days, before, step, wider, level)
    remaining_hours = len(points) - paths.shape[1]
    expected = np.concatenate([paths.mean(axis=0), points[len(points) - remaining_hours :]])
    ends = np.arange(DAY, paths.shape[1] + 1, DAY) - 1
    quantiles = np.quantile(paths.cumsum(axis=1)[:, ends], LEVELS, axis=0)
    sums = quantiles.tolist() if len(paths) > 1 else []
    gates = (gate, middles_gate(days.came.shape[1], points, expected))
    beyond = np.broadcast_to(points[len(points) - remaining_hours :], (len(paths), remaining_hours))
    path_bytes = np.concatenate([paths, beyond], axis=1).astype("<f4").tobytes()
    return {"expected": expected.tolist(), "sums": sums, "paths": path_bytes}, gates


def nan_for_none(values: Sequence[float | None]) -> Floats:
    """As an array, in which what is not known is NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def serialize_shift(place: int, effect: float) -> dict[str, Any]:
    """A new level: the place of its first value in the history, and by what share it differs from the last."""
    return {"place": place, "effect": round(effect, 6)}


def _with_width(answer: AnsweredForecast, step: FreshStep | None) -> AnsweredForecast:
    """Hours that would have an interval without any width go as far as the level of a fresh step is known."""
    if step is None:
        return answer
    is_point = answer.quantiles[0] == answer.quantiles[-1]
    apart = answer.points * (1 + np.quantile(step.offsets, LEVELS))[:, None]
    return replace(answer, quantiles=np.where(is_point, apart, answer.quantiles))


def _days_to_the_end(history: Floats) -> Floats:
    """The mean hour of days of 24 hours that end with the history; NaN where too few are known."""
    days = history[len(history) % DAY :].reshape(-1, DAY)
    counts = (~np.isnan(days)).sum(axis=1)
    means = np.nansum(days, axis=1) / np.maximum(counts, 1)
    return np.where(counts >= LEAST_HOURS_OF_DAY, means, np.nan)


def _origins(history: Floats) -> tuple[int, int]:
    """The first origin and how many there are, a day apart, of which the last is the end of the history."""
    observed = np.flatnonzero(~np.isnan(history))
    if len(observed) < LEAST_OBSERVED:
        return len(history), 1
    earliest = int(observed[LEAST_OBSERVED - 1]) + 1
    days = min(JUDGED_DAYS, (len(history) - earliest) // DAY)
    return len(history) - days * DAY, days + 1


def _observed_quantiles(history: Floats) -> list[float]:
    """Of the last hours that came, as many as eight weeks have, the quantiles at SEEN_LEVELS, each one of them; the last the most of all."""
    hours = history[~np.isnan(history)]
    of_hours = np.quantile(hours[-SEEN_HOURS:], SEEN_LEVELS[:-1], method="higher")
    return [*of_hours.tolist(), float(hours.max())]


def _weight_shares(rolled: RolledForecasts) -> dict[str, float]:
    """The candidates' shares of the weight of the forecast, the mean over its hours; they sum to 1."""
    weights = rolled.weights[-1]
    shares = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    return {name: round(float(share), 6) for name, share in zip(CANDIDATES, shares, strict=True)}


def _scores(history: Floats, rolled: RolledForecasts, horizon: int) -> dict[int, ForecastScores]:
    """Of each judged horizon that lies in this one and in the history."""
    scores_by_horizon = {}
    for judged in sorted({min(judged_horizon, horizon) for judged_horizon in JUDGED_HORIZONS}):
        try:
            scores_by_horizon[judged] = score_rolled(history, rolled, judged)
        except NothingToForecast:
            continue
    return scores_by_horizon


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
