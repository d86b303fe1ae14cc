"""How much of a cost moves with the work that it is for, and what a day's work would have cost as before."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import expm1, inf, log, sqrt
from statistics import NormalDist, fmean

from apps.economics.changes import WEEK
from apps.economics.step_effect import HIGH, SeriesPoint, step_effect

FOLLOWS_FROM = 0.95
"""Cost that surely moves by less than this share of what work moves by does not follow it."""
KNOWN_WITHIN = 0.25
"""Of the share of the cost that moves with work."""
SURE_WITHIN, FAR_VOLUME = 0.05, 2.0
"""Work that doubled or halved lies outside of what the days before can say, unless cost follows it as surely as this."""
LEVEL_MOVED, LEVEL_ERRORS = 0.05, 2.0
"""A level of work that moved is one by more than this, and by more than so many standard errors."""
LEAST_INDEX = 0.1
"""Of the mean of its span: where a day costs less, amounts are held against each other, and not their logarithms."""
FEWEST_POINTS = 3
LARGEST_LOGARITHM = 500.0
"""Days with work, beyond which a step of it can be fitted."""
LEAST_SPREAD = 1e-6
"""Of the logarithm of a day's work: less is work that stood still."""


@dataclass(frozen=True, slots=True)
class CostDay:
    """A settled day: what was charged, and the work it was for (requests, tokens, GPU-hours; the same every day where
    cost alone is held against cost)."""

    day: int
    micros: float
    work: float = 1.0


def mean_work(days: Sequence[CostDay]) -> float:
    """Of a day."""
    return fmean(day.work for day in days)


def is_beyond(moved: float, share: float, error: float) -> bool:
    """Whether work moved by a factor for which the days before do not say what it would have cost."""
    return max(moved, 1 / moved) > FAR_VOLUME and abs(share - 1) + error > SURE_WITHIN


def fixed_cost_share(share: float, error: float, days: int) -> float:
    """The most of a cost that may stand whatever the work does: 1 − the 5th percentile of what follows it, of so many days."""
    return 1 - min(1.0, max(0.0, share - high_quantile(days - 2) * error))


def moved_share(logarithm: float) -> float:
    """Return by which share a logarithm moves a value; what is beyond LARGEST_LOGARITHM is that, as no float holds it."""
    return expm1(min(logarithm, LARGEST_LOGARITHM))


def volume_step(days: Sequence[CostDay], first: int, memory: float) -> float:
    """The logarithm by which work moved at the change, beside its own trend and weekdays, for noise of such a memory.

    It is fitted as the cost of a unit is: where cost does not move with the work, that steps by just as much the other way.
    There is work on both sides; 0 where on too few days.
    """
    points = [SeriesPoint(day.day, log(day.work)) for day in days if day.work > 0]
    if len(points) <= FEWEST_POINTS:
        return 0.0
    return step_effect(points, first, memory=memory).effect


def level_move(days: Sequence[CostDay], first: int) -> tuple[float, float]:
    """The logarithm by which the level of work clearly moved at the change, with its standard error; 0 where it did not, or on too few days.

    As a step beside its trend, or, where it has no clear trend, also as the difference of the means, which says more: their
    standard error is that of a mean of AR(1) noise, noise ÷ (1 − memory) × √(1/n + 1/m).
    """
    points = [SeriesPoint(day.day, log(day.work)) for day in days if day.work > 0]
    old, new = ([p.value for p in points if (p.day < first) is is_old] for is_old in (True, False))
    if len(points) <= FEWEST_POINTS:
        return 0.0, 0.0
    step = step_effect(points, first)
    moves = [(step.effect, step.error)] if step.is_told else []
    if abs(step.slope) <= LEVEL_ERRORS * step.slope_error:
        moved = fmean(new) - fmean(old)
        error = step.noise / (1 - step.memory) * sqrt(1 / len(old) + 1 / len(new))
        moves += [(moved, error)] if abs(moved) > LEVEL_ERRORS * error else []
    largest = max(moves, key=lambda move: abs(move[0]), default=(0.0, 0.0))
    return largest if abs(largest[0]) > LEVEL_MOVED else (0.0, 0.0)


