"""The rows of an export as CSV, a local day at a time: written by Postgres, kept by nobody."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from psycopg import sql

from apps.ledger.queries.export_sources import SOURCES, ExportWhat
from apps.ledger.queries.tables import copy_out, planned_rows
from apps.ledger.queries.wanted import Wanted, parameters, source
from apps.ledger.queries.windows import Window

DAY = timedelta(days=1)


def names_of(what: ExportWhat) -> tuple[str, ...]:
    """The columns' names, in their order."""
    return tuple(SOURCES[what].columns)


def heading(what: ExportWhat) -> str:
    """The first line of the file."""
    return ",".join(names_of(what)) + "\n"


def rows_of_day(wanted: Wanted, day: date, currency: str) -> Iterator[bytes]:
    """The day's rows, a line of text each, in an order that is always the same.

    A day is read as it is at one moment; another day may be read later.
    """
    of_day = replace(wanted, window=Window("", day, day + DAY, wanted.window.zone))
    chosen = SOURCES[wanted.what]
    copied = sql.SQL(
        "COPY (SELECT {} FROM (SELECT of.* {}) AS of {} ORDER BY {}) TO STDOUT (FORMAT csv)"
    )
    return copy_out(
        copied.format(
            sql.SQL(", ").join(chosen.columns.values()),
            source(of_day),
            sql.SQL(chosen.joins),
            sql.SQL(chosen.order),
        ),
        parameters(of_day) | {"currency": currency},
    )


def rows_expected(wanted: Wanted) -> int:
    """About how many rows there are, as Postgres expects; none of them is read."""
    return planned_rows(sql.SQL("SELECT {}").format(source(wanted)), parameters(wanted))
