"""The ratio of changed work to a twin: work over the same days that was not touched."""

from collections.abc import Sequence
from math import log

from apps.economics.changes import WEEK
from apps.economics.cost_volume import CostDay
from apps.economics.step_effect import SeriesPoint, step_effect

FEWEST_BEFORE = 14
"""Days before a change that it is held against."""
FEWEST_TWIN = 28
"""Days on both sides together that a twin needs in common with what was changed."""


def twin_ratio_series(
    points: Sequence[SeriesPoint], twin: Sequence[CostDay], first: int
) -> tuple[list[SeriesPoint], list[SeriesPoint]]:
    """Return the logarithms of the ratio to a twin on the days of both, and the twin's; none where they have too few in common."""
    logs = {day.day: log(day.micros / day.work) for day in twin if day.micros > 0 and day.work > 0}
    alone = [point for point in points if point.day in logs]
    control = [SeriesPoint(point.day, logs[point.day]) for point in alone]
    both = [SeriesPoint(point.day, point.value - logs[point.day]) for point in alone]
    old = sum(point.day < first for point in alone)
    is_enough = len(both) >= FEWEST_TWIN and FEWEST_BEFORE <= old < len(both) - WEEK
    return (both, control) if is_enough else ([], [])


def is_steadier_with(
    both: Sequence[SeriesPoint], points: Sequence[SeriesPoint], first: int
) -> bool:
    """Whether the ratio to a twin is the steadier way: asked of the days before alone, where nothing was done yet."""
    old = [point for point in both if point.day < first]
    if not old:
        return False
    days = {point.day for point in old}
    alone = [point for point in points if point.day in days]
    middle = old[len(old) // 2].day
    return step_effect(old, middle).error < step_effect(alone, middle).error