def is_even(days: Sequence[CostDay], as_before: Callable[[CostDay], float]) -> bool:
    """Whether every day's cost has a logarithm that is no outlier for what it is."""
    pairs = [(day.micros, as_before(day)) for day in days if day.micros or as_before(day)]
    if not pairs or min(min(pair) for pair in pairs) <= 0:
        return False
    ratios = [cost / would for cost, would in pairs]
    return min(ratios) >= LEAST_INDEX * fmean(ratios)


def following_share(before: Sequence[CostDay]) -> tuple[float, float]:
    """Return which share of the mean cost moves with the work, and its standard error: infinite where work stood still.

    Over all days, or within weekdays, whichever says that more moves: cost that stands shows in both, while a weekend that
    is dearer by the unit looks like it over all days alone.
    """
    work, cost = mean_work(before), fmean(day.micros for day in before)
    days = [(day.work / work - 1, day.micros / cost - 1) for day in before]
    by_weekday: dict[int, list[tuple[float, float]]] = {}
    for day, point in zip(before, days, strict=True):
        by_weekday.setdefault(day.day % WEEK, []).append(point)
    within = [
        (work - fmean(work for work, _ in like), cost - fmean(cost for _, cost in like))
        for like in by_weekday.values()
        for work, cost in like
    ]
    overall, inner = _slope(days, 2), _slope(within, len(by_weekday) + 1)
    return overall if inner[1] > KNOWN_WITHIN else max(overall, inner)


def _slope(points: Sequence[tuple[float, float]], fitted: int) -> tuple[float, float]:
    """By least squares through the middle, for as many parameters as are fitted; 1 and infinite without any spread."""
    spread = sum(work**2 for work, _ in points)
    if spread < LEAST_SPREAD * len(points):
        return 1.0, inf
    share = sum(work * cost for work, cost in points) / spread
    residual = sum((cost - share * work) ** 2 for work, cost in points)
    return share, sqrt(residual / max(1, len(points) - fitted) / spread)


def per_unit(before: Sequence[CostDay]) -> Callable[[CostDay], float]:
    """A day's work at the unit cost of its weekday; of all days where one of the weekdays cost something without work."""
    costs, works = _weekday_sums(before)
    overall = sum(costs) / sum(works)
    has_each = not any(cost and not work for cost, work in zip(costs, works, strict=True))
    units = [
        cost / work if has_each and work else overall
        for cost, work in zip(costs, works, strict=True)
    ]
    return lambda day: units[day.day % WEEK] * day.work


def per_day(before: Sequence[CostDay], following: float) -> Callable[[CostDay], float]:
    """The mean cost of a day's weekday, and for each unit of work more than then `following` × the unit cost of all days."""
    costs, works = _weekday_sums(before)
    day_counts = Counter(day.day % WEEK for day in before)
    slope = following * sum(costs) / sum(works)
    size = len(before)

    def as_before(day: CostDay) -> float:
        place = day.day % WEEK
        count = day_counts[place]
        cost, work = (
            (costs[place] / count, works[place] / count)
            if count
            else (sum(costs) / size, sum(works) / size)
        )
        return cost + slope * (day.work - work)

    return as_before


def _weekday_sums(days: Sequence[CostDay]) -> tuple[list[float], list[float]]:
    """Cost and work by weekday."""
    costs, works = [0.0] * WEEK, [0.0] * WEEK
    for day in days:
        costs[day.day % WEEK] += day.micros
        works[day.day % WEEK] += day.work
    return costs, works


def high_quantile(freedom: int) -> float:
    """The 95th percentile of Student's t, by Fisher's expansion (Abramowitz and Stegun 26.7.5)."""
    normal = NormalDist().inv_cdf(HIGH)
    return normal + (normal**3 + normal) / (4 * freedom)
