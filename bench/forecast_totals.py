"""Totals of weeks and months of public and made series, against last week's and the mean of four, and what may never be said."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.daily import WEEK
from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.day_totals import day_totals
from apps.economics.forecast.paths import rolled_sums
from apps.economics.forecast.rolling import TooLittleHistory, rolled_forecasts
from apps.economics.forecast.scores import DAY, Floats
from bench.forecast_series import BenchSet

MONTH, FOUR_WEEKS = 28, 28
TWO_WEEKS = 14 * DAY
MADE_DAYS, MADE_FIRST = 70, 35 * DAY
RARE_DAYS, RARE_SERIES = 140, 6


@dataclass(frozen=True, slots=True)
class TotalsTried:
    """Absolute errors of ours, of the week before (again) and of the mean of four weeks; whether each lay in its interval."""

    ours: list[float]
    last_week: list[float]
    four_weeks: list[float]
    inside: list[bool]


def intermittent_sets() -> dict[str, BenchSet]:
    """Made series whose demand comes rarely: in office hours, at any hour, as jobs of some hours, as days of work."""
    draw = np.random.default_rng(5)
    hour = np.arange(MADE_DAYS * DAY)
    office = (hour // DAY % 7 < 5) & (hour % DAY >= 9) & (hour % DAY < 18)
    makers: dict[str, Callable[[], NDArray[Any]]] = {
        "office": lambda: np.where(office & (draw.random(len(hour)) < 0.45), 8.0, 0.0),
        "rare": lambda: np.where(
            draw.random(len(hour)) < 0.08, draw.integers(1, 9, len(hour)), 0.0
        ),
        "jobs": lambda: _jobs(draw, len(hour)),
        "days": lambda: np.repeat(np.where(draw.random(MADE_DAYS) < 0.3, 16.0, 0.0), DAY),
    }
    return {
        f"intermittent_{name}": BenchSet(
            tuple(np.asarray(make(), dtype=np.float64) for _ in range(4)), MADE_FIRST
        )
        for name, make in makers.items()
    }


def rare_day_sets() -> dict[str, list[Floats]]:
    """Made totals of days of which a good part has no demand: in every second week, one in ten, a week in four, fewer and fewer, more and more."""
    draw = np.random.default_rng(8)
    day = np.arange(RARE_DAYS)
    chances: dict[str, Callable[[], NDArray[Any]]] = {
        "second_week": lambda: day // 7 % 2 == 0,
        "tenth": lambda: np.full(RARE_DAYS, 0.1),
        "week_a_month": lambda: (day + draw.integers(0, 28)) % 28 < 7,
        "dying_out": lambda: np.clip(1 - day / 90, 0, 1),
        "starting": lambda: np.clip((day - 50) / 40, 0, 1),
    }
    return {
        f"days_{name}": [
            np.where(
                draw.random(RARE_DAYS) < chance(), draw.integers(4, 12, RARE_DAYS), 0.0
            ).astype(np.float64)
            for _ in range(RARE_SERIES)
        ]
        for name, chance in chances.items()
    }


def _jobs(draw: np.random.Generator, hours: int) -> Floats:
    values = np.zeros(hours)
    for begin in np.flatnonzero(draw.random(hours) < 1 / 60):
        values[begin : begin + int(draw.exponential(10)) + 1] += 8
    return values


def scored_totals(sets: Mapping[str, BenchSet], pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Ratios of each set by week and by month, their geometric means, coverage, and hours that may not be [0, 0]."""
    asked = {
        name: [pool.submit(tried_totals, series, of_set.first) for series in of_set.series]
        for name, of_set in sets.items()
    }
    found: dict[str, Any] = {}
    of_days = {
        name: [pool.submit(_months, series) for series in made]
        for name, made in rare_day_sets().items()
    }
    sure = 0
    for name, futures in asked.items():
        answers = [future.result() for future in futures]
        sure += sum(count for _, count in answers)
        for span in ("week", "month"):
            tried = [by_span[span] for by_span, _ in answers]
            if any(each.ours for each in tried):
                found[f"{name}_{span}"] = _figures(tried)
    for name, futures_of_months in of_days.items():
        found[f"{name}_month"] = _figures([future.result() for future in futures_of_months])
    return {"totals": found, **_together(found), "hours_surely_nothing": sure}


