"""Measured use held against GPUs that are asked for: how many are there already, what more would cost.

Arithmetic alone; the sources of its inputs are in docs/guides/requests.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from apps.economics.hours import HOUR_MS


class GpuReturn(StrEnum):
    """Ways to give back GPUs that are held or paid for already; their times never overlap."""

    DATA_WAIT = "data_wait"
    IDLE = "idle_while_allocated"
    FAILED = "failed_or_redone"
    NO_REQUESTS = "no_requests"
    UNALLOCATED = "unallocated"
    STRANDED = "stranded"
    OUT_OF_SERVICE = "out_of_service"


OF_RUNS = (GpuReturn.DATA_WAIT, GpuReturn.FAILED)
"""Known only of runs that report what their time was spent on."""
ALWAYS_SAID = (*OF_RUNS, GpuReturn.IDLE)
"""Said of work also where it is nothing, or not measured; the others only where there is some."""


@dataclass(frozen=True, slots=True)
class MeasuredUse:
    """GPU-milliseconds over `span_ms` by the clock: held by jobs, observed of it, of runs that report.

    `lost_ms` is what of it (of UNALLOCATED, STRANDED and OUT_OF_SERVICE beside it) each cause took.
    """

    span_ms: int
    held_ms: int = 0
    observed_ms: int = 0
    told_ms: int = 0
    lost_ms: Mapping[GpuReturn, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReturnedGpus:
    """`gpus` = `of_gpus` × `share`, all means over the span; `gpus` None: not measured.

    `of_gpus` and `share` are None where nothing was held and lost: `gpus` is then the time ÷ the span.
    """

    cause: GpuReturn
    gpus: float | None
    of_gpus: float | None = None
    share: float | None = None


def gpu_returns(use: MeasuredUse) -> tuple[ReturnedGpus, ...]:
    """At most how many GPUs would be free without each cause, in the order of GpuReturn.

    Data wait and failures: mean GPUs of the runs that report × their share of that time. Idle while
    allocated and no requests: mean GPUs held × the share. What no job held: its time ÷ the span.
    Refuses ValueError for a span of nothing.
    """
    if use.span_ms <= 0:
        raise ValueError("a span has a length")
    returns = []
    for cause in GpuReturn:
        lost = use.lost_ms.get(cause, 0)
        if lost or (cause in ALWAYS_SAID and use.held_ms):
            returns.append(_returned_by(cause, lost, use))
    return tuple(returns)


def _returned_by(cause: GpuReturn, lost: int, use: MeasuredUse) -> ReturnedGpus:
    if cause not in (*ALWAYS_SAID, GpuReturn.NO_REQUESTS):
        return ReturnedGpus(cause, lost / use.span_ms)
    base = use.told_ms if cause in OF_RUNS else use.held_ms
    if not base or (cause is GpuReturn.IDLE and not use.observed_ms):
        return ReturnedGpus(cause, None)
    return ReturnedGpus(cause, lost / use.span_ms, base / use.span_ms, lost / base)


def returned_together(returns: Iterable[ReturnedGpus]) -> float | None:
    """All of them: they never overlap. None where none is known."""
    gpu_counts = [gpu_return.gpus for gpu_return in returns if gpu_return.gpus is not None]
    return sum(gpu_counts) if gpu_counts else None


def capacity_cost(gpus: int, milliseconds: int, per_gpu_hour_micros: Fraction) -> int:
    """GPUs × hours × the price of a GPU-hour, in micro-units, rounded once and half-even."""
    return round(gpus * Fraction(milliseconds, HOUR_MS) * per_gpu_hour_micros)


def first_productive_hour(
    hours: Iterable[tuple[datetime, int]], most_before_ms: int
) -> datetime | None:
    """The first hour with at least one active GPU-hour more than any hour before delivery held.

    `hours` are active GPU-milliseconds by hour since delivery, `most_before_ms` the most that was held in
    an hour before it. None: not yet.
    """
    enough = most_before_ms + HOUR_MS
    return min((hour for hour, active in hours if active >= enough), default=None)
