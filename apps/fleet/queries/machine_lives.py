"""From when to when machines were there, and whether their cloud took them back."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from apps.fleet.models import RECLAIMED, Node


@dataclass(frozen=True, slots=True)
class MachineLife:
    """One machine of a pool; without an end where it is still there."""

    pool_id: int
    started_at: datetime
    ended_at: datetime | None
    was_reclaimed: bool


def machine_lifetimes(
    pool_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[MachineLife]:
    """The machines of these pools that were there in `[starts_at, ends_at)`, by start, then id; whole lives."""
    nodes = Node.objects.filter(
        pool_id__in=pool_ids, kind="machine", period__overlap=(starts_at, ends_at)
    )
    rows = nodes.order_by("period__startswith", "id")
    return [
        MachineLife(pool_id, period.lower, period.upper, reason == RECLAIMED)
        for pool_id, period, reason in rows.values_list("pool_id", "period", "end_reason")
    ]
