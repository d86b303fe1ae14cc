"""The cost on spot of work that ran on demand: the hours that interruptions add, at the cadence it has.

Hours; rates are interruptions of the whole job in an hour.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.checkpoints import best_cadence, is_worth_saying
from apps.economics.moves.saving import (
    MachineFill,
    SavingRange,
    WorkWeek,
    elsewhere_points,
    saving_range,
)
from apps.economics.placement.estimates import LikelyRange
from apps.economics.placement.wall_time import interrupted


@dataclass(frozen=True, slots=True)
class CheckpointHabit:
    """As a job was measured: hours that a checkpoint blocks, between two, and that a start takes."""

    write: float
    cadence: float
    restart: float


@dataclass(frozen=True, slots=True)
class SpotMove:
    """`paid_factor` are hours paid on spot for one on demand; the rest is of an hour of the job on demand.

    `advised_cadence` is the best one where today's is more than three times off, else None.
    """

    saving: SavingRange
    paid_factor: float
    interruptions_per_hour: float
    lost_hours_per_hour: float
    advised_cadence: float | None


def spot_move(
    weeks: Sequence[WorkWeek],
    price: LikelyRange,
    rate: LikelyRange,
    habit: CheckpointHabit,
    *,
    wait: float,
    fill: MachineFill,
) -> SpotMove:
    """Return the move of this work to spot, checkpoints as they are. Refuses NeverFinishes and NotACadence."""
    stretch = habit.cadence + habit.write
    walls = [
        interrupted(
            work=habit.cadence,
            cadence=habit.cadence,
            write=habit.write,
            mtbf=1 / point,
            restart=habit.restart,
            wait=wait,
        )
        for point in rate.points
        if point > 0
    ]
    # A rate of nothing at the low end interrupts nothing.
    factors = [1.0] * (3 - len(walls)) + [wall.paid / stretch for wall in walls]
    likely = walls[len(walls) - 2] if len(walls) > 1 else None
    points = elsewhere_points(weeks, price, fill=fill, hours_factor=factors)
    best = best_cadence(habit.write, 1 / rate.likely) if habit.write and rate.likely else None
    off = best is not None and is_worth_saying(habit.cadence, best)
    return SpotMove(
        saving=saving_range(points),
        paid_factor=factors[1],
        interruptions_per_hour=likely.interruptions / stretch if likely else 0.0,
        lost_hours_per_hour=(likely.mean / stretch - 1) if likely else 0.0,
        advised_cadence=best if off else None,
    )
