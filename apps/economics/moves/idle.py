"""Savings of giving back GPUs that are held idle."""

from collections.abc import Sequence

from apps.economics.moves.saving import (
    MONTH_HOURS,
    WEEK_HOURS,
    SavingRange,
    mean_with_ends,
)

GIVEN_BACK = (0.5, 0.75, 1.0)
"""Of idle time, how much of it can be given back: at least, likely, at most. Assumed where the pauses are not known hour by hour."""
LEAST_IDLE = 0.2
"""Of the time held in a week, from which on it is idle."""
LEAST_WEEKS = 2
PART_OF_WEEKS = 0.75


def is_idle_again(
    idle: Sequence[float], held_hours: Sequence[float], least: float = LEAST_IDLE
) -> bool:
    """Whether a fifth (`least`) of what is held is idle in three of four weeks, and in two at least; GPU-hours, week by week."""
    weeks = sum(
        1
        for idle_hours, of in zip(idle, held_hours, strict=True)
        if of > 0 and idle_hours >= least * of
    )
    return weeks >= max(LEAST_WEEKS, PART_OF_WEEKS * len(held_hours))


def idle_saving(idle: Sequence[float], price: float) -> SavingRange:
    """A month's saving: GPU-hours idle in each week, at the marginal price of one in micro-units.

    The low end is of a week 1.28 standard errors below the mean; on more than was idle nothing is counted.
    """
    low, mean, _ = mean_with_ends(idle)
    scale = price * MONTH_HOURS / WEEK_HOURS
    ends = zip((max(0.0, low), mean, mean), GIVEN_BACK, strict=True)
    return SavingRange(*(round(hours * part * scale) for hours, part in ends))


def measured_saving(weeks: Sequence[float], price: float) -> SavingRange:
    """A month's saving of GPU-hours that were seen to be givable, week by week, at the price of one in micro-units.

    The ends are of a week 1.28 standard errors below and above the mean.
    """
    scale = price * MONTH_HOURS / WEEK_HOURS
    return SavingRange(*(round(max(0.0, hours) * scale) for hours in mean_with_ends(weeks)))
