"""Spend that creeps over a line of its own: the pace of its budget, or the same weeks a year ago."""

from dataclasses import dataclass

import numpy as np

from apps.economics.changes import WEEK
from apps.economics.spend_weeks import Days, over_line
from apps.economics.step_times import MAD_TO_SIGMA

LINE_WEEKS = 26
"""So many weeks up to the last are held against a line, or as many as the line has."""
FEWEST_WEEKS, FIRST_WEEKS, HELD_WEEKS = 8, 4, 3
"""The first four say where it began, the last three have to be over."""
YEAR_WEEKS = 52
LEAST_OVER = 0.1
"""Of the logarithm of a week over its line."""
DEVIATIONS, LEAST_SIGMA, APART = 3.5, 0.02, 4


@dataclass(frozen=True, slots=True)
class CreptOver:
    """The last `weeks` in a row are over the line, the last three by a logarithm of `over` in the middle.

    `usual` is by what logarithm the line was raised: how much more than a year ago it was anyhow; 0 of a budget.
    """

    weeks: int
    over: float
    usual: float = 0.0


def whole_weeks(days: Days) -> Days:
    """The sums of the whole weeks up to the last day, oldest first; NaN of a week with a day that is not known."""
    weeks: Days = days[len(days) % WEEK :].reshape(len(days) // WEEK, WEEK).sum(axis=1)
    return weeks


def crept_over_pace(weeks: Days, pace: Days, strictness: float = 1.0) -> CreptOver | None:
    """Whether what began within a budget's pace has risen over it, and rises still.

    Both are of the same weeks, oldest first, since the budget's period began; NaN where not known. It began within it where
    the middle one of the first four weeks is not over. See `_crept` for the rest.
    """
    over = over_line(weeks, pace)[-LINE_WEEKS:]
    if _middle(over[:FIRST_WEEKS]) > 0:
        return None
    return _crept(over, _noise(over), strictness)


def crept_over_year(weeks: Days, strictness: float = 1.0) -> CreptOver | None:
    """Whether weeks rose over the same weeks a year (52 weeks) ago by more than they were over them before.

    `weeks` oldest first, NaN where not known: 60 of them at least. A season that comes again is in both, and growth that was
    there already is in the first four weeks compared. How far the two years wander apart by themselves is read off
    the variance of differences over four weeks beyond that of one week's (the walk of a local level model, Harvey 1989).
    """
    ratios = over_line(weeks[YEAR_WEEKS:], weeks[:-YEAR_WEEKS])[-LINE_WEEKS:]
    if len(ratios) < FEWEST_WEEKS:
        return None
    usual = _middle(ratios[:FIRST_WEEKS])
    near, far = (_variance(ratios[apart:] - ratios[:-apart]) for apart in (1, APART))
    walk = max(0.0, (far - near) / (APART - 1)) * (len(ratios) - FIRST_WEEKS)
    sigma = float(np.hypot(_noise(ratios), walk**0.5))
    found = _crept(ratios - usual, sigma, strictness)
    return None if found is None else CreptOver(found.weeks, found.over, usual)


def _crept(over: Days, sigma: float, strictness: float) -> CreptOver | None:
    """Of weeks over a line that began within it: whether each of the last three is over it, and they rise.

    The middle one by a logarithm of 0.1 and 3.5 `sigma` (of a week), each by half of that; no less than the three before, and
    more than any three did before they went over.
    """
    if len(over) < FEWEST_WEEKS or np.isnan(over[-HELD_WEEKS:]).any():
        return None
    least = strictness * max(LEAST_OVER, DEVIATIONS * sigma)
    level = _middle(over[-HELD_WEEKS:])
    if level <= least or over[-HELD_WEEKS:].min() <= least / 2:
        return None
    weeks = _in_a_row(over)
    earlier = over[: len(over) - weeks]
    before = [
        _middle(earlier[end - HELD_WEEKS : end]) for end in range(HELD_WEEKS, len(earlier) + 1)
    ]
    rises = not level < _middle(over[-2 * HELD_WEEKS : -HELD_WEEKS])
    is_news = not any(each >= level for each in before)
    return CreptOver(weeks, level) if rises and is_news and len(earlier) else None


def _in_a_row(over: Days) -> int:
    """How many weeks up to the last are over the line; what is not known ends them."""
    return int(np.argmin(np.append(over[::-1] > 0, False)))


def _noise(over: Days) -> float:
    """The deviation of a week from its level, by how weeks in a row differ."""
    return max(LEAST_SIGMA, _deviation(np.diff(over)) / 2**0.5)


def _deviation(steps: Days) -> float:
    """The robust deviation of steps from their middle; 0 where none is known."""
    known = steps[~np.isnan(steps)]
    if not len(known):
        return 0.0
    return MAD_TO_SIGMA * float(np.median(np.abs(known - np.median(known))))


def _variance(steps: Days) -> float:
    """Of what is known; 0 where nothing is."""
    known = steps[~np.isnan(steps)]
    return float(known.var()) if len(known) else 0.0


def _middle(weeks: Days) -> float:
    """The median of what is known; NaN where nothing is."""
    known = weeks[~np.isnan(weeks)]
    return float(np.median(known)) if len(known) else float("nan")
