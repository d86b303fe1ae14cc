"""What one pass did with one hour."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """`done` is False where another settler has the hour; `changed` and `lines` count rows."""

    done: bool = True
    changed: int = 0
    lines: int = 0


BUSY = Outcome(done=False)
NOTHING = Outcome()
