"""A saving as a range: the weighted points of what may come, its ends, its cap, and what moving costs first.

Money is in micro-units of the organisation's currency, of a month of MONTH_HOURS.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, sqrt
from statistics import fmean, stdev

from apps.economics.placement.estimates import LikelyRange

MONTH_HOURS, WEEK_HOURS = 730, 168
YEAR_MONTHS = 12
LOW_END, MIDDLE, HIGH_END = 0.1, 0.5, 0.9
TENTH_OF_NORMAL = 1.2816
"""Standard deviations beyond which a tenth of a normal distribution lies."""
WEIGHTS = (0.25, 0.5, 0.25)
"""Of the low, the likely and the high end of a price or a rate."""
WHOLE_MACHINES = 0.25
"""How likely what a job leaves free of a pool's machines stays free, and is paid. Machines of the market it has alone."""


@dataclass(frozen=True, slots=True)
class SavingPoint:
    """A saving that may come, and how likely beside the others."""

    weight: float
    micros: float


@dataclass(frozen=True, slots=True)
class SavingRange:
    """The p10, the median and the p90 of a saving a month, in micro-units."""

    low: int
    likely: int
    high: int

    def capped(self, most: int) -> "SavingRange":
        """No end above what is spent there."""
        return SavingRange(*(min(end, most) for end in (self.low, self.likely, self.high)))


@dataclass(frozen=True, slots=True)
class WorkWeek:
    """A week of 168 h of a piece of work: what it was charged at the margin, in micro-units, and its GPU-hours."""

    micros: float
    gpu_hours: float


def saving_range(points: Iterable[SavingPoint]) -> SavingRange:
    """The weighted 10th, 50th and 90th percentile: each a point, none between two. Refuses ValueError of no point."""
    ordered = sorted(
        (point for point in points if point.weight > 0), key=lambda point: point.micros
    )
    if not ordered:
        raise ValueError("a saving has points")
    total = sum(point.weight for point in ordered)
    ends = []
    for level in (LOW_END, MIDDLE, HIGH_END):
        below = 0.0
        for point in ordered:
            below += point.weight
            if below >= level * total * (1 - 1e-12):
                break
        ends.append(round(point.micros))
    return SavingRange(*ends)


@dataclass(frozen=True, slots=True)
class MachineFill:
    """GPUs paid for one used where a job is alone on its machines, and how likely it is: else it pays what it uses."""

    whole: float = 1.0
    alone: float = 0.0

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Both, with their weights."""
        return (1.0, 1 - self.alone), (self.whole, self.alone)


def machine_fill(gpus: int, gpus_per_node: int, *, is_market: bool) -> MachineFill:
    """Whole machines over the job's GPUs; of the market always, as nothing else runs on them."""
    machine_factor = ceil(gpus / gpus_per_node) * gpus_per_node / gpus
    return MachineFill(machine_factor, 1.0 if is_market else WHOLE_MACHINES)


def mean_with_ends(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean of weeks, and 1.28 standard errors of it below and above: what a month's weeks come to on average.

    Of one week the error is not known, and the three are the same. Refuses StatisticsError of none.
    """
    mean = fmean(values)
    error = TENTH_OF_NORMAL * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - error, mean, mean + error


def weekly_with_ends(sums: Sequence[float], hours: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its ends of a week of 168 h, of weeks not all as long: each weighs by its hours, none is blown up.

    `sums` are of the weeks, `hours` how many each has. Weeks of one length give the same as `mean_with_ends`.
    """
    total_hours = sum(hours)
    mean = sum(sums) * WEEK_HOURS / total_hours
    weights = [hour / total_hours for hour in hours]
    count = 1 / sum(weight**2 for weight in weights)
    if count <= 1 + 1e-9:
        return mean, mean, mean
    spread = sum(
        weight * (amount * WEEK_HOURS / hour - mean) ** 2
        for weight, amount, hour in zip(weights, sums, hours, strict=True)
        if hour
    )
    error = TENTH_OF_NORMAL * sqrt(spread / (count - 1))
    return mean - error, mean, mean + error


def sums_by_week(weeks: Iterable[int], amounts: Iterable[float]) -> list[tuple[float, int]]:
    """The sum of each week and its number of hours, in order; `weeks` says of each hour in which it is."""
    sums: dict[int, float] = defaultdict(float)
    counts: dict[int, int] = defaultdict(int)
    for week, amount in zip(weeks, amounts, strict=True):
        sums[week] += amount
        counts[week] += 1
    return [(sums[week], counts[week]) for week in sorted(sums)]


def month_of_weeks(weeks: Sequence[tuple[float, int]], price: float) -> SavingRange:
    """A month of what weeks come to on average, at a price, with its ends: nothing is saved below 0.

    `weeks` as `sums_by_week` has them.
    """
    scale = price * MONTH_HOURS / WEEK_HOURS
    ends = weekly_with_ends([amount for amount, _ in weeks], [hours for _, hours in weeks])
    return SavingRange(*(round(max(0.0, end) * scale) for end in ends))


def elsewhere_points(
    weeks: Sequence[WorkWeek],
    price: LikelyRange,
    *,
    fill: MachineFill,
    hours_factor: Sequence[float] = (1.0, 1.0, 1.0),
) -> list[SavingPoint]:
    """Return the savings a month: what is charged now less the same GPU-hours at another price.

    Over the work of a week as it is on average, with its low end: on more work than there was nothing is counted; `price` in micro-units a GPU-hour with its ends; and
    `hours_factor`, how many hours are paid there for one here; each independent of the others.
    """
    scale = MONTH_HOURS / WEEK_HOURS
    mean = WorkWeek(fmean(week.micros for week in weeks), fmean(week.gpu_hours for week in weeks))
    ends = mean_with_ends([week.gpu_hours for week in weeks])
    work = [min(1.0, max(0.0, end / mean.gpu_hours)) if mean.gpu_hours else 1.0 for end in ends]
    cases = product(
        *(zip(axis, WEIGHTS, strict=True) for axis in (work, price.points, hours_factor)), fill.ends
    )
    return [
        SavingPoint(
            work_weight * price_weight * factor_weight * fill_weight,
            part * (mean.micros - mean.gpu_hours * there * factor * filled) * scale,
        )
        for (part, work_weight), (there, price_weight), (factor, factor_weight), (
            filled,
            fill_weight,
        ) in cases
    ]


def monthly(micros: float, hours: float) -> int:
    """Return the amount that a span of so many hours comes to in a month."""
    return round(micros * MONTH_HOURS / hours)


def payback_months(one_time: float | None, saving: SavingRange) -> float | None:
    """Months until the likely saving has paid the move; None where its cost is not known, or never."""
    if one_time is None or saving.likely <= 0:
        return None
    return one_time / saving.likely


def first_year_month(saving: SavingRange, one_time: float | None) -> float:
    """The likely saving of a month of the first year, net of a twelfth of what moving costs, as far as known."""
    return saving.likely - (one_time or 0.0) / YEAR_MONTHS
