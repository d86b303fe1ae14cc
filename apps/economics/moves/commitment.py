"""Savings of committing to GPUs that are rented by the hour all along: never more than nearly always run."""

from collections.abc import Sequence

from apps.economics.moves.saving import (
    MONTH_HOURS,
    WEIGHTS,
    SavingPoint,
    SavingRange,
    mean_with_ends,
    saving_range,
)

FLOOR_LEVEL = 0.1
"""Nine hours in ten at least so many are rented."""


def demand_floor(hours: Sequence[float]) -> float:
    """The 10th percentile of GPUs by the hour, no interpolation; 0 of no hour."""
    ordered = sorted(hours)
    return ordered[int(FLOOR_LEVEL * len(ordered))] if ordered else 0.0


def commitment_saving(
    weeks: Sequence[Sequence[float]], gpus: float, *, on_demand: float, rate: float
) -> SavingRange:
    """Return the savings a month of `gpus` committed at `rate`: of each week what they replace, less what they cost anyway.

    `weeks` are GPUs rented by the hour; prices are micro-units a GPU-hour.
    """
    saved = [
        (sum(min(rented, gpus) for rented in week) / len(week) * on_demand - gpus * rate)
        * MONTH_HOURS
        for week in weeks
        if week
    ]
    return saving_range(
        SavingPoint(weight, end) for end, weight in zip(mean_with_ends(saved), WEIGHTS, strict=True)
    )
