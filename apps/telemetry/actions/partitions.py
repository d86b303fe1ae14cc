"""Daily partitions of windows, monthly ones of usage hours: made ahead, dropped when old."""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import OperationalError, connection, transaction
from psycopg import sql
from psycopg.errors import LockNotAvailable

from apps.logs.changes import logged_change
from apps.marks.queries import Pass, hours_marked

log = logging.getLogger(__name__)

DAY = timedelta(days=1)
DAYS_AHEAD = 3
# Longer than the windows that they guard against storing twice are kept.
BATCHES_OUTLAST_WINDOWS = timedelta(days=16)
# Pictures of a fleet show days; what is older is counted anew from usage hours.
BUSY_HOURS_KEPT = timedelta(days=35)
REMARKS_KEPT = timedelta(days=90)
LOCK_TIMEOUT = "2s"
TRIES = 5
# Arbitrary but fixed: two processes do not make or drop partitions at the same time.
LOCK = 7_305_022

# Rows that are never changed and go with their table need no vacuum of their own.
NO_VACUUM_FOR_INSERTS = "autovacuum_vacuum_insert_threshold = -1"

WINDOW, USAGE = "telemetry_window", "telemetry_usagehour"

_made: set[tuple[str, date]] = set()


class PartitionsBusy(Exception):
    """A table stayed locked by others through every try; the next sweep tries again."""


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    _made.clear()


@logged_change()
def keep_partitions(*, at: datetime) -> None:
    """Have windows and usage for as long as settings say; forget what is older.

    Windows that still wait for their roll-up are kept until it is done; batches and
    reports for 16 days longer than windows. Safe to repeat and to run twice at once.
    """
    ensure_partitions(at)
    today = at.date()
    _drop_older(WINDOW, min(today - settings.KEEP_WINDOW_DAYS * DAY, _oldest_waiting(at)))
    _drop_older(USAGE, _month_later(today, -settings.KEEP_USAGE_MONTHS))
    _forget_old_rows(at)


def ensure_partitions(at: datetime) -> None:
    """Have windows and usage taken for as long as settings say. Forgets nothing.

    A command that somebody runs by hand may have other settings than the service.
    """
    today = at.date()
    ensure_days(today + k * DAY for k in range(-settings.KEEP_WINDOW_DAYS, DAYS_AHEAD + 1))
    ensure_months([_month_later(today, -1), _month_later(today, 0), _month_later(today, 1)])


def has_windows_of(day: date) -> bool:
    """Whether the windows of this day are still, or already, kept."""
    return day in _attached_days(WINDOW)


def ensure_days(days: Iterable[date]) -> None:
    """Have a partition of windows for each of `days`."""
    _ensure_partitions(WINDOW, {day: day + DAY for day in days})


def ensure_months(months: Iterable[date]) -> None:
    """Have a partition of usage hours for the month of each date."""
    firsts = {month.replace(day=1) for month in months}
    _ensure_partitions(USAGE, {first: _month_later(first, 1) for first in firsts})


def _ensure_partitions(table: str, spans: dict[date, date]) -> None:
    wanted = {first: end for first, end in spans.items() if (table, first) not in _made}
    if not wanted:
        return
    there = _attached_days(table)
    for first, end in sorted(wanted.items()):
        if first not in there:
            _retry_while_locked(partial(_make_partition, table, first, end))
        _made.add((table, first))


def _make_partition(table: str, first: date, end: date) -> None:
    """Attached rather than created in place: that locks out nobody who reads or writes."""
    name = f"{table}_{first:%Y%m%d}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        if first in _attached_days(table):
            return
        cursor.execute(
            sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL) WITH ({})").format(
                sql.Identifier(name), sql.Identifier(table), sql.SQL(NO_VACUUM_FOR_INSERTS)
            )
        )
        cursor.execute(
            sql.SQL("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES FROM ({}) TO ({})").format(
                sql.Identifier(table),
                sql.Identifier(name),
                sql.Literal(f"{first} 00:00+00"),
                sql.Literal(f"{end} 00:00+00"),
            )
        )


def _drop_older(table: str, oldest: date) -> None:
    """Detach while others read and write on, then drop; also what a crash left detached."""
    for name, first in _partition_tables(table).items():
        if first < oldest:
            _retry_while_locked(partial(_detach_partition, table, name))
            _retry_while_locked(
                partial(
                    _run_outside_transaction, sql.SQL("DROP TABLE {}").format(sql.Identifier(name))
                )
            )
            _made.discard((table, first))
            log.info("partition_dropped name=%s", name)


def _oldest_waiting(at: datetime) -> date:
    """The day of the oldest hour that is yet to be rolled up; today where none is."""
    return next((hour.date() for hour in hours_marked(Pass.USAGE, at, 1)), at.date())


def _detach_partition(table: str, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = %s::regclass", [name]
        )
        row = cursor.fetchone()
    if row is None:
        return
    # A detach that was cut short by a crash or a time-out can only be finished.
    how = sql.SQL("FINALIZE" if row[0] else "CONCURRENTLY")
    _run_outside_transaction(
        sql.SQL("ALTER TABLE {} DETACH PARTITION {} {}").format(
            sql.Identifier(table), sql.Identifier(name), how
        )
    )


def _run_outside_transaction(statement: sql.Composed) -> None:
    """Run outside a transaction, which DETACH … CONCURRENTLY demands, with a short time-out."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SET lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
        try:
            cursor.execute(statement)
        finally:
            cursor.execute("RESET lock_timeout")


def _retry_while_locked(change: Callable[[], None]) -> None:
    for again in range(1, TRIES + 1):
        try:
            change()
        except OperationalError as trouble:
            if not isinstance(trouble.__cause__, LockNotAvailable):
                raise
            time.sleep(0.2 * again)
        else:
            return
    raise PartitionsBusy("a table of windows or usage hours stayed locked by others")


def _attached_days(table: str) -> set[date]:
    """The first day of each partition."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass",
            [table],
        )
        return {_first_day(name) for (name,) in cursor.fetchall()}


def _partition_tables(table: str) -> dict[str, date]:
    """Every partition, attached or not any more, by name; the name holds its first day."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ %s"
            " AND relnamespace = current_schema()::regnamespace",
            [f"^{table}_[0-9]{{8}}$"],
        )
        return {name: _first_day(name) for (name,) in cursor.fetchall()}


def _first_day(name: str) -> date:
    digits = name.rpartition("_")[2]
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))


def _month_later(day: date, later: int) -> date:
    """The first of the month that is `later` months after that of `day`."""
    years, month = divmod(day.month - 1 + later, 12)
    return date(day.year + years, month + 1, 1)


def _forget_old_rows(at: datetime) -> None:
    received = at - settings.KEEP_WINDOW_DAYS * DAY - BATCHES_OUTLAST_WINDOWS
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM telemetry_batch WHERE received_at < %s", [received])
        cursor.execute("DELETE FROM telemetry_report WHERE received_at < %s", [received])
        cursor.execute("DELETE FROM telemetry_nodebusyhour WHERE hour < %s", [at - BUSY_HOURS_KEPT])
        cursor.execute("DELETE FROM telemetry_rejection WHERE last_at < %s", [at - REMARKS_KEPT])
        oldest = _month_later(at.date(), -settings.KEEP_USAGE_MONTHS)
        cursor.execute("DELETE FROM telemetry_devicehour WHERE hour < %s", [oldest])
        cursor.execute("DELETE FROM telemetry_nodehour WHERE hour < %s", [oldest])
        cursor.execute("DELETE FROM telemetry_incident WHERE ended_at < %s", [oldest])
