"""Marked hours to take up now, and those that wait because their month is closed."""

from collections.abc import Collection, Iterable
from datetime import date, datetime

from apps.ledger.queries.closes.months import closed_spans, spans_of_months
from apps.ledger.queries.tables import rows
from apps.marks.queries import OF_CORRECTIONS, Pass, hours_marked, marks_of_hour, pending_hours

AT_ONCE = 100_000
WHATEVER_IS_CLOSED = (Pass.USAGE, Pass.CALLS, Pass.BILLS, *OF_CORRECTIONS)
"""Usage is kept, calls are priced, bills are reconciled and corrections are summed of closed months too."""


def hours_due(pass_: Pass, at: datetime) -> list[datetime]:
    """Marked hours that have begun and may be done, newest first: people look at today."""
    return due_hours_marked(pass_, at)[::-1]


def due_hours_marked(pass_: Pass, before: datetime) -> list[datetime]:
    """Marked hours that begin before and may be done, oldest first: of open months as a rule."""
    if pass_ in WHATEVER_IS_CLOSED:
        return hours_marked(pass_, before, AT_ONCE)
    return open_hours_marked(pass_, before)


def open_hours_marked(pass_: Pass, before: datetime) -> list[datetime]:
    """Marked hours of open months that begin before, oldest first."""
    return open_hours(hours_marked(pass_, before, AT_ONCE))


def open_hours(hours: Iterable[datetime]) -> list[datetime]:
    """Those of `hours` whose month is not closed."""
    spans = closed_spans()
    return [hour for hour in hours if not any(span.holds(hour) for span in spans)]


def open_pending_hours(starts_at: datetime, ends_at: datetime, closed: Collection[date]) -> int:
    """How many hours of open months in `[starts_at, ends_at)` wait for any pass that does an hour.

    `closed` are the months that are closed.
    """
    spans = [
        (max(span.starts_at, starts_at), min(span.ends_at, ends_at))
        for span in spans_of_months(closed)
    ]
    return pending_hours(ends_at, starts_at) - sum(
        pending_hours(until, since) for since, until in spans if since < until
    )


def resting(hours: Collection[datetime], since: datetime) -> set[datetime]:
    """Those of `hours` whose lines were written after `since` and where no marked node lacks any.

    A node-hour that was never settled does not wait for others.
    """
    hour_rows = rows(
        """
        SELECT hour FROM ledger_settlement
        WHERE hour = ANY(%(hours)s) AND superseded_at IS NULL
        GROUP BY hour HAVING max(settled_at) > %(since)s
        """,
        {"hours": list(hours), "since": since},
    )
    return {hour for (hour,) in hour_rows if not _has_unsettled_nodes(hour)}


def _has_unsettled_nodes(hour: datetime) -> bool:
    marked = [mark.unit for mark in marks_of_hour(Pass.SPLIT, hour)]
    (count,) = rows(
        """
        SELECT count(*) FROM ledger_charge AS charge
        WHERE charge.hour = %(hour)s AND charge.node_id = ANY(%(nodes)s) AND NOT EXISTS (
            SELECT 1 FROM ledger_settlement AS held
            WHERE held.node_id = charge.node_id AND held.hour = charge.hour
              AND held.superseded_at IS NULL)
        """,
        {"hour": hour, "nodes": marked},
    )[0]
    return bool(count)
