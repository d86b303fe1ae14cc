"""Marked hours in which nothing lived and nothing is owed: they need no pass.

A price, or a rule, holds from a day on until today, and so it marks hours of a pool that ended long
ago. To charge one such hour costs what charging a small fleet's does, and a year has thousands.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.economics.hours import HOUR
from apps.economics.spans import END_OF_TIME, joined_spans
from apps.fleet import queries as fleet
from apps.ledger.queries.due import open_hours_marked
from apps.ledger.queries.tables import rows
from apps.logs.changes import answered, logged_change
from apps.marks.actions import clear
from apps.marks.queries import Pass, marks_by_hour
from apps.pricing.queries import owed_spans

AT_LEAST = 6
"""Below as many hours the pass itself is quick enough."""
Span = tuple[datetime, datetime | None]


@logged_change(count=answered)
def lift_empty_hours(*, before: datetime) -> int:
    """Lift the charge marks of open hours that have nothing to charge and no charge; how many hours.

    The marks are read before the facts, and lifted only as they were read: a fact that comes
    meanwhile has marked its hours anew.
    """
    with transaction.atomic():
        marked = open_hours_marked(Pass.CHARGE, before)
        if len(marked) < AT_LEAST:
            return 0
        marks = marks_by_hour(Pass.CHARGE, marked)
        hours = _outside(marked, [*fleet.node_lifetime_spans(), *owed_spans()])
        empty = set(hours) - _charged(hours)
        clear(Pass.CHARGE, {hour: marks[hour] for hour in empty if hour in marks})
    return len(empty)


def _outside(hours: Sequence[datetime], spans: Sequence[Span]) -> list[datetime]:
    joined = joined_spans((since, until or END_OF_TIME) for since, until in spans)
    ends = [until for _, until in joined]

    def is_outside(hour: datetime) -> bool:
        place = bisect_right(ends, hour)
        return place == len(joined) or joined[place][0] >= hour + HOUR

    return [hour for hour in hours if is_outside(hour)]


def _charged(hours: Sequence[datetime]) -> set[datetime]:
    """Those that have a charge, or for which a bill or a call asks one."""
    hour_rows = rows(
        """
        SELECT hour FROM ledger_charge WHERE hour = ANY(%(hours)s)
        UNION SELECT hour FROM ledger_billedhour WHERE hour = ANY(%(hours)s)
        UNION SELECT hour FROM ledger_billedcharge WHERE hour = ANY(%(hours)s)
        UNION SELECT hour FROM ledger_apihour WHERE hour = ANY(%(hours)s)
        """,
        {"hours": list(hours)},
    )
    return {hour for (hour,) in hour_rows}
