"""Series of spot availability are imported whole; plans of running jobs are asked for and solved."""

import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import transaction

from apps.economics.refusal import Refusal
from apps.economics.spot.job import SpotJob
from apps.economics.spot.trace import SpotTrace
from apps.economics.spot.zones import ZoneSet
from apps.logs.changes import answered, logged_change, logged_pass
from apps.placement.models import KeptSpotPlan, SpotSeries
from apps.placement.queries.spot_series import job_of_stored_plan, series_trace

SolveZone = Callable[[SpotJob, SpotTrace], ZoneSet]


class SpotSeriesNotUnderstood(Refusal):
    """A refusal that says what is wrong with a series of spot availability, or with naming one."""


@dataclass(frozen=True, slots=True)
class SpotPlace:
    """Where a series was seen, and of which GPUs; empty where nobody said."""

    provider: str = ""
    region: str = ""
    zone: str = ""
    gpu_model: str = ""
    instance_type: str = ""


@logged_change()
@transaction.atomic
def keep_spot_series(
    *, name: str, trace: SpotTrace, place: SpotPlace, source: str, at: datetime
) -> int:
    """Keep what was seen under a name, in place of what that had; its id. Refuses SpotSeriesNotUnderstood."""
    if not name.strip():
        raise SpotSeriesNotUnderstood("name", "is empty")
    if trace.starts is not None and trace.starts > at.timestamp():
        raise SpotSeriesNotUnderstood("starts_at", "is in the future")
    series, _ = SpotSeries.objects.update_or_create(
        name=name.strip(),
        defaults={
            **asdict(place),
            "starts_at": None
            if trace.starts is None
            else datetime.fromtimestamp(trace.starts, UTC),
            "tick_seconds": trace.tick * 3600,
            "counts": [None if np.isnan(count) else float(count) for count in trace.counts],
            "source": source,
            "imported_at": at,
        },
    )
    KeptSpotPlan.objects.filter(series=series).delete()
    return series.id


@logged_change(count=answered)
@transaction.atomic
def request_spot_plan(*, job_id: int, series_id: int, job: SpotJob, at: datetime) -> bool:
    """Ask a worker for a plan of a running job, in place of one for other times or prices; False where one waits already."""
    fields = {
        "series_id": series_id,
        "work_hours": job.work,
        "deadline_hours": job.deadline,
        "restart_hours": job.restart,
        "checkpoint_hours": job.checkpoint,
        "on_demand": job.on_demand,
        "spot": job.spot,
    }
    waiting = KeptSpotPlan.objects.filter(job_id=job_id, solved_at=None)
    if waiting.update(**fields):
        return False
    fresh: dict[str, Any] = {
        "asked_at": at,
        "solved_at": None,
        "step_hours": None,
        "shape": [],
        "modes": None,
    }
    KeptSpotPlan.objects.update_or_create(job_id=job_id, defaults=fields | fresh | {"thin": ""})
    return True


@logged_pass("solve_spot_plans", count=answered)
def solve_spot_plans(*, solver: SolveZone, clock: Callable[[], datetime]) -> int:
    """Solve what was asked for, the oldest first; how many."""
    solved = 0
    while (count := _solved_next(solver, clock)) is not None:
        solved += count
    return solved


@transaction.atomic
def _solved_next(solver: SolveZone, clock: Callable[[], datetime]) -> int | None:
    waiting = KeptSpotPlan.objects.filter(solved_at=None).order_by("asked_at", "id")
    kept_plan = waiting.select_for_update(skip_locked=True).select_related("series").first()
    if kept_plan is None:
        return None
    zones = solver(job_of_stored_plan(kept_plan), series_trace(kept_plan.series))
    kept_plan.solved_at, kept_plan.thin = clock(), zones.thin
    if zones.plan is not None:
        kept_plan.step_hours = zones.plan.step
        kept_plan.shape = list(zones.plan.modes.shape)
        kept_plan.modes = zlib.compress(zones.plan.modes.tobytes(), 6)
    kept_plan.save()
    return 1
