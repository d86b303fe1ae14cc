"""Where the time of a training run went: every second of it in exactly one bucket."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Bucket(IntEnum):
    """What a second of a run was; where two are told of one second, the lower one holds."""

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


INSIDE = len(Bucket)
"""Beside the buckets, in `buckets_of`: whether a moment is of the run at all."""


@dataclass(frozen=True, slots=True)
class ToldTime:
    """A span, in milliseconds of any one clock, and what somebody said it was."""

    start_ms: int
    end_ms: int
    bucket: Bucket


@dataclass(frozen=True, slots=True)
class RunStep:
    """A training step: its number, and when it began and ended."""

    number: int
    start_ms: int
    end_ms: int


def buckets_of(spans: Sequence[tuple[int, int]], told: Iterable[ToldTime]) -> dict[Bucket, int]:
    """Milliseconds of these spans (that do not overlap) by bucket; what nobody told is UNTOLD.

    They sum to the spans exactly.
    """
    spent: dict[Bucket, int] = {}
    for start, end, bucket in stretches_of(spans, told):
        spent[bucket] = spent.get(bucket, 0) + end - start
    return spent


def stretches_of(
    spans: Sequence[tuple[int, int]], told: Iterable[ToldTime]
) -> list[tuple[int, int, Bucket]]:
    """The same one after the other: from when to when, in milliseconds, it was in which bucket."""
    edges: list[tuple[int, int, int]] = []
    for start, end in spans:
        edges += [(start, INSIDE, 1), (end, INSIDE, -1)]
    for each in (mark for mark in told if mark.start_ms < mark.end_ms):
        edges += [(each.start_ms, each.bucket, 1), (each.end_ms, each.bucket, -1)]
    holding = [0] * (INSIDE + 1)
    found: list[tuple[int, int, Bucket]] = []
    since = 0
    for at, what, by in sorted(edges):
        if holding[INSIDE] and at > since:
            bucket = next((each for each in Bucket if holding[each]), Bucket.UNTOLD)
            found.append((since, at, bucket))
        holding[what] += by
        since = at
    return found


def redone(attempts: Sequence[Sequence[RunStep]]) -> list[ToldTime]:
    """The steps of earlier attempts that a later one did again: they were lost to an interruption.

    An attempt that begins at step k makes every step from k on of those before it lost.
    """
    lost: list[ToldTime] = []
    for place, attempt in enumerate(attempts):
        later = [min(step.number for step in each) for each in attempts[place + 1 :] if each]
        if later:
            first = min(later)
            lost += [
                ToldTime(step.start_ms, step.end_ms, Bucket.LOST)
                for step in attempt
                if step.number >= first
            ]
    return lost


def goodput(spent: Mapping[Bucket, int]) -> float | None:
    """Productive time of all that was told; None where nothing was."""
    told = sum(milliseconds for bucket, milliseconds in spent.items() if bucket != Bucket.UNTOLD)
    return spent.get(Bucket.PRODUCTIVE, 0) / told if told else None


def coverage(spent: Mapping[Bucket, int]) -> float | None:
    """Told time of all of it; None of no time."""
    whole = sum(spent.values())
    return 1 - spent.get(Bucket.UNTOLD, 0) / whole if whole else None
