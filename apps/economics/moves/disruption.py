"""How much a move disturbs, in three classes with their reason, and what that takes off its worth."""

from dataclasses import dataclass
from enum import StrEnum


class DisruptionClass(StrEnum):
    """How much who runs the work notices."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


WORTH_OF_SAVING = {DisruptionClass.LOW: 1.0, DisruptionClass.MEDIUM: 0.8, DisruptionClass.HIGH: 0.5}
"""What of a saving counts against another one: a choice of ours (docs/guides/fleet-moves.md), not measured."""
MANY_INTERRUPTIONS, SOME_INTERRUPTIONS = 30.0, 4.0
"""A month: one a day, one a week."""
MUCH_LOST, SOME_LOST = 0.1, 0.02
"""Of the work's time."""


@dataclass(frozen=True, slots=True)
class MoveDisruption:
    """The class and why; interruptions a month and hours a month of the work's own time lost to them, None: none."""

    level: DisruptionClass
    reason: str
    interruptions_per_month: float | None = None
    restart_hours_per_month: float | None = None


def spot_disruption(interruptions: float, lost_hours: float, work_hours: float) -> MoveDisruption:
    """By how often work is interrupted in a month, and which part of its time it loses; work in hours by the clock."""
    lost = lost_hours / work_hours if work_hours else 0.0
    if interruptions > MANY_INTERRUPTIONS or lost > MUCH_LOST:
        level = DisruptionClass.HIGH
    elif interruptions > SOME_INTERRUPTIONS or lost > SOME_LOST:
        level = DisruptionClass.MEDIUM
    else:
        level = DisruptionClass.LOW
    reason = (
        f"about {interruptions:,.1f} interruptions a month, each begins again from its last checkpoint;"
        f" the work takes {lost * 100:.1f}\N{NO-BREAK SPACE}% longer"
    )
    return MoveDisruption(level, reason, interruptions, lost_hours)


def move_worth(first_year_month: float, level: DisruptionClass) -> float:
    """Return the worth that moves are ordered by: the saving of a month, net of moving, less what disruption takes off it.

    A move that costs more than it saves is not made better by disturbing.
    """
    return first_year_month * WORTH_OF_SAVING[level] if first_year_month > 0 else first_year_month
