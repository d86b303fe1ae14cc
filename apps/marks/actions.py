"""Marks of changed hours: laid by every action that changes a fact, lifted by the passes."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import OperationalError, connection, transaction

from apps.economics.hours import HOUR, hour_of
from apps.logs.changes import answered, logged_change
from apps.marks.queries import OF_DAYS, BillUnit, MarkFact, Pass

log = logging.getLogger(__name__)

DAY = timedelta(days=1)
MARKING = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision) VALUES {rows}
ON CONFLICT (pass_id, unit, hour) DO UPDATE SET revision = nextval('fleet_revision')
"""
RANGES_AT_ONCE = 50
ORGANISATION = 0
"""The unit of passes over everything at once."""
NEW_CALLS = 0
"""The unit of a mark that says: calls came; those that have no price yet are priced."""
ALL_CALLS_ANEW = 1
"""The unit of a mark that says: prices or counts changed; every call of the hour is priced again."""


@dataclass(frozen=True, slots=True)
class Mark:
    """`pass_` must do this unit's hour again."""

    pass_: Pass
    unit: int
    hour: datetime


def mark(marks: Iterable[Mark]) -> None:
    """Lay each mark once, at a revision newer than any before; in the caller's transaction.

    A transaction that lays or lifts marks of several passes takes charge, split, spread, roll-up
    and divide in this order, as the settlers do, so that no two wait for each other.
    """
    _refuse_autocommit()
    keys = _in_order(marks)
    if not keys:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
            SELECT key.pass_id, key.unit, key.hour, nextval('fleet_revision')
            FROM unnest(%s::int2[], %s::int8[], %s::timestamptz[])
                 WITH ORDINALITY AS key (pass_id, unit, hour, place)
            ORDER BY key.place
            ON CONFLICT (pass_id, unit, hour) DO UPDATE SET revision = nextval('fleet_revision')
            """,
            [
                [int(key.pass_) for key in keys],
                [key.unit for key in keys],
                [key.hour for key in keys],
            ],
        )


def marking(marks: Iterable[Mark]) -> str:
    """The statement that `mark` would run, for a script that is sent to the database whole."""
    # Numbers and moments only: there is nothing in them to quote.
    rows = ", ".join(
        f"({int(key.pass_)}, {key.unit:d}, '{key.hour.isoformat()}', nextval('fleet_revision'))"
        for key in _in_order(marks)
    )
    return MARKING.format(rows=rows)


def mark_span(*, pass_: Pass, units: Iterable[int], starts_at: datetime, ends_at: datetime) -> None:
    """Mark every hour that `[starts_at, ends_at)` touches, for each of `units`.

    `ends_at` is at most the caller's `at`: no pass does the future. A span wider than a day is
    kept as one range per unit until `expand_ranges`. Not for passes that do a day.
    """
    mark_spans(pass_=pass_, spans=[(unit, starts_at, ends_at) for unit in set(units)])


def mark_names(*, starts_at: datetime, ends_at: datetime) -> None:
    """Have the bills read again that reach into the hour of `starts_at`, or into the span.

    To be called where a node's name, its number at its provider or its time changes: bills name it.
    """
    first = hour_of(starts_at)
    until = max(ends_at, first + HOUR)
    mark_span(pass_=Pass.BILLS, units=[BillUnit.NAMES], starts_at=first, ends_at=until)


def mark_spans(*, pass_: Pass, spans: Iterable[tuple[int, datetime, datetime]]) -> None:
    """`mark_span` for many spans (unit, from, to) at once, in two statements."""
    _refuse_autocommit()
    if pass_ in OF_DAYS:
        raise ValueError(f"{pass_.label} marks name a local day's first hour: use `mark`")
    marks: list[Mark] = []
    ranges: list[tuple[int, datetime, datetime]] = []
    for unit, starts_at, ends_at in spans:
        if ends_at - starts_at > DAY:
            ranges.append((unit, hour_of(starts_at), ends_at))
        elif starts_at < ends_at:
            marks += [Mark(pass_, unit, hour) for hour in _hours_between(starts_at, ends_at)]
    _insert_ranges(pass_, sorted(ranges))
    mark(marks)


@logged_change(count=answered)
def expand_ranges() -> int:
    """Turn some ranges into marks in the transaction that deletes them; how many.

    Two that run at once take different ranges.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM fleet_changedrange WHERE id IN (
                SELECT id FROM fleet_changedrange ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
            ) RETURNING pass_id, unit, starts_at, ends_at
            """,
            [RANGES_AT_ONCE],
        )
        ranges = cursor.fetchall()
        if ranges:
            passes, units, starts, ends = (list(column) for column in zip(*ranges, strict=True))
            cursor.execute(
                """
                INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
                SELECT key.pass_id, key.unit, key.hour, nextval('fleet_revision')
                FROM (
                    SELECT DISTINCT span.pass_id, span.unit, hour
                    FROM unnest(%s::int2[], %s::int8[], %s::timestamptz[], %s::timestamptz[])
                         AS span (pass_id, unit, starts_at, ends_at),
                         generate_series(
                             span.starts_at, span.ends_at - interval '1 microsecond',
                             interval '1 hour'
                         ) AS hour
                    ORDER BY 1, 2, 3
                ) AS key
                ON CONFLICT (pass_id, unit, hour) DO UPDATE SET revision = nextval('fleet_revision')
                """,
                [passes, units, starts, ends],
            )
    return len(ranges)


def clear(pass_: Pass, marks: Mapping[datetime, Sequence[MarkFact]]) -> int:
    """Lift the marks, by hour, that still bear the revision that was read; how many were lifted.

    A mark laid again meanwhile stays. Call it after the pass has written.
    """
    _refuse_autocommit()
    hours = [hour for hour, of_hour in marks.items() if of_hour]
    if not hours:
        return 0
    with connection.cursor() as cursor:
        # A revision is given out once, so it names its mark. The locks are taken in the order in
        # which `mark` takes them, so that the two cannot deadlock; by address, because a join of
        # an hour's marks with themselves is planned as if there were one of them.
        cursor.execute(
            """
            DELETE FROM fleet_changedhour WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM fleet_changedhour
                WHERE pass_id = %s AND hour = ANY (%s::timestamptz[]) AND revision = ANY (%s::int8[])
                ORDER BY unit, hour
                FOR UPDATE
            ))
            """,
            [int(pass_), hours, [fact.revision for hour in hours for fact in marks[hour]]],
        )
        return int(cursor.rowcount)


def try_lock(pass_: Pass, key: int) -> bool:
    """Become the only one that does `pass_` for `key` until the transaction ends, if nobody is.

    `key` is `hour_key(hour)`, for passes that do a day the local day's ordinal.
    """
    _refuse_autocommit()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [int(pass_), key])
        row = cursor.fetchone()
    return bool(row and row[0])


def log_deferred_hour(pass_: Pass, hour: datetime, problem: Exception) -> str:
    """Log, with its traceback, why an hour raised, which keeps its marks for whoever is next; in one line."""
    # A deadlock or a lock timeout passes; anything else somebody has to look at.
    emit = log.warning if isinstance(problem, OperationalError) else log.error
    emit("settle_deferred pass=%s hour=%s reason=%s", pass_.name, hour, problem, exc_info=problem)
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def hour_key(hour: datetime) -> int:
    """Hours since 1970: fits the four bytes of an advisory lock's key."""
    return int(hour.timestamp()) // 3600


def _in_order(marks: Iterable[Mark]) -> list[Mark]:
    return sorted(set(marks), key=lambda entry: (entry.pass_, entry.unit, entry.hour))


def _hours_between(starts_at: datetime, ends_at: datetime) -> list[datetime]:
    first = hour_of(starts_at)
    return [first + HOUR * k for k in range(-((first - ends_at) // HOUR))]


def _insert_ranges(pass_: Pass, ranges: Sequence[tuple[int, datetime, datetime]]) -> None:
    if not ranges:
        return
    units, starts, ends = (list(column) for column in zip(*ranges, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedrange (pass_id, unit, starts_at, ends_at, revision)
            SELECT %s, unit, starts_at, ends_at, nextval('fleet_revision')
            FROM unnest(%s::int8[], %s::timestamptz[], %s::timestamptz[])
                 AS span (unit, starts_at, ends_at)
            """,
            [int(pass_), units, starts, ends],
        )


def _refuse_autocommit() -> None:
    if not connection.in_atomic_block:
        # Outside the transaction of its change a mark could be lost, or come too soon.
        raise transaction.TransactionManagementError("a mark belongs to a change's transaction")
