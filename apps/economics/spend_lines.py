"""Spend that creeps over a line of its own: the pace of its budget, or the same weeks a year ago."""

from dataclasses import dataclass
from math import exp

import numpy as np

from apps.economics.changes import WEEK
from apps.economics.deviations import robust_deviation
from apps.economics.spend_weeks import Days

LINE_WEEKS = 26
"""So many weeks up to the last are held against a line, or as many as the line has."""
FEWEST_WEEKS, FIRST_WEEKS, HELD_WEEKS = 8, 4, 3
"""Eight have to be known; the first four say where it began, the last three have to be over."""
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
    the middle one of the first four known weeks is not over. See `_crept` for the rest. A budget that is cut is no
    creep: spend rose by half of what it has to also since the four known weeks before it went over.
    """
    weeks, over = weeks[-LINE_WEEKS:], _over(weeks, pace)[-LINE_WEEKS:]
    crept = _crept(weeks, over, _noise(over), strictness)
    if crept is None or _middle(_known(over)[:FIRST_WEEKS]) > 0:
        return None
    within = _known(weeks[: len(weeks) - crept.weeks])[-FIRST_WEEKS:]
    return crept if _rose(weeks[-HELD_WEEKS:], within, strictness * LEAST_OVER / 2) else None


def crept_over_year(weeks: Days, strictness: float = 1.0) -> CreptOver | None:
    """Whether weeks rose over the same weeks a year (52 weeks) ago by more than they were over them before.

    `weeks` oldest first, NaN where not known: 60 of them at least. A season that comes again is in both, and growth that was
    there already is in the first four weeks compared; what was below last year then has to rise over last year itself. How
    far the two years wander apart by themselves is read off the variance of differences over four weeks beyond that of one
    week's (the walk of a local level model, Harvey 1989).
    """
    ratios = _over(weeks[YEAR_WEEKS:], weeks[:-YEAR_WEEKS])[-LINE_WEEKS:]
    if len(_known(ratios)) < FEWEST_WEEKS:
        return None
    usual = max(0.0, _middle(_known(ratios)[:FIRST_WEEKS]))
    near, far = (_variance(_steps(ratios, apart)) for apart in (1, APART))
    walk = max(0.0, (far - near) / (APART - 1)) * (len(ratios) - FIRST_WEEKS)
    sigma = float(np.hypot(_noise(ratios), walk**0.5))
    crept = _crept(weeks[-len(ratios) :], ratios - usual, sigma, strictness)
    return None if crept is None else CreptOver(crept.weeks, crept.over, usual)


def _crept(weeks: Days, over: Days, sigma: float, strictness: float) -> CreptOver | None:
    """Of weeks over a line that began within it: whether each of the last three is over it, and they rise.

    The middle one by a logarithm of 0.1 and 3.5 `sigma` (of a week), each by half of that; no less than the three before, and
    more than any three did before they went over. Weeks that are not known count for none of this. The spend itself
    has to have risen by 0.1 since the first four known weeks: where only the line fell, nothing crept.
    """
    last = over[-HELD_WEEKS:]
    if len(_known(over)) < FEWEST_WEEKS or np.isnan(last).any():
        return None
    least, level = strictness * max(LEAST_OVER, DEVIATIONS * sigma), _middle(last)
    risen = _rose(weeks[-HELD_WEEKS:], _known(weeks)[:FIRST_WEEKS], strictness * LEAST_OVER)
    if level <= least or last.min() <= least / 2 or not risen:
        return None
    run = _in_a_row(over)
    earlier = over[: len(over) - run]
    before = [
        _middle(earlier[end - HELD_WEEKS : end]) for end in range(HELD_WEEKS, len(earlier) + 1)
    ]
    rises = not level < _middle(over[-2 * HELD_WEEKS : -HELD_WEEKS])
    return (
        CreptOver(run, level)
        if rises and not any(earlier_level >= level for earlier_level in before)
        else None
    )


def _rose(now: Days, before: Days, by: float) -> bool:
    """Whether the middle one of weeks of spend is over that of known ones before by a logarithm of `by`."""
    return _middle(now) > exp(by) * _middle(before)


def _over(weeks: Days, line: Days) -> Days:
    """The logarithm of each week over its line: minus infinity of a week without spend, NaN where either is not known."""
    over: Days = np.full(len(weeks), np.nan)
    usable = (line > 0) & ~np.isnan(weeks)
    over[usable] = -np.inf
    usable &= weeks > 0
    over[usable] = np.log(weeks[usable] / line[usable])
    return over


def _in_a_row(over: Days) -> int:
    """How many weeks up to the last are over the line; what is not known ends them."""
    return int(np.argmin(np.append(over[::-1] > 0, False)))


def _noise(over: Days) -> float:
    """The deviation of a week from its level, by how weeks in a row differ."""
    steps = _steps(over, 1)
    if not len(steps):
        return LEAST_SIGMA
    deviation = robust_deviation(steps.tolist(), float(np.median(steps)))
    return max(LEAST_SIGMA, deviation / 2**0.5)


def _steps(over: Days, apart: int) -> Days:
    """By how much weeks so far apart differ, where both are known and of spend."""
    of_spend = np.where(np.isinf(over), np.nan, over)
    return _known(of_spend[apart:] - of_spend[:-apart])


def _variance(steps: Days) -> float:
    """0 of none."""
    return float(steps.var()) if len(steps) else 0.0


def _known(weeks: Days) -> Days:
    return weeks[~np.isnan(weeks)]


def _middle(weeks: Days) -> float:
    """The median of what is known; NaN where nothing is."""
    known_weeks = _known(weeks)
    return float(np.median(known_weeks)) if len(known_weeks) else float("nan")
