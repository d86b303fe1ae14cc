"""The outcome of one pass over one hour."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """`done` is False where another settler has the hour; `changed` and `lines` count rows.

    `is_kept` where the month is closed: nothing was done, and what was marked still is. So it is
    where it raised a `problem`.
    """

    done: bool = True
    is_kept: bool = False
    changed: int = 0
    lines: int = 0
    problem: Exception | None = None


BUSY = Outcome(done=False)
NOTHING = Outcome()
KEPT = Outcome(is_kept=True)
