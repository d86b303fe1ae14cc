"""Hours that wait, and the pass that each waits for."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from django.db import connection
from django.db.models import Count, Min, Q

from apps.marks.models import ChangedHour, ChangedRange, Pass

OF_OWN_MONTH = (Pass.ROLLUP, Pass.DIVIDE)
"""The passes that do a local day as it stands in its own month."""
OF_CORRECTIONS = (Pass.ROLLUP_CORRECTIONS, Pass.DIVIDE_CORRECTIONS)
"""The passes that do what later months post of a local day, whether or not its own is closed."""
OF_DAYS = (*OF_OWN_MONTH, *OF_CORRECTIONS)
"""The passes that do a local day, of which their marks name the first hour."""
OF_HOURS = tuple(pass_ for pass_ in Pass if pass_ not in OF_DAYS)
"""The passes that do an hour."""


class BillUnit(IntEnum):
    """Units that bills over a marked hour go by: who bore which name, or what time cost.

    Twins: bills there are may be the same money, which nobody asked about yet.
    """

    NAMES = 0
    WEIGHTS = 1
    TWINS = 2


@dataclass(frozen=True, slots=True)
class MarkFact:
    """A mark as read before the facts; it may be lifted only at this revision."""

    unit: int
    revision: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many marks a pass has, and the oldest hour among them."""

    pass_name: str
    marks: int
    oldest: datetime | None


def hours_marked(pass_: Pass, before: datetime, limit: int) -> list[datetime]:
    """Up to `limit` distinct hours that begin before `before` and wait for `pass_`, oldest first."""
    marked = ChangedHour.objects.filter(pass_id=pass_, hour__lt=before)
    return list(marked.order_by("hour").values_list("hour", flat=True).distinct()[:limit])


def marks_of_hour(pass_: Pass, hour: datetime) -> list[MarkFact]:
    """The marks of one hour, by unit: read them before the facts."""
    return marks_by_hour(pass_, [hour]).get(hour, [])


def marks_by_hour(pass_: Pass, hours: Collection[datetime]) -> dict[datetime, list[MarkFact]]:
    """The marks of those of `hours` that have any, in order, by unit: read them before the facts."""
    facts_by_hour: dict[datetime, list[MarkFact]] = {}
    marked = ChangedHour.objects.filter(pass_id=pass_, hour__in=hours).order_by("hour", "unit")
    for hour, *row in marked.values_list("hour", "unit", "revision"):
        facts_by_hour.setdefault(hour, []).append(MarkFact(*row))
    return facts_by_hour


def units_marked(pass_: Pass, hours: Collection[datetime]) -> dict[datetime, int]:
    """How many marks each of these hours has, of those that have any."""
    marked = ChangedHour.objects.filter(pass_id=pass_, hour__in=hours)
    return dict(marked.values_list("hour").annotate(units=Count("unit")).order_by("hour"))


def pending_hours(
    at: datetime, starts_at: datetime | None = None, of: Collection[Pass] = OF_HOURS
) -> int:
    """How many hours in `[starts_at, at)` wait for any of these passes (None: since ever)."""
    passes = [int(pass_) for pass_ in of]
    with connection.cursor() as cursor:
        # From marked hour to marked hour: one may have a mark for each of thousands of nodes, and
        # most have none.
        cursor.execute(
            """
            WITH RECURSIVE marked (pass, hour) AS (
                SELECT pass, (SELECT min(mark.hour) FROM fleet_changedhour AS mark
                              WHERE mark.pass_id = pass
                                AND mark.hour >= %(from)s AND mark.hour < %(at)s)
                FROM unnest(%(passes)s::int2[]) AS pass
                UNION ALL
                SELECT pass, (SELECT min(mark.hour) FROM fleet_changedhour AS mark
                              WHERE mark.pass_id = marked.pass
                                AND mark.hour > marked.hour AND mark.hour < %(at)s)
                FROM marked WHERE hour IS NOT NULL
            )
            SELECT count(*) FROM (
                SELECT hour FROM marked WHERE hour IS NOT NULL
                UNION
                SELECT generate_series(
                    date_trunc('hour', greatest(starts_at, %(from)s)
                               + interval '1 hour' - interval '1 microsecond'),
                    least(ends_at, %(at)s) - interval '1 microsecond', interval '1 hour'
                )
                FROM fleet_changedrange WHERE pass_id = ANY(%(passes)s::int2[])
            ) AS waiting
            """,
            {"passes": passes, "at": at, "from": starts_at or _first_pending(passes, at)},
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def days_marked(starts_at: datetime, ends_at: datetime) -> int:
    """How many local days with their first hour in `[starts_at, ends_at)` wait for any of OF_OWN_MONTH."""
    return _distinct_hours(OF_OWN_MONTH, hour__gte=starts_at, hour__lt=ends_at)


def days_unsummed(starts_at: datetime, ends_at: datetime) -> int:
    """`days_marked`, and the local days whose corrections wait to be summed or divided, whenever they were."""
    own_month = Q(pass_id__in=OF_OWN_MONTH, hour__gte=starts_at, hour__lt=ends_at)
    corrected = Q(pass_id__in=OF_CORRECTIONS)
    days = ChangedHour.objects.filter(own_month | corrected).aggregate(
        own=Count("hour", distinct=True, filter=own_month),
        corrected=Count("hour", distinct=True, filter=corrected),
    )
    return int(days["own"]) + int(days["corrected"])


def days_marked_of(first_hours: Collection[datetime], pool_ids: Collection[int]) -> int:
    """How many of the days with these first hours wait for any of OF_DAYS, of any of these pools."""
    return _distinct_hours(OF_DAYS, hour__in=first_hours, unit__in=pool_ids)


def _distinct_hours(passes: Collection[Pass], **conditions: object) -> int:
    marked = ChangedHour.objects.filter(pass_id__in=passes, **conditions)
    return int(marked.aggregate(hours=Count("hour", distinct=True))["hours"])


def waiting_by_pass() -> list[Waiting]:
    """Every pass, also those with nothing to do."""
    counted = ChangedHour.objects.values("pass_id").annotate(marks=Count("unit"), first=Min("hour"))
    rows_by_pass = {row["pass_id"]: row for row in counted.order_by("pass_id")}
    return [
        Waiting(pass_.name.lower(), rows_by_pass[pass_]["marks"], rows_by_pass[pass_]["first"])
        if pass_ in rows_by_pass
        else Waiting(pass_.name.lower(), 0, None)
        for pass_ in Pass
    ]


def _first_pending(passes: list[int], at: datetime) -> datetime:
    marked = [
        ChangedHour.objects.filter(pass_id=pass_).aggregate(first=Min("hour"))["first"]
        for pass_ in passes
    ]
    ranges = ChangedRange.objects.filter(pass_id__in=passes).aggregate(first=Min("starts_at"))
    return min((first for first in (*marked, ranges["first"]) if first is not None), default=at)
