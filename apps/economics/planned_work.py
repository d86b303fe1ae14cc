"""Planned work by week: GPU-hours of trainings and launches, a forecast carried on, the queue they cause.

Formulas and where their inputs come from are in docs/plans.md. Weeks are of 168 hours from a plan's first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from apps.economics.model_flops import Model, Peak, training_flops_per_token

WEEK_HOURS = 168.0
MONTH_HOURS = 730.5
"""A twelfth of 365.25 days."""


class ImpossibleWork(ValueError):
    """A share of a peak of nothing or above it, or an amount of nothing."""


@dataclass(frozen=True, slots=True)
class QueueWeek:
    """A week of demand against a capacity, in GPU-hours: what is above it, and what waits at its end.

    `wait_hours` is how long what waits then takes on all of the capacity; None where there is none.
    """

    above: float
    backlog: float
    wait_hours: float | None


@dataclass(frozen=True, slots=True)
class WorkSpread:
    """What work may come to as shares of what was entered: less than `low` in one case of ten, more than `high` in one."""

    low: float
    high: float


def training_gpu_hours(parameters: float, tokens: float, peak: Peak, mfu: float) -> float:
    """6·N·D ÷ (dense peak × MFU), in GPU-hours; refuses ImpossibleWork.

    `parameters` are those active on each token; the peak is of one GPU in operations a second.
    """
    if not 0 < mfu <= 1 or tokens <= 0 or parameters <= 0:
        raise ImpossibleWork("a training has parameters and tokens, and an MFU from 0 to 1")
    operations = training_flops_per_token(Model(parameters)) * tokens
    return operations / (peak.flops * mfu) / 3600


def training_weeks(
    gpu_hours: float, gpus: int, begins_hours: float, weeks: int
) -> tuple[float, ...]:
    """GPU-hours by week of work on `gpus` that begins so long after the first week does (or before: below 0)."""
    ends = begins_hours + gpu_hours / gpus
    return tuple(
        gpus * max(0.0, min(ends, (week + 1) * WEEK_HOURS) - max(begins_hours, week * WEEK_HOURS))
        for week in range(weeks)
    )


def launch_weeks(
    requests: Sequence[float], gpu_hours_per_request: float, begins_hours: float, weeks: int
) -> tuple[float, ...]:
    """GPU-hours by week of traffic that is given by its own weeks, and stays as in its last one.

    Each of the plan's weeks gets the hours of each of the traffic's that lie in it.
    """
    found = []
    for week in range(weeks):
        place = (week * WEEK_HOURS - begins_hours) / WEEK_HOURS
        first = int(place // 1)
        later = place - first
        found.append(
            gpu_hours_per_request
            * (
                (1 - later) * _requests_of(requests, first)
                + later * _requests_of(requests, first + 1)
            )
        )
    return tuple(found)


def _requests_of(requests: Sequence[float], week: int) -> float:
    return 0.0 if week < 0 else requests[min(week, len(requests) - 1)]


def forecast_weeks(
    values: Sequence[float],
    value_hours: float,
    begins_hours: float,
    weeks: int,
    growth_per_month: float = 0.0,
) -> tuple[tuple[float, float], ...]:
    """GPU-hours of each week by a forecast, and the share of the week that the forecast has.

    `values` are GPU-hours of spans of `value_hours`, the first begins so long after the plan's first week.
    Before and after it the level of its last seven days holds, growing by so much a month after it.
    """
    kept = max(1, round(WEEK_HOURS / value_hours))
    tail = values[-kept:]
    level = sum(tail) / len(tail) / value_hours
    found = []
    for week in range(weeks):
        total = known = 0.0
        for hour in range(int(WEEK_HOURS)):
            since = week * WEEK_HOURS + hour - begins_hours
            place = int(since // value_hours)
            if 0 <= place < len(values):
                total += values[place] / value_hours
                known += 1
            else:
                beyond = max(0.0, since - len(values) * value_hours)
                total += level * (1 + growth_per_month) ** (beyond / MONTH_HOURS)
        found.append((total, known / WEEK_HOURS))
    return tuple(found)


def price_factors(changes: Sequence[tuple[float, float]], weeks: int) -> tuple[float, ...]:
    """By what each week's price is multiplied: the mean over its hours of all factors that hold.

    `changes` are pairs of when (hours after the first week begins) and by what.
    """
    return tuple(_factor_of_week(week * WEEK_HOURS, changes) for week in range(weeks))


def _factor_of_week(begins: float, changes: Sequence[tuple[float, float]]) -> float:
    ends = begins + WEEK_HOURS
    cuts = sorted({begins, ends, *(at for at, _ in changes if begins < at < ends)})
    total = 0.0
    for start, end in pairwise(cuts):
        factor = 1.0
        for at, by in changes:
            factor *= by if at <= start else 1.0
        total += factor * (end - start)
    return total / WEEK_HOURS


def fluid_queue(demand: Sequence[float], capacity: float) -> tuple[QueueWeek, ...]:
    """Each week's demand against GPU-hours that are there a week, as a fluid: what is above it waits.

    backlog = max(0, backlog before + demand − capacity); wait = backlog ÷ (capacity ÷ 168 h). Work waits in
    order and may be cut anywhere, so this is the least that waits.
    """
    backlog, found = 0.0, []
    for amount in demand:
        backlog = max(0.0, backlog + amount - capacity)
        wait = backlog / capacity * WEEK_HOURS if capacity > 0 else None
        found.append(QueueWeek(max(0.0, amount - capacity), backlog, wait))
    return tuple(found)


def months_of_weeks(first_day: date, amounts: Sequence[float]) -> dict[date, float]:
    """Amounts of weeks by the first day of the month, a seventh to each day."""
    months: dict[date, float] = {}
    for day, amount in ((day, amounts[day // 7] / 7) for day in range(7 * len(amounts))):
        month = (first_day + timedelta(days=day)).replace(day=1)
        months[month] = months.get(month, 0.0) + amount
    return months
