"""Which jobs carried runs, and when those jobs lived: by what their lines are divided over runs."""

from collections.abc import Collection
from datetime import datetime

from apps.workloads.models import Job, RunSpan

Life = tuple[datetime, datetime | None]


def jobs_carrying(starts_at: datetime, ends_at: datetime) -> list[int]:
    """The jobs that carried any run in `[starts_at, ends_at)`."""
    spans = RunSpan.objects.filter(period__overlap=(starts_at, ends_at))
    return list(spans.order_by("job_id").values_list("job_id", flat=True).distinct())


def lives(job_ids: Collection[int]) -> dict[int, Life]:
    """From when to when each of these jobs ran; None: it may still."""
    found = Job.objects.filter(id__in=job_ids).order_by("id")
    return {
        job_id: (started_at or opened_at, ended_at)
        for job_id, started_at, opened_at, ended_at in found.values_list(
            "id", "started_at", "opened_at", "ended_at"
        )
    }
