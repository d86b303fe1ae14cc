"""How much runs trained in a span of time."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Sum

from apps.workloads.models import RunHour


def tokens_kept(run_ids: Collection[int], starts_at: datetime, ends_at: datetime) -> int:
    """Tokens of steps of these runs in `[starts_at, ends_at)` that were not done again later."""
    told = RunHour.objects.filter(
        run_id__in=run_ids, hour__gte=starts_at, hour__lt=ends_at
    ).aggregate(tokens=Sum("tokens"))
    return int(told["tokens"] or 0)
