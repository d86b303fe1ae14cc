"""Which hours wait for which pass."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Min

from apps.fleet.models import ChangedHour, ChangedRange, Pass

__all__ = ["MarkFact", "Pass", "hours_marked", "marks_of_hour", "pending_hours"]


@dataclass(frozen=True, slots=True)
class MarkFact:
    """A mark as read before the facts; it may be lifted only at this revision."""

    unit: int
    revision: int


def hours_marked(pass_: Pass, before: datetime, limit: int) -> list[datetime]:
    """Up to `limit` distinct hours that begin before `before` and wait for `pass_`, oldest first."""
    marked = ChangedHour.objects.filter(pass_id=pass_, hour__lt=before)
    return list(marked.order_by("hour").values_list("hour", flat=True).distinct()[:limit])


def marks_of_hour(pass_: Pass, hour: datetime) -> list[MarkFact]:
    """The marks of one hour, by unit: read them before the facts."""
    marked = ChangedHour.objects.filter(pass_id=pass_, hour=hour).order_by("unit")
    return [MarkFact(*row) for row in marked.values_list("unit", "revision")]


def pending_hours(at: datetime, starts_at: datetime | None = None) -> int:
    """How many hours in `[starts_at, at)` wait for any pass but the roll-up (None: since ever)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FROM (
                SELECT hour FROM fleet_changedhour
                WHERE pass_id <> %(rollup)s AND hour < %(at)s AND hour >= %(from)s
                UNION
                SELECT hour FROM fleet_changedrange, generate_series(
                    greatest(starts_at, date_trunc('hour', %(from)s::timestamptz)),
                    least(ends_at, %(at)s) - interval '1 microsecond', interval '1 hour'
                ) AS hour
                WHERE pass_id <> %(rollup)s AND hour >= %(from)s
            ) AS waiting
            """,
            {"rollup": int(Pass.ROLLUP), "at": at, "from": starts_at or _first_pending(at)},
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _first_pending(at: datetime) -> datetime:
    hour = ChangedHour.objects.aggregate(first=Min("hour"))["first"]
    start = ChangedRange.objects.aggregate(first=Min("starts_at"))["first"]
    return min((moment for moment in (hour, start) if moment is not None), default=at)
