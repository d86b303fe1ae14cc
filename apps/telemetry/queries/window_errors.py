"""Counts, by day, of what agents sent that could not be kept."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Max, Sum

from apps.telemetry.models import WindowRejection


@dataclass(frozen=True, slots=True)
class RejectionCount:
    """How often, since a day, windows were refused for a reason; or, `kept`, a field left out."""

    agent_id: int
    node: str
    field: str
    reason: str
    kept: bool
    count: int
    last_at: datetime


def rejections_by_agent(since: date) -> list[RejectionCount]:
    """By agent, the most frequent first."""
    rows = (
        WindowRejection.objects.filter(day__gte=since)
        .values_list("agent_id", "agent__node__name", "field", "reason", "kept")
        .annotate(total=Sum("count"), last=Max("last_at"))
        .order_by("agent_id", "-total", "field", "reason", "kept")
    )
    return [RejectionCount(*row) for row in rows]
