"""Where the time of a training run went: every second of it in exactly one bucket."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Bucket(IntEnum):
    """The kind of a run's second; the numbers are kept, so a new one comes last."""

    FAILED = 0
    LOST = 1
    RECOVERY = 2
    CHECKPOINT = 3
    DATA_WAIT = 4
    COMMUNICATION = 5
    STARTUP = 6
    PRODUCTIVE = 7
    CAPACITY_WAIT = 8
    IDLE_AFTER_END = 9
    UNTOLD = 10
    DIVERGED = 11


PRECEDENCE = (Bucket.DIVERGED, *(bucket for bucket in Bucket if bucket is not Bucket.DIVERGED))
"""Where two are told of one second, the first of these holds."""
FAILED_OR_REDONE = frozenset({Bucket.DIVERGED, Bucket.FAILED, Bucket.LOST})
"""Waste, whatever its GPUs did meanwhile."""
INSIDE = len(Bucket)
"""Beside the buckets: whether a moment is of the run at all."""


@dataclass(frozen=True, slots=True)
class ReportedTime:
    """A span, in milliseconds of any one clock, and what somebody said it was."""

    start_ms: int
    end_ms: int
    bucket: Bucket


def stretches_of(
    spans: Sequence[tuple[int, int]], reported_times: Iterable[ReportedTime]
) -> list[tuple[int, int, Bucket]]:
    """From when to when, in milliseconds, these spans (that do not overlap) were in which bucket.

    One after the other; what nobody told is UNTOLD, so that they sum to the spans exactly.
    """
    edges: list[tuple[int, int, int]] = []
    for start, end in spans:
        edges += [(start, INSIDE, 1), (end, INSIDE, -1)]
    for reported_time in (mark for mark in reported_times if mark.start_ms < mark.end_ms):
        edges += [
            (reported_time.start_ms, reported_time.bucket, 1),
            (reported_time.end_ms, reported_time.bucket, -1),
        ]
    holding = [0] * (INSIDE + 1)
    stretches: list[tuple[int, int, Bucket]] = []
    since = 0
    for at, what, by in sorted(edges):
        if holding[INSIDE] and at > since:
            bucket = next(
                (candidate for candidate in PRECEDENCE if holding[candidate]), Bucket.UNTOLD
            )
            stretches.append((since, at, bucket))
        holding[what] += by
        since = at
    return stretches


LEAST_TOLD = 0.5
"""Of time of which less than that was told nothing is concluded."""


def in_every_bucket(times: Sequence[int]) -> tuple[int, ...]:
    """Times by bucket as they are kept; of a bucket that is younger than these there is none."""
    return (*times, *[0] * (len(Bucket) - len(times)))


def goodput(spent: Mapping[Bucket, int]) -> float | None:
    """Productive time of all that was told; None where nothing was."""
    reported_ms = sum(
        milliseconds for bucket, milliseconds in spent.items() if bucket != Bucket.UNTOLD
    )
    return spent.get(Bucket.PRODUCTIVE, 0) / reported_ms if reported_ms else None


def goodput_if_reported(ratio: float | None, told_ratio: float | None) -> float | None:
    """A goodput of what was told, where that is most of the time (`LEAST_TOLD`); None where nobody knows what the rest was."""
    return ratio if told_ratio is not None and told_ratio >= LEAST_TOLD else None


def coverage(spent: Mapping[Bucket, int]) -> float | None:
    """Told time of all of it; None of no time."""
    total_ms = sum(spent.values())
    return 1 - spent.get(Bucket.UNTOLD, 0) / total_ms if total_ms else None
