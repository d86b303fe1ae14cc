"""Power that the GPUs of past runs drew, by model: what like work may be expected to draw."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Sum

from apps.unit_economics.models import RunFigures

FULLY_OBSERVED = 0.9
"""Of a run that was observed less, the energy told is of a part of it."""
SECOND_MS = 1_000


@dataclass(frozen=True, slots=True)
class RunPower:
    """Mean watts of a GPU over so many runs."""

    watts: float
    runs: int


def power_of_runs(starts_at: datetime, ends_at: datetime) -> dict[str, RunPower]:
    """By GPU model, of runs that ended in `[starts_at, ends_at)` and whose meters told all of them."""
    energy_sums = (
        RunFigures.objects.filter(
            ended_at__gte=starts_at,
            ended_at__lt=ends_at,
            energy_joules__gt=0,
            unit_milliseconds__gt=0,
            observed_ratio__gte=FULLY_OBSERVED,
        )
        .exclude(gpu_model="")
        .values_list("gpu_model")
        .annotate(joules=Sum("energy_joules"), held=Sum("unit_milliseconds"), runs=Count("pk"))
        .order_by("gpu_model")
    )
    return {
        model: RunPower(joules / (held_ms / SECOND_MS), runs)
        for model, joules, held_ms, runs in energy_sums
    }
