"""Spans of time, each from a beginning up to an end: put together, or one taken out of another."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

Moment = TypeVar("Moment", int, datetime)
END_OF_TIME = datetime.max.replace(tzinfo=UTC)
"""In the place of an end that a span does not have."""


def joined_spans(spans: Iterable[tuple[Moment, Moment]]) -> list[tuple[Moment, Moment]]:
    """Return the time of the spans in as few spans as it takes, in order."""
    merged: list[tuple[Moment, Moment]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        elif start < end:
            merged.append((start, end))
    return merged


def spans_without(
    spans: Sequence[tuple[Moment, Moment]], taken: Sequence[tuple[Moment, Moment]]
) -> list[tuple[Moment, Moment]]:
    """Return the parts of `spans` that are in none of `taken`; both apart and in order."""
    left: list[tuple[Moment, Moment]] = []
    for start, end in spans:
        at = start
        for since, until in taken:
            if until > at and since < end:
                if since > at:
                    left.append((at, since))
                at = until
        if at < end:
            left.append((at, end))
    return left