def _figures(tried: Sequence[TotalsTried]) -> dict[str, Any]:
    ours, last, mean = (
        fmean(error for each in tried for error in getattr(each, name))
        for name in ("ours", "last_week", "four_weeks")
    )
    inside = [hit for each in tried for hit in each.inside]
    best = min(last, mean)
    return {
        "ours": round(ours, 1),
        "last_week": round(last, 1),
        "four_weeks": round(mean, 1),
        "ratio": round(ours / best, 3) if best > 0 else None,
        "coverage_80": round(fmean(inside), 3) if inside else None,
        "totals": sum(len(each.ours) for each in tried),
    }


def _together(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for span in ("week", "month"):
        of_span = [each for name, each in found.items() if name.endswith(span)]
        ratios = [each["ratio"] for each in of_span if each["ratio"]]
        covered = [each["coverage_80"] for each in of_span if each["coverage_80"] is not None]
        answer[f"{span}_ratio"] = round(exp(fmean(map(log, ratios))), 3) if ratios else None
        answer[f"{span}_coverage_80"] = round(fmean(covered), 3) if covered else None
    return answer


def tried_totals(values: Floats, first: int) -> tuple[dict[str, TotalsTried], int]:
    """Of one series its weeks and months from `first` on, and how many hours ahead were surely nothing that may not be."""
    origin = first + (len(values) - first) // DAY * DAY
    rolled = rolled_forecasts(values, origin, 1, TWO_WEEKS)
    days = day_totals(values[rolled.begin :], origin - rolled.begin, rolled.day_sums)
    sums = rolled_sums(days)
    week = TotalsTried([], [], [], [])
    came = days.came.cumsum(axis=1)[:, WEEK - 1]
    begin = len(came) - 1 - (origin - first) // DAY
    for place in range(max(0, begin), len(came)):
        if not np.isnan(came[place]):
            ends = sums.quantiles[place][[0, -1], WEEK - 1]
            _add(
                week,
                came[place],
                sums.expected[place, WEEK - 1],
                ends,
                _before(days.totals, days.first + place, WEEK),
            )
    return {"week": week, "month": _months(days.totals)}, _surely_nothing(
        values, origin, rolled.quantiles[-1]
    )


def _months(totals: Floats) -> TotalsTried:
    """Of 28 days, one a week, by scenarios of the level."""
    month = TotalsTried([], [], [], [])
    for origin in range(len(totals) - MONTH, 0, -WEEK):
        came = totals[origin : origin + MONTH].sum()
        try:
            made = calibrated_scenarios(totals[:origin], MONTH).totals.sum(axis=1)
        except TooLittleHistory:
            break
        if not np.isnan(came):
            ends = np.quantile(made, [0.1, 0.9])
            _add(month, came, float(made.mean()), ends, _before(totals, origin, MONTH))
    return month


def _before(totals: Floats, origin: int, days: int) -> tuple[float, float]:
    """The last week and the mean of four as so many days."""
    last, mean = (totals[max(0, origin - back) : origin] for back in (WEEK, FOUR_WEEKS))
    whole = float(np.nanmean(mean)) if not np.isnan(mean).all() else 0.0
    week = float(np.nanmean(last)) if not np.isnan(last).all() else whole
    return week * days, whole * days


def _add(
    tried: TotalsTried, came: float, ours: float, ends: Floats, before: tuple[float, float]
) -> None:
    tried.ours.append(abs(ours - came))
    tried.last_week.append(abs(before[0] - came))
    tried.four_weeks.append(abs(before[1] - came))
    if not np.isnan(ends).any():
        slack = 1e-9 * abs(came)
        tried.inside.append(bool(ends[0] - slack <= came <= ends[1] + slack))


def _surely_nothing(values: Floats, origin: int, quantiles: Floats) -> int:
    """Hours ahead with the interval [0, 0] in whose hour of the week a quarter of the last eight weeks had demand."""
    if np.isnan(quantiles).any():
        return 0
    count = 0
    for lead in range(WEEK * DAY):
        places = origin - WEEK * DAY * np.arange(1, 9) + lead
        before = values[places[places >= 0]]
        before = before[~np.isnan(before)]
        had = len(before) and (before > 0).mean() >= 0.25
        count += bool(had and quantiles[-1, lead] <= 0)
    return count
