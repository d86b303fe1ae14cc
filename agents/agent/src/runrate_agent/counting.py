"""Counters that only grow, until they begin anew."""

from __future__ import annotations


class Counter:
    """A number that only grows: what it grew by, None where it began anew or said nothing."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last: float | None = None

    def grown(self, value: float | None) -> float | None:
        """Since the last time it said something."""
        before = self.last
        if value is not None:
            self.last = value
        if value is None or before is None or value < before:
            return None
        return value - before
