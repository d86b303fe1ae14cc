"""Intervals by day, widened or narrowed by how far what came lay outside those that would have been given before.

Split conformal prediction with normalised scores (Lei and others 2018): a score is how far a day lay from the median, as a
share of how far the end of the 80 % interval did. It has to be 1 for four days in five.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from apps.economics.forecast.daily import (
    LEAST_DAYS,
    WEEK,
    DailyScenarios,
    clip_to_bounds,
    clip_with_means,
    daily_scenarios,
)
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.scores import Floats, conformal_rank

LEAD_EDGES = (0, 7, 14, 28, 84)
"""Days ahead are judged in these groups; later ones as the last that could be."""
LEAST_TRIED_DAYS = 2 * LEAST_DAYS
"""Of history, for a forecast to be judged: after four weeks alone intervals are narrower than they ever are later."""
LEAST_TRIALS, MOST_TRIALS = 4, 13
TOTAL_DAYS = 28
NEEDED_WEEKS = LEAD_EDGES[-1] // WEEK + MOST_TRIALS - 1
BELIEVED_TRIALS = 6
"""With so many forecasts half of what they say is believed: they overlap, and are few."""
NARROWEST, WIDEST = 0.5, 2.5
MISS_RATE = 0.2
_LEAST_REACH = 1e-12


def trial_scores(values: Floats, earlier: int = 0) -> Mapping[int, Floats]:
    """By origin, whole weeks before the end of `values`, the score of each of up to 84 days that followed it.

    Of as many weeks as factors up to so many weeks before the end may need.
    """
    oldest = len(values) - (earlier + NEEDED_WEEKS) * WEEK
    known_days = np.cumsum(~np.isnan(values))
    return {
        origin: _scores(values, origin)
        for origin in range(len(values) - WEEK, max(oldest, 1) - 1, -WEEK)
        if known_days[origin - 1] >= LEAST_TRIED_DAYS
    }


def spread_factors(scores: Mapping[int, Floats], end: int) -> Floats:
    """Return the factors to widen intervals given at the day `end` by, of what was followed by then; 1: not known.

    By group of days ahead, then those of the total of four weeks and of the eight after them.
    """
    factors, factor = [], 1.0
    for begin, last in pairwise(LEAD_EDGES):
        factor = _factor(scores, end - last, slice(begin, last), factor)
        factors.append(factor)
    four_weeks = _factor(scores, end - TOTAL_DAYS, slice(-2, -1), 1.0)
    later_weeks = _factor(scores, end - LEAD_EDGES[-1], slice(-1, None), four_weeks)
    return np.array([*factors, four_weeks, later_weeks])


def _factor(scores: Mapping[int, Floats], until: int, places: slice, otherwise: float) -> float:
    """Of forecasts made up to a day, from scores in these places."""
    followed = sorted(origin for origin in scores if origin <= until)[-MOST_TRIALS:]
    known_scores = np.concatenate([np.zeros(0), *(scores[origin][places] for origin in followed)])
    known_scores = np.sort(known_scores[~np.isnan(known_scores)])
    rank = conformal_rank(len(known_scores), MISS_RATE)
    if len(followed) < LEAST_TRIALS or rank is None:
        return otherwise
    believed = len(followed) / (len(followed) + BELIEVED_TRIALS)
    factor = min(max(float(known_scores[rank - 1]), NARROWEST), WIDEST)
    return float(factor**believed)


def calibrated_scenarios(
    values: Floats, horizon: int, scores: Mapping[int, Floats] | None = None
) -> DailyScenarios:
    """The scenarios of the `horizon` days after `values`, each as much further from their median; medians stay.

    `scores` may be of a longer history with the same weeks: those of days after `values` are left out. Refuses
    TooLittleHistory.
    """
    scenarios = daily_scenarios(values, horizon)
    if scenarios.busy is not None:
        # Around a middle of nothing wider is more, and no wider interval of the same.
        return scenarios
    factors = spread_factors(trial_scores(values) if scores is None else scores, len(values))
    group = np.searchsorted(LEAD_EDGES[1:-1], np.arange(horizon), side="right")
    middle = scenarios.points
    totals = _further_together(
        scenarios.totals, middle + factors[group] * (scenarios.totals - middle), factors
    )
    bounded = clip_to_bounds(values, totals)
    # Where wider scenarios are cut off at 0 their mean would be more: what is uncertain is not more for it.
    is_cut = (bounded != totals).any(axis=0)
    expected = np.where(is_cut, scenarios.totals.mean(axis=0), bounded.mean(axis=0))
    return replace(scenarios, totals=clip_with_means(values, bounded, expected))


def _further_together(scenarios: Floats, totals: Floats, factors: Floats) -> Floats:
    """Days of a scenario as much more, or less, as its total has to lie further from the middle one: of four weeks, and of the rest.

    `scenarios` are the scenarios before their days were moved: what that does to a total is not done again.
    """
    stretched = totals.copy()
    for begin, end, factor in ((0, TOTAL_DAYS, factors[-2]), (TOTAL_DAYS, None, factors[-1])):
        before, reached = (
            paths[:, begin:end].sum(axis=1, keepdims=True) for paths in (scenarios, totals)
        )
        middle, spread = float(np.median(reached)), float(np.std(reached))
        # Days that go further together do so each by itself too, and were wide enough: half of the way.
        lacking = (factor * float(np.std(before)) / spread) ** 0.5 if spread > 0 else 1.0
        if middle > 0 and lacking > 1:
            further = np.maximum(middle + lacking * (reached - middle), 0.0)
            stretched[:, begin:end] *= further / np.where(reached > 0, reached, 1.0)
    # Of each day the middle stays.
    middles, moved = (np.median(paths, axis=0) for paths in (totals, stretched))
    recentred: Floats = stretched * np.where(
        moved > 0, middles / np.where(moved > 0, moved, 1.0), 1.0
    )
    return recentred


def _scores(values: Floats, origin: int) -> Floats:
    actual = values[origin : origin + LEAD_EDGES[-1]]
    # As many days each time: what is drawn goes by how many there are.
    scenarios = daily_scenarios(values[:origin], LEAD_EDGES[-1])
    ends = (scenarios.quantiles[0], scenarios.points, scenarios.quantiles[-1])
    low, middle, high = (end[: len(actual)] for end in ends)
    reach = np.where(actual >= middle, high - middle, middle - low)
    scores: Floats = np.abs(actual - middle) / np.maximum(reach, _LEAST_REACH)
    of_totals = [
        _score_of_total(actual[begin:end], scenarios.totals[:, begin:end], end - begin)
        for begin, end in ((0, TOTAL_DAYS), (TOTAL_DAYS, LEAD_EDGES[-1]))
    ]
    return np.concatenate([scores, np.full(LEAD_EDGES[-1] - len(scores), np.nan), of_totals])


def _score_of_total(actual: Floats, totals: Floats, days: int) -> float:
    """Return how far the total of all these days lay from its middle, over its interval's reach; NaN where one did not come yet."""
    if len(actual) < days or np.isnan(actual).any():
        return np.nan
    low, middle, high = np.quantile(totals.sum(axis=1), (LEVELS[0], 0.5, LEVELS[-1]))
    actual_total = float(actual.sum())
    reach = high - middle if actual_total >= middle else middle - low
    return float(abs(actual_total - middle) / max(reach, _LEAST_REACH))
