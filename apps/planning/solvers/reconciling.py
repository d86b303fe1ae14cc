"""Forecasts of the organisation and of its parts that add up, with how well the same did before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.hierarchy import (
    LEAST_HOURS,
    RolledSeries,
    common_days,
    hierarchy_scores,
    parts_exceed_total,
    remainder_of,
    rolled_series,
)
from apps.economics.forecast.parts import ForecastHierarchy, PartForecast
from apps.economics.forecast.reconciliation import interval_variances, reconciled_forecasts
from apps.economics.forecast.rolling import TooLittleHistory
from apps.economics.forecast.scores import Floats
from apps.planning.solvers.forecasting import nan_for_none

TOO_MUCH = "the parts’ histories come to more than the whole’s: they are not all parts of it"
TOO_LITTLE_REST = "too little is known of what is in none of the parts"


@dataclass(frozen=True, slots=True)
class _Steps:
    """Points of a part, or of what is in none, and their error variances, by step."""

    points: Floats
    variances: Floats


_RestMaker = Callable[[Floats], _Steps]


def reconciled_hours(hierarchy: ForecastHierarchy) -> dict[str, Any]:
    """By the hour: weights are mean square errors of forecasts made on each of the last 28 days, by day ahead.

    `whole` are its points; `ways` by name have `refusal`, `parts` (points) and `rest` (`points`, `reconciled`); `backtests`
    say for each judged horizon what it does to errors and coverage.
    """
    total_history = nan_for_none(hierarchy.whole.history)
    histories = {
        name: [nan_for_none(part.history) for part in parts]
        for name, parts in hierarchy.ways.items()
    }
    rests, refusals = _rests(total_history, histories, LEAST_HOURS)
    valid_histories = {name: parts for name, parts in histories.items() if name not in refusals}
    with_rest = {
        name: [*parts, *([rests[name]] if name in rests else [])]
        for name, parts in valid_histories.items()
    }
    days = common_days(
        [total_history, *(values for parts in with_rest.values() for values in parts)]
    )
    rolled = rolled_series(total_history, days)
    of_ways = {
        name: [rolled_series(values, days) for values in parts] for name, parts in with_rest.items()
    }
    steps = {
        name: [
            _Steps(
                _points_of(part, rolled_part, hierarchy.offset),
                _variances_of(rolled_part, hierarchy),
            )
            for part, rolled_part in zip(
                [*hierarchy.ways[name], *[None] * (name in rests)], series, strict=True
            )
        ]
        for name, series in of_ways.items()
    }
    top = _Steps(np.array(hierarchy.whole.points), _variances_of(rolled, hierarchy))
    return _reconciled(top, steps, refusals, rests) | {
        "backtests": [_plain(asdict(scores)) for scores in hierarchy_scores(rolled, of_ways)]
    }


def reconciled_days(hierarchy: ForecastHierarchy) -> dict[str, Any]:
    """By day, as `reconciled_hours`: weights are what the 80 % intervals say of the variance, as nobody waits for 18 months.

    No backtest: it is held against what comes.
    """
    total_history = nan_for_none(hierarchy.whole.history)
    histories = {
        name: [nan_for_none(part.history) for part in parts]
        for name, parts in hierarchy.ways.items()
    }
    rests, refusals = _rests(total_history, histories, 0)
    count, steps = len(hierarchy.whole.points), {}
    for name, parts in hierarchy.ways.items():
        if name in refusals:
            continue
        of_parts = [_with_interval(part) for part in parts]
        if name in rests:
            try:
                scenarios = calibrated_scenarios(rests[name], hierarchy.offset + count)
            except TooLittleHistory:
                refusals[name] = TOO_LITTLE_REST
                continue
            ends = scenarios.quantiles[[0, -1], hierarchy.offset :]
            of_parts.append(
                _Steps(scenarios.points[hierarchy.offset :], interval_variances(ends[0], ends[1]))
            )
        steps[name] = of_parts
    top = _with_interval(hierarchy.whole)
    return _reconciled(top, steps, refusals, rests) | {"backtests": []}


def _rests(
    total_history: Floats, histories: Mapping[str, Sequence[Floats]], least: int
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return what of the whole is in no part, of each way where there is something, and why a way does not add up."""
    rests: dict[str, Floats] = {}
    refusals: dict[str, str] = {}
    for name, parts in histories.items():
        if parts_exceed_total(total_history, parts):
            refusals[name] = TOO_MUCH
            continue
        remainder = remainder_of(total_history, parts)
        if remainder is not None and np.isfinite(remainder).sum() < least:
            refusals[name] = TOO_LITTLE_REST
        elif remainder is not None:
            rests[name] = remainder
    return rests, refusals


def _points_of(part: PartForecast | None, rolled: RolledSeries, offset: int) -> Floats:
    """As it is kept; of what is in no part the newest that was made now."""
    return rolled.rolled.points[-1, offset:] if part is None else np.array(part.points)


def _variances_of(rolled: RolledSeries, hierarchy: ForecastHierarchy) -> Floats:
    """Of the newest origin, for the hours that are forecast."""
    end = hierarchy.offset + len(hierarchy.whole.points)
    return rolled.hourly_variances(-1)[hierarchy.offset : end]


def _with_interval(part: PartForecast) -> _Steps:
    low, high = nan_for_none(part.low), nan_for_none(part.high)
    return _Steps(np.array(part.points), interval_variances(low, high))


def _reconciled(
    top: _Steps,
    steps: Mapping[str, Sequence[_Steps]],
    refusals: Mapping[str, str],
    rests: Mapping[str, Floats],
) -> dict[str, Any]:
    count = len(top.points)
    reconciliation = reconciled_forecasts(
        top.points,
        top.variances,
        [np.stack([part.points[:count] for part in parts]) for parts in steps.values()],
        [np.stack([part.variances for part in parts]) for parts in steps.values()],
    )
    ways: dict[str, Any] = {
        name: {"refusal": refusal, "parts": [], "rest": None} for name, refusal in refusals.items()
    }
    for (name, parts), points in zip(steps.items(), reconciliation.parts, strict=True):
        has_rest = name in rests
        ways[name] = {
            "refusal": "",
            "parts": points[: len(parts) - has_rest].tolist(),
            "rest": {
                "points": parts[-1].points[:count].tolist(),
                "reconciled": points[-1].tolist(),
            }
            if has_rest
            else None,
        }
    return {"whole": reconciliation.whole.tolist(), "ways": ways}


def _plain(scores: Any) -> Any:
    """As JSON has it; null where a score is not known."""
    if isinstance(scores, dict):
        return {name: _plain(value) for name, value in scores.items()}
    if isinstance(scores, float):
        return None if isnan(scores) else round(scores, 6)
    return scores


RECONCILERS = {"hour": reconciled_hours, "day": reconciled_days}
"""By what a forecast has values for."""
