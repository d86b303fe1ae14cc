"""When the level of a daily figure changed: change points of its logarithm, and single spikes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from statistics import median

from apps.economics.deviations import robust_deviation
from apps.economics.step_times import robust_z

# What they find on simulated series is measured in docs/guides/anomalies.md.
STRICTNESS, REMEMBERED = 4.0, 0.3
# Short series are judged as strictly as these: what repeats by the week is less known of them.
TUNED_DAYS = 90
SHORTEST = 3
CLIPPED_AT, AROUND = 3.5, 13
TREND_DAYS, WEEK = 21, 7
SPIKE_Z = 5.0


@dataclass(frozen=True, slots=True)
class HoldingChange:
    """The day (from 0) on which a new level began, and by what share it differs from the last."""

    day: int
    effect: float


def changes(
    values: Sequence[float], weekdays: Sequence[int] | None = None, strictness: float = 1.0
) -> list[HoldingChange]:
    """Change points of positive daily values, least squares with a penalty (PELT's optimum).

    What repeats by the week is taken out, and what is far off its neighbours is clipped. `weekdays`
    says which day of the week (0 to 6) each is, where days are missing. A change that lasts as long has to be
    `strictness` times as large. A series of fewer than two shortest segments has none.
    """
    if len(values) < 2 * SHORTEST:
        return []
    levels = [log(value) for value in values]
    places = [day % WEEK for day in range(len(values))] if weekdays is None else weekdays
    calm = _clip_outliers(_without_week(levels, places))
    sigma = _noise_deviation(calm)
    if not sigma:
        return []
    scaled = [clip_outlier / sigma for clip_outlier in calm]
    days = max(len(values), TUNED_DAYS)
    # Of a change's size the square is held against the penalty.
    penalty = STRICTNESS * log(days) * (1 + REMEMBERED) / (1 - REMEMBERED) * strictness**2
    ends = partition(scaled, penalty, shortest=SHORTEST)
    edges = [0, *ends, len(values)]
    level_changes = []
    for left, day, right in zip(edges, edges[1:], edges[2:], strict=False):
        moved = median(calm[day:right]) - median(calm[left:day])
        level_changes.append(HoldingChange(day, exp(moved) - 1))
    return level_changes


def partition(values: Sequence[float], penalty: float, *, shortest: int = 1) -> list[int]:
    """Where segments begin, so that squares about their means + penalty for each are least."""
    size = len(values)
    sums, squares = [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)

    def cost(start: int, end: int) -> float:
        return squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)

    best = [-penalty] + [float("inf")] * size
    previous = [0] * (size + 1)
    for end in range(shortest, size + 1):
        for start in (0, *range(shortest, end - shortest + 1)):
            total = best[start] + cost(start, end) + penalty
            if total < best[end]:
                best[end], previous[end] = total, start
    edges, at = [], size
    while previous[at]:
        at = previous[at]
        edges.append(at)
    return edges[::-1]


def spikes(
    values: Sequence[float], like: Sequence[Sequence[float]], strictness: float = 1.0
) -> list[int]:
    """Days whose value is over 5 robust deviations × `strictness` above those like it (same weekday, say).

    `like[k]` are the values that day k is held against; where they do not differ it is none.
    """
    spike_days = []
    for day, (value, others) in enumerate(zip(values, like, strict=True)):
        z = robust_z(value, others) if others else None
        if z is not None and z > SPIKE_Z * strictness:
            spike_days.append(day)
    return spike_days


def _without_week(levels: Sequence[float], places: Sequence[int]) -> list[float]:
    """Less the median of each weekday's distance to a running median of three weeks."""
    away: dict[int, list[float]] = {}
    for day, (level, place) in enumerate(zip(levels, places, strict=True)):
        away.setdefault(place, []).append(level - _median_around(levels, day, TREND_DAYS))
    weekly = {place: median(distances) for place, distances in away.items()}
    return [level - weekly[place] for level, place in zip(levels, places, strict=True)]


def _clip_outliers(levels: Sequence[float]) -> list[float]:
    """No further from the running median of 13 days than 3.5 of its robust deviations."""
    calm = []
    for day, level in enumerate(levels):
        half = AROUND // 2
        near = levels[max(0, day - half) : day + half + 1]
        middle = median(near)
        reach = robust_deviation(near, middle, times=CLIPPED_AT)
        calm.append(min(max(level, middle - reach), middle + reach))
    return calm


def _noise_deviation(levels: Sequence[float]) -> float:
    """By the differences from day to day, which a change of level does not touch.

    The larger of two: by their median, and by their squares with those over 3 of that clipped. The
    first alone is too small by chance in series of few weeks, and finds changes in noise.
    """
    steps = [after - before for before, after in pairwise(levels)]
    middle = median(steps)
    robust = robust_deviation(steps, middle)
    squares = sum(min(abs(step - middle), 3 * robust) ** 2 for step in steps)
    return float(max(robust, (squares / len(steps)) ** 0.5) / 2**0.5)


def _median_around(levels: Sequence[float], day: int, days: int) -> float:
    half = days // 2
    return float(median(levels[max(0, day - half) : day + half + 1]))
