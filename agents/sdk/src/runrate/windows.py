"""What a run did in some seconds, summed up as it happens: a step costs microseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping

MOST_STEP_TIMES = 256
NS_PER_MS = 1_000_000
LONGEST_NS = 24 * 3600 * 10**9
"""No server takes a window of many days."""
Json = dict[str, object]


class Window:
    """Sums over some seconds of a run; times in nanoseconds, `began` of the counter."""

    __slots__ = (
        *("began", "wall", "steps", "first", "last", "tokens", "examples", "flops"),
        *("step_ns", "inside_ns", "phases", "step_times"),
    )

    def __init__(self, began: int, wall: int) -> None:
        """Nothing has happened yet; `wall` is the time of day of `began`, in nanoseconds too."""
        self.began = began
        self.wall = wall
        self.steps = 0
        self.first = -1
        self.last = -1
        self.tokens = 0
        self.examples = 0
        self.flops = 0.0
        self.step_ns = 0
        # What of the steps' time was spent in phases inside them.
        self.inside_ns = 0
        self.phases: dict[str, int] = {}
        self.step_times: list[int] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.steps and not self.phases

    def begin(self, began: int) -> None:
        """It begins with the first thing that it tells."""
        self.wall += began - self.began
        self.began = began

    def told(self, ended: int) -> Json:
        """As it is sent; times in milliseconds, and numbers that JSON can hold."""
        starts_at_ms = self.wall // NS_PER_MS
        return {
            "starts_at_ms": starts_at_ms,
            "ends_at_ms": starts_at_ms + min(max(0, ended - self.began), LONGEST_NS) // NS_PER_MS,
            "steps": self.steps,
            "first_step": count_of(self.first) if self.steps else None,
            "last_step": count_of(self.last) if self.steps else None,
            "tokens": count_of(self.tokens),
            "examples": count_of(self.examples),
            "flops": max(0.0, number_of(self.flops) or 0.0),
            "productive_ms": max(0, self.step_ns - self.inside_ns) // NS_PER_MS,
            "phases_ms": _in_ms(self.phases),
            "step_times_ms": [each / NS_PER_MS for each in self.step_times],
        }


def number_of(value: object) -> float | int | None:
    """A finite number, of whatever library; None where it is none."""
    if isinstance(value, int):
        return value
    number = _float_of(value)
    return number if number is not None and math.isfinite(number) else None


def is_measured(value: object) -> bool:
    """Whether it is a number at all, finite or not: what is none of these says nothing."""
    return _float_of(value) is not None


def count_of(value: object) -> int:
    """A whole number from 0 on, of whatever library; 0 where it is none."""
    number = number_of(value)
    return 0 if number is None else max(0, int(number))


def _float_of(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]  # tensors and arrays of one number too
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):  # the last of tensors of several numbers
        return None


def _in_ms(phases: Mapping[str, int]) -> dict[str, int]:
    return {str(name)[:200]: max(0, spent) // NS_PER_MS for name, spent in phases.items()}
