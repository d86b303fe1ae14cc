"""Until when the ranks of a run told of their steps."""

from datetime import datetime

from django.db.models import Max

from apps.workloads.models import RunProgress


def steps_told_until(run_id: int, ends_at: datetime) -> datetime | None:
    """When the last step before `ends_at` that any rank told of was over; None: none was told."""
    told = RunProgress.objects.filter(
        attempt__run_id=run_id, steps__gt=0, starts_at__lt=ends_at
    ).aggregate(until=Max("ends_at"))
    until: datetime | None = told["until"]
    return until
