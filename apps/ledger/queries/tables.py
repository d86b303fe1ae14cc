"""Rows of many thousands of facts: plain tuples over the binary protocol."""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString, cast

import psycopg
from django.db import connection
from psycopg.sql import Composed

# Columns are of many types and are unpacked where they are read, one line below the SELECT.
Row = tuple[Any, ...]


def rows(query: LiteralString | Composed, params: Mapping[str, object]) -> list[Row]:
    """Every row of `query`, read in Django's own transaction."""
    with _cursor() as cursor:
        cursor.execute(query, params)
        return cursor.fetchall()


def run(query: LiteralString, params: Mapping[str, object]) -> int:
    """Change rows in Django's own transaction; how many."""
    with _cursor() as cursor:
        return cursor.execute(query, params).rowcount


def copy_in(query: LiteralString, of: Iterable[Row]) -> None:
    r"""Send rows of numbers, moments and ids through `COPY … FROM STDIN`; None is NULL.

    Text that could hold a tab, a backslash or a line end must not pass here.
    """
    text = "\n".join(
        ["\t".join(["\\N" if value is None else str(value) for value in row]) for row in of]
    )
    with _cursor() as cursor, cursor.copy(query) as copy:
        copy.write(text.encode())


def _cursor() -> psycopg.Cursor[Row]:
    connection.ensure_connection()
    # Django's own cursor class binds in the client and reads text; this one asks for binary rows.
    raw = cast("psycopg.Connection[Row]", connection.connection)
    cursor = psycopg.Cursor(raw)
    cursor.format = psycopg.pq.Format.BINARY
    return cursor
