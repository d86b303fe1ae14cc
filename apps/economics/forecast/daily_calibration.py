"""Intervals by day, widened or narrowed by how far what came lay outside those that would have been given before.

Split conformal prediction with normalised scores (Lei and others 2018): a score is how far a day lay from the median, as a
share of how far the end of the 80 % interval did. It has to be 1 for four days in five.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from apps.economics.forecast.daily import (
    LEAST_DAYS,
    WEEK,
    DailyScenarios,
    daily_scenarios,
    held_to_bounds,
)
from apps.economics.forecast.scores import Floats, conformal_rank

LEAD_EDGES = (0, 7, 14, 28, 84)
"""Days ahead are judged in these groups; later ones as the last that could be."""
LEAST_TRIED_DAYS = 2 * LEAST_DAYS
"""Of history, for a forecast to be judged: after four weeks alone intervals are narrower than they ever are later."""
LEAST_TRIALS, MOST_TRIALS = 4, 13
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
    known = np.cumsum(~np.isnan(values))
    return {
        origin: _scores(values, origin)
        for origin in range(len(values) - WEEK, max(oldest, 1) - 1, -WEEK)
        if known[origin - 1] >= LEAST_TRIED_DAYS
    }


def spread_factors(scores: Mapping[int, Floats], end: int) -> Floats:
    """What intervals given at the day `end` are wide times, by group of days ahead, of what was followed by then; 1: not known."""
    factors, factor = [], 1.0
    for begin, last in pairwise(LEAD_EDGES):
        followed = sorted(origin for origin in scores if origin + last <= end)[-MOST_TRIALS:]
        days = np.concatenate([np.zeros(0), *(scores[each][begin:last] for each in followed)])
        days = np.sort(days[~np.isnan(days)])
        rank = conformal_rank(len(days), MISS_RATE)
        if len(followed) >= LEAST_TRIALS and rank is not None:
            believed = len(followed) / (len(followed) + BELIEVED_TRIALS)
            factor = float(np.clip(days[rank - 1], NARROWEST, WIDEST)) ** believed
        factors.append(factor)
    return np.array(factors)


def calibrated_scenarios(
    values: Floats, horizon: int, scores: Mapping[int, Floats] | None = None
) -> DailyScenarios:
    """The scenarios of the `horizon` days after `values`, each as much further from their median; medians stay.

    `scores` may be of a longer history with the same weeks: those of days after `values` are left out. Refuses
    TooLittleHistory.
    """
    made = daily_scenarios(values, horizon)
    factors = spread_factors(trial_scores(values) if scores is None else scores, len(values))
    group = np.searchsorted(LEAD_EDGES[1:-1], np.arange(horizon), side="right")
    middle = made.points
    totals = middle + factors[group] * (made.totals - middle)
    return DailyScenarios(held_to_bounds(values, totals), made.shift)


def _scores(values: Floats, origin: int) -> Floats:
    actual = values[origin : origin + LEAD_EDGES[-1]]
    # As many days each time: what is drawn goes by how many there are.
    made = daily_scenarios(values[:origin], LEAD_EDGES[-1])
    ends = (made.quantiles[0], made.points, made.quantiles[-1])
    low, middle, high = (each[: len(actual)] for each in ends)
    reach = np.where(actual >= middle, high - middle, middle - low)
    scores: Floats = np.abs(actual - middle) / np.maximum(reach, _LEAST_REACH)
    return scores
