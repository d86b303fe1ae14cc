"""Series of spot availability as they were imported, and plans that workers solved."""

import zlib

import numpy as np

from apps.economics.spot.job import SpotJob
from apps.economics.spot.plan import SpotPlan
from apps.economics.spot.trace import SpotTrace
from apps.placement.models import KeptSpotPlan, SpotSeries


def series_trace(series: SpotSeries) -> SpotTrace:
    """Return what was seen of spot in a series, as arithmetic takes it."""
    counts = np.array([np.nan if count is None else count for count in series.counts])
    starts = None if series.starts_at is None else series.starts_at.timestamp()
    return SpotTrace(series.name, series.tick_seconds / 3600, counts, starts)


def spot_series_named(name: str) -> SpotSeries | None:
    """The series of this name."""
    return SpotSeries.objects.filter(name=name).first()


def all_spot_series() -> list[SpotSeries]:
    """Every series, by name."""
    return list(SpotSeries.objects.order_by("name"))


def stored_spot_plan(job_id: int, series_id: int) -> KeptSpotPlan | None:
    """Return the spot plan that is kept for a job in this series, solved or not."""
    return KeptSpotPlan.objects.filter(job_id=job_id, series_id=series_id).first()


def job_of_stored_plan(kept_plan: KeptSpotPlan) -> SpotJob:
    """The job that a plan is asked or kept for."""
    return SpotJob(
        kept_plan.work_hours,
        kept_plan.deadline_hours,
        kept_plan.restart_hours,
        kept_plan.on_demand,
        kept_plan.spot,
        kept_plan.checkpoint_hours,
    )


def solved_spot_plan(kept_plan: KeptSpotPlan) -> SpotPlan | None:
    """The plan itself; None where none was solved, or history is too thin for one."""
    if kept_plan.modes is None or kept_plan.step_hours is None:
        return None
    modes = np.frombuffer(zlib.decompress(bytes(kept_plan.modes)), np.int8).reshape(kept_plan.shape)
    return SpotPlan(job_of_stored_plan(kept_plan), kept_plan.step_hours, modes, np.zeros(0))
