"""Rows of many thousands of facts: plain tuples over the binary protocol."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, LiteralString, TypeVar, cast

import psycopg
from django.db import connection, transaction
from psycopg.rows import namedtuple_row
from psycopg.sql import SQL, Composed

# Columns are of many types and are unpacked where they are read, one line below the SELECT.
Row = tuple[Any, ...]
_T = TypeVar("_T")


def rows(query: LiteralString | Composed, params: Mapping[str, object]) -> list[Row]:
    """Every row of `query`, read in Django's own transaction."""
    with _binary_cursor() as cursor:
        cursor.execute(query, params)
        return cursor.fetchall()


def named_rows(query: LiteralString | Composed, params: Mapping[str, object]) -> list[Any]:
    """Return the rows of a query with each value under its column's name: `row.team_id`; no name may come twice."""
    with _binary_cursor() as cursor:
        cursor.row_factory = namedtuple_row
        cursor.execute(query, params)
        return cursor.fetchall()


def columns_as(kind: type[_T]) -> Callable[[Any], _T]:
    """Return what makes a value of the class from a named row: each of its fields is the column of the same name.

    Where a column stands in the row, and what else the row has, is nothing to it.
    """
    fields_of = attrgetter(*kind.__annotations__)
    return lambda row: kind(*fields_of(row))


def first_row_per_params(
    query: LiteralString, each_params: Sequence[Mapping[str, object]]
) -> list[Row]:
    """The first row of `query` for each of these params, all in one exchange with the server, or none of them."""
    if len(each_params) == 1:
        return rows(query, each_params[0])[:1]
    first_rows: list[Row] = []
    with transaction.atomic(), _binary_cursor() as cursor:
        cursor.executemany(query, each_params, returning=True)
        for result in cursor.results():
            first_rows += result.fetchmany(1)
    return first_rows


def run(query: LiteralString, params: Mapping[str, object]) -> int:
    """Change rows in Django's own transaction; how many."""
    with _binary_cursor() as cursor:
        return cursor.execute(query, params).rowcount


def copy_in(query: LiteralString, of: Iterable[Row]) -> None:
    r"""Send rows of numbers, moments and ids through `COPY … FROM STDIN`; None is NULL.

    Text that could hold a tab, a backslash or a line end must not pass here.
    """
    text = "\n".join(
        ["\t".join(["\\N" if value is None else str(value) for value in row]) for row in of]
    )
    with _binary_cursor() as cursor, cursor.copy(query) as copy:
        copy.write(text.encode())


def copy_values(query: LiteralString, of: Iterable[Row]) -> None:
    """Send rows of any values through `COPY … FROM STDIN`, texts with whatever is in them."""
    with _binary_cursor() as cursor, cursor.copy(query) as copy:
        for row in of:
            copy.write_row(row)


def copy_out(query: Composed, params: Mapping[str, object]) -> Iterator[bytes]:
    """Yield what `COPY … TO STDOUT` sends, as it comes: no more than a row of it is in memory."""
    with _client_cursor().copy(query, params) as copy:
        for block in copy:
            yield bytes(block)


def planned_rows(query: Composed, params: Mapping[str, object]) -> int:
    """How many rows the planner expects of `query`, which is not run."""
    cursor = _client_cursor()
    cursor.execute(SQL("EXPLAIN (FORMAT JSON) {}").format(query), params)
    ((plans,),) = cursor.fetchall()
    return int(plans[0]["Plan"]["Plan Rows"])


def _client_cursor() -> "psycopg.ClientCursor[Row]":
    """Utility statements take no parameters of the server: these are put in by the client."""
    connection.ensure_connection()
    return psycopg.ClientCursor(cast("psycopg.Connection[Row]", connection.connection))


def _binary_cursor() -> psycopg.Cursor[Row]:
    connection.ensure_connection()
    # Django's own cursor class binds in the client and reads text; this one asks for binary rows.
    raw = cast("psycopg.Connection[Row]", connection.connection)
    cursor = psycopg.Cursor(raw)
    cursor.format = psycopg.pq.Format.BINARY
    return cursor
