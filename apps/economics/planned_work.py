"""Planned work by day: GPU-hours of trainings and launches, a forecast carried on, the queue they cause.

Formulas and where their inputs come from are in docs/guides/plans.md. Amounts are by scenario and day of a plan; one row
where nothing is uncertain. A day has the hours that its clocks show, 23 or 25 where they are turned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import NormalDist
from zlib import crc32

import numpy as np
import numpy.typing as npt

from apps.economics.forecast.names import SCENARIOS
from apps.economics.model_flops import Model, Peak, training_flops_per_token

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
WEEK = 7
MONTH_DAYS = 30.4375
"""A twelfth of 365.25 days."""
BAND_LEVELS = (0.1, 0.5, 0.9)


class ImpossibleWork(ValueError):
    """A share of a peak of nothing or above it, or an amount of nothing."""


@dataclass(frozen=True, slots=True)
class WorkSpread:
    """The spread of work in shares of what was entered: less than `low` in one case of ten, more than `high` in one."""

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


@dataclass(frozen=True, slots=True)
class PlanBand:
    """A figure in one case of ten less than `low`, as likely above as below `likely`, in one of ten above `high`.

    `low` and `high` are None where nobody knows how uncertain it is.
    """

    low: float | None
    likely: float
    high: float | None


def bands_of(amounts: Floats) -> list[PlanBand]:
    """Of each column its band over the scenarios; without low and high where there is one row."""
    if len(amounts) == 1:
        return [PlanBand(None, float(value), None) for value in amounts[0]]
    levels = np.quantile(amounts, BAND_LEVELS, axis=0).T
    return [PlanBand(*map(float, level)) for level in levels]


def spread_shares(name: str, spread: WorkSpread | None) -> Floats:
    """By scenario what the work of this name comes to as a share of what was entered; 1 alone without a spread.

    A logarithmic normal on either side of 1, of which one tenth lies below `low` and one above `high`. Each name has its
    own order of the scenarios: works are independent of each other and of the forecast.
    """
    if spread is None:
        return np.ones(1)
    normal = NormalDist()
    places = (np.arange(SCENARIOS) + 0.5) / SCENARIOS
    distances = np.array([normal.inv_cdf(place) for place in places]) / normal.inv_cdf(0.9)
    shares = np.where(
        distances < 0,
        spread.low ** np.maximum(-distances, 0.0),
        spread.high ** np.maximum(distances, 0.0),
    )
    mixed: Floats = np.random.default_rng(crc32(name.encode())).permutation(shares)
    return mixed


def training_days(gpu_hours: Floats, gpus: int, begins_hours: float, day_hours: Floats) -> Floats:
    """GPU-hours by scenario and day of work on `gpus` that begins so long after the first day does (or before: below 0).

    `gpu_hours` are by scenario all that it takes.
    """
    edges = np.concatenate([[0.0], np.cumsum(day_hours)])
    ends = begins_hours + gpu_hours[:, None] / gpus
    worked_hours = np.minimum(ends, edges[1:]) - np.maximum(begins_hours, edges[:-1])
    days: Floats = gpus * np.maximum(0.0, worked_hours)
    return days


def launch_days(
    requests_by_week: Sequence[float], gpu_hours_per_request: float, begins_on: int, days: int
) -> Floats:
    """GPU-hours by day of traffic that begins on this day of the plan, and stays as in its last week.

    Each day has a seventh of its week's, whatever its hours: people make requests by the day.
    """
    since = np.arange(days) - begins_on
    week = np.clip(since // WEEK, 0, len(requests_by_week) - 1)
    by_day = np.asarray(requests_by_week, dtype=np.float64)[week] / WEEK
    hours: Floats = np.where(since < 0, 0.0, by_day * gpu_hours_per_request)
    return hours


def carried_days(totals: Floats, begins_on: int, days: int, growth_per_month: float) -> Floats:
    """Return a forecast by scenario and day, carried to the days of a plan; its first day is this one of the plan.

    After it the level of its last seven days holds, growing by so much a month; before it that of its first seven.
    """
    place = np.arange(days) - begins_on
    length = totals.shape[1]
    first, last = (
        part.mean(axis=1, keepdims=True) for part in (totals[:, :WEEK], totals[:, -WEEK:])
    )
    beyond = np.maximum(0.0, place - length + 0.5) / MONTH_DAYS
    carried: Floats = np.where(
        place < 0,
        first,
        np.where(
            place >= length,
            last * (1 + growth_per_month) ** beyond,
            totals[:, np.clip(place, 0, length - 1)],
        ),
    )
    return carried


def fluid_backlog(demand: Floats, capacity: Floats) -> Floats:
    """By scenario what waits at the end of each day, of GPU-hours a day above those that are there, as a fluid.

    backlog = max(0, backlog before + demand − capacity). Work waits in order and may be cut anywhere, so this is the
    least that waits.
    """
    backlog = np.zeros(len(demand))
    backlogs = np.empty_like(demand)
    for day in range(demand.shape[1]):
        backlog = np.maximum(0.0, backlog + demand[:, day] - capacity[day])
        backlogs[:, day] = backlog
    return backlogs


def week_starts(days: int) -> Ints:
    """The days of a plan with which its weeks begin."""
    return np.arange(0, days, WEEK)


def month_starts(first_day: date, days: int) -> Ints:
    """The days of a plan with which a month, or the plan, begins."""
    begins = [day for day in range(days) if day == 0 or (first_day + timedelta(days=day)).day == 1]
    return np.array(begins, dtype=np.int64)


def sums_of_spans(amounts: Floats, starts: Ints) -> Floats:
    """By scenario the sums of the days from each of `starts` to the next."""
    sums: Floats = np.add.reduceat(amounts, starts, axis=1)
    return sums


def ends_of_spans(amounts: Floats, starts: Ints) -> Floats:
    """By scenario the last day before each next of `starts`."""
    ends: Floats = amounts[:, np.append(starts[1:], amounts.shape[1]) - 1]
    return ends
