"""The answer of a forecast held against its gates: its own points or those of its best baseline, widened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan

import numpy as np

from apps.economics.forecast.backtest import ForecastScores
from apps.economics.forecast.day_totals import WEEK_DAYS, DayTotals
from apps.economics.forecast.fresh_levels import FreshLevel
from apps.economics.forecast.names import RUNRATE
from apps.economics.forecast.paths import WIDEST_TOTALS, TotalsAhead
from apps.economics.forecast.scores import DAY, Floats
from apps.economics.gates import (
    COVERED,
    ROUNDING,
    Gate,
    GateName,
    baseline_gate,
    coverage_gate,
    parts_gate,
)
from apps.economics.number_words import number_text

LEAST_ORIGINS = 14
"""Forecasts by the hour that have to be followed before a baseline takes their place: two weeks of them."""
NARROWEST, WIDEST = 0.5, 10.0
NOMINAL = 0.8
AS_FORECAST = 1e-3
"""Of a total: who misses it by less has no interval to be judged."""
JUDGED_TOTALS = 28
"""So many days of forecasts of totals are judged."""
CAME_AS_FORECAST = Gate(GateName.COVERAGE, is_passed=True, says="all that came was as forecast")


@dataclass(frozen=True, slots=True)
class AnsweredForecast:
    """Points by step and quantiles by level and step, and what they were held against; `baseline` is whose points they are.

    Empty: the method's own.
    """

    points: Floats
    quantiles: Floats
    gates: tuple[Gate, ...]
    baseline: str = ""


def gate_against_baselines(scores: ForecastScores, ahead: str, least: int = LEAST_ORIGINS) -> Gate:
    """Whether the method missed by no more than its best baseline in its own back-test, so far ahead.

    Where history never moved, so that nothing has a scale, by plain errors.
    """
    errors = {name: score for name, score in scores.mase.items() if not isnan(score)}
    if RUNRATE not in errors:
        errors = dict(scores.mae)
    ours = errors.pop(RUNRATE, None)
    if ours is not None and scores.origins < least:
        few = f"{scores.origins} forecasts were followed, {least} are the least"
        return Gate(GateName.BASELINE, None, f"{ahead} ahead: {few}")
    gate = baseline_gate(ours, errors)
    return replace(gate, says=f"{ahead} ahead: {gate.says}")


def with_baseline(
    answer: AnsweredForecast, gate: Gate, baselines: Mapping[str, Floats], steps: slice
) -> AnsweredForecast:
    """These steps of it, by the baseline that a failed gate names, its quantiles moved along; as it is where it passed."""
    if gate.is_passed is not False:
        return replace(answer, gates=(*answer.gates, gate))
    moved = np.zeros(len(answer.points))
    moved[steps] = (baselines[gate.fallback] - answer.points)[steps]
    return AnsweredForecast(
        answer.points + moved,
        answer.quantiles + moved,
        (*answer.gates, gate),
        gate.fallback,
    )


def judged_steps(judged: Iterable[int], horizon: int) -> list[slice]:
    """Of each judged number of steps ahead, ascending, the steps that it answers for: the last for all beyond the one before it."""
    ahead = list(judged)
    return [slice(*ends) for ends in pairwise([0, *ahead[:-1], horizon])] if ahead else []


def covering(
    answer: AnsweredForecast,
    scores: ForecastScores,
    reaches: Sequence[float],
    *,
    is_fresh: bool = False,
) -> AnsweredForecast:
    """With intervals that cover of their own back-test what they say: else so much wider, or narrower, that they do.

    `reaches` are how far each step that came lay from the point, as a share of how far the end of the 80 % interval did.
    While a level `is_fresh` they are not made narrower: what came before does not say how well it is known.
    """
    coverage = None if isnan(scores.coverage_80) else scores.coverage_80
    gate = coverage_gate(coverage)
    sorted_reaches = sorted(reach for reach in reaches if not isnan(reach))
    if gate.is_passed is not False or not sorted_reaches:
        return replace(answer, gates=(*answer.gates, gate))
    if sorted_reaches[-1] == 0:
        return replace(answer, gates=(*answer.gates, CAME_AS_FORECAST))
    after, factor = _stretched(gate, sorted_reaches, least=1.0 if is_fresh else NARROWEST)
    stretched = answer.points + factor * (answer.quantiles - answer.points)
    return replace(answer, quantiles=stretched, gates=(*answer.gates, after))


def rare_gate(scores: ForecastScores) -> Gate:
    """Return the coverage gate of days that come rarely, whose intervals hold both none and a busy day, and nearly all that comes."""
    gate = coverage_gate(None if isnan(scores.coverage_80) else scores.coverage_80)
    if gate.is_passed is False and scores.coverage_80 > COVERED[1]:
        sentence = f"{gate.says}, which hold a day without demand and a busy one"
        return replace(gate, is_passed=True, says=sentence)
    return gate


def reaches_of(actual: Floats, points: Floats, quantiles: Floats) -> Floats:
    """How far what came lay from each point, over how far the end of its 80 % interval did; NaN where either is not known.

    `quantiles` have levels on their first axis.
    """
    side = np.where(actual >= points, quantiles[-1] - points, points - quantiles[0])
    distance = np.abs(actual - points)
    reaches: Floats = np.where(
        distance > 0, distance / np.where(side > 0, side, np.nan), 0.0 * distance
    )
    unknown = np.isnan(actual) | np.isnan(quantiles).any(axis=0)
    beyond = (distance > 0) & (side == 0)
    return np.where(unknown, np.nan, np.where(beyond, WIDEST * 2, reaches))


def totals_gate(
    days: DayTotals, sums: TotalsAhead, *, is_fresh: bool = False
) -> tuple[Gate, float]:
    """Whether totals came to lie in their intervals, and how many times as wide they have to be so that they do: no less than once while a level `is_fresh`."""
    ahead = min(WEEK_DAYS, days.came.shape[1])
    actual = days.came.cumsum(axis=1)[-JUDGED_TOTALS:, ahead - 1]
    expected = sums.expected[-JUDGED_TOTALS:, ahead - 1]
    quantiles = np.moveaxis(sums.quantiles[-JUDGED_TOTALS:, :, ahead - 1], 1, 0)
    is_known = ~np.isnan(actual) & ~np.isnan(quantiles[0])
    name = f"totals of {ahead} days"
    if not is_known.any():
        gate = coverage_gate(None)
        return replace(gate, says=f"{name}: {gate.says}"), 1.0
    actual, expected, quantiles = actual[is_known], expected[is_known], quantiles[:, is_known]
    if (np.abs(actual - expected) <= AS_FORECAST * np.abs(actual)).all():
        return replace(CAME_AS_FORECAST, says=f"{name}: {CAME_AS_FORECAST.says}"), 1.0
    slack = ROUNDING * np.abs(quantiles)
    inside = (actual >= quantiles[0] - slack[0]) & (actual <= quantiles[-1] + slack[-1])
    gate = coverage_gate(float(inside.mean()))
    factor = 1.0
    newest = sums.quantiles[-1, :, ahead - 1]
    half = float(newest[-1] - newest[0]) / 2
    if gate.is_passed is False and half > 0:
        # As shares of what was expected: an interval of today may have learnt of a step that those before it did not know.
        scale = np.where(expected > 0, expected, np.nan) / max(
            float(sums.expected[-1, ahead - 1]), half
        )
        missed = np.abs(actual - expected) / scale / half
        reaches = sorted(missed[~np.isnan(missed)].tolist()) or [1.0]
        least = 1.0 if is_fresh else NARROWEST
        gate, factor = _stretched(gate, reaches, least=least, widest=WIDEST_TOTALS)
    return replace(gate, says=f"{name}: {gate.says}"), factor


def fresh_gate(level: FreshLevel, days: int) -> Gate:
    """In the place of totals_gate where a level is so fresh that totals followed before are of another."""
    ahead = min(WEEK_DAYS, days)
    name = "a total of a day" if ahead == 1 else f"totals of {ahead} days"
    since = _days_text(level.days)
    sentence = f"{name} lie between the level before and that of {since}: what came before is of the former alone"
    return Gate(GateName.COVERAGE, None, sentence)


def middles_gate(days: int, points: Floats, expected: Floats) -> Gate:
    """Return the gate that holds the sum of the middles of hours in up to a week beside the total of whole paths."""
    ahead = min(WEEK_DAYS, days)
    steps = slice(0, ahead * DAY)
    total, middles = float(expected[steps].sum()), float(points[steps].sum())
    parts = parts_gate(total, [middles])
    sentence = f"{counted_days(ahead)} the middles of its hours come to {number_text(middles)}, whole paths to {number_text(total)}"
    fallback = "" if parts.is_passed else "totals of whole paths, which no sum of middles is"
    return replace(parts, says=sentence, fallback=fallback)


def _stretched(
    gate: Gate, reaches: Sequence[float], *, least: float, widest: float = WIDEST
) -> tuple[Gate, float]:
    """Return the gate of intervals so many times as wide that they hold their share of these reaches, in order; and the factor."""
    needed = reaches[min(len(reaches) - 1, int(NOMINAL * len(reaches)))]
    factor = min(max(needed, least), widest)
    covered = sum(reach <= factor for reach in reaches) / len(reaches)
    how = "wide" if factor >= 1 else "wide, which is enough"
    sentence = (
        f"{gate.says}; they are {factor:.2g} times as {how}: {covered * 100:.0f} % lay in those"
    )
    return Gate(GateName.COVERAGE, COVERED[0] <= covered <= COVERED[1], sentence), factor


def counted_days(days: int) -> str:
    """`in 7 days`."""
    return f"in {_days_text(days)}"


def _days_text(days: int) -> str:
    return f"{days} days" if days > 1 else "a day"
