"""Whether work fits a smaller GPU, or a slice of the one it has, and what that saves."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from apps.economics.gpu_model import GpuModel, MigProfile
from apps.economics.moves.saving import (
    MachineFill,
    SavingRange,
    WorkWeek,
    elsewhere_points,
    saving_range,
)
from apps.economics.placement.estimates import LikelyRange

MEMORY_MARGIN = 1.2
"""So much more memory than was ever seen used is to be there."""
MOST_WORKED = 0.7
"""What is smaller may work so much of the time in 19 hours of 20; above, requests wait for each other."""
LEAST_COVERAGE = 0.5
"""Of the GPU time that was held, memory was seen in at least so much."""


@dataclass(frozen=True, slots=True)
class GpuNeed:
    """The need of a GPU that work was seen to have: the most bytes on one, and the part of an hour that it worked (p95)."""

    memory_bytes: int
    worked_ratio: float

    def fits(self, memory_bytes: float, speed: float) -> bool:
        """Whether a GPU of this memory does, `speed` times as fast as the one it has.

        The part of the time that it works is taken to grow as speed falls.
        """
        return (
            self.memory_bytes * MEMORY_MARGIN <= memory_bytes
            and self.worked_ratio <= MOST_WORKED * speed
        )


def smallest_slice(model: GpuModel, need: GpuNeed) -> MigProfile | None:
    """The MIG profile that takes least of the GPU and does; None: the model has none, or none less than all of it."""
    if model.mig is None:
        return None
    geometry = model.mig
    fitting = [
        profile
        for profile in geometry.profiles
        if slice_part(model, profile) < 1
        and need.fits(
            model.memory_bytes * profile.memory_slices / geometry.memory_slices,
            profile.compute_slices / geometry.compute_slices,
        )
    ]
    return min(
        fitting, key=lambda profile: (slice_part(model, profile), profile.name), default=None
    )


def slice_part(model: GpuModel, profile: MigProfile) -> float:
    """The part of a GPU that others cannot have: of its compute or of its memory slices, whichever is more."""
    if model.mig is None:
        return 1.0
    return max(
        profile.compute_slices / model.mig.compute_slices,
        profile.memory_slices / model.mig.memory_slices,
    )


def slice_saving(weeks: Sequence[WorkWeek], part: float) -> SavingRange:
    """A month's saving where work takes this part of its GPUs: from nothing to all that is freed, half of it between.

    Who pays for the GPU saves only what other work takes of the rest. Refuses StatisticsError of no week.
    """
    gpu_hours = fmean(week.gpu_hours for week in weeks)
    now = fmean(week.micros for week in weeks) / gpu_hours if gpu_hours else 0.0
    price = LikelyRange(now * part, now * (1 + part) / 2, now)
    return saving_range(elsewhere_points(weeks, price, fill=MachineFill()))
