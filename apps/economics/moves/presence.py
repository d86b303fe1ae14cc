"""The level still there at the end of a time: one that came back before may come back, one that never did is gone."""

from collections.abc import Sequence
from math import floor


def level_at_end(values: Sequence[float]) -> float:
    """The highest level that may be counted on at the end of values that follow each other; 0 of none.

    A level that is not reached is counted on only as long as it was once missed before and reached again: longer than
    ever before, it is given up. So what goes down every night is there at night, and what went down once is gone.
    """
    if not values:
        return 0.0
    last = values[-1]
    above = sorted({floor(value + 1e-9) for value in values if value > last}, reverse=True)
    levels = (float(level) for level in above if level > last and _may_recur(values, level))
    return next(levels, last)


def _may_recur(values: Sequence[float], level: float) -> bool:
    missed = longest = 0
    was_reached = False
    for value in values:
        if value >= level - 1e-9:
            longest = max(longest, missed if was_reached else 0)
            was_reached, missed = True, 0
        else:
            missed += 1
    return missed <= longest


def present_parts(values: Sequence[float]) -> list[float]:
    """Of each value, what is above the level at the end, and so is there no more."""
    level = level_at_end(values)
    return [max(0.0, value - level) for value in values]
