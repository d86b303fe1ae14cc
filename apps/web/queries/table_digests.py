"""The digest of a table: equal where the rows are equal, wherever and in whatever order they lie.

A row's hash is of its columns as text, by the order of their names; a table's is of the number of its rows and of the
sums of their hashes. So neither a restore, nor a vacuum, nor the order in which columns were added changes it, and any
one value that differs does. It is computed where the rows are, by all processors that Postgres gives the query.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from django.db import connection, transaction

# Values must have the same text on every server, whatever its own settings are.
AS_TEXT = """
SELECT set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO, YMD', true),
       set_config('intervalstyle', 'postgres', true), set_config('extra_float_digits', '1', true),
       set_config('bytea_output', 'hex', true), set_config('statement_timeout', '0', true)
"""


def of_no_extension(oid: str) -> str:
    """Return the condition that a relation with this oid, in SQL, was made by no extension."""
    return f"""NOT EXISTS (
       SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = {oid} AND deptype = 'e')"""


COLUMNS = f"""
SELECT root.relname, array_agg(attname::text ORDER BY attname)
  FROM pg_class AS root JOIN pg_attribute ON attrelid = root.oid
 WHERE root.relnamespace = 'public'::regnamespace AND root.relkind IN ('r', 'p')
   AND NOT root.relispartition AND root.relpersistence = 'p' AND attnum > 0 AND NOT attisdropped
   AND {of_no_extension("root.oid")}
 GROUP BY root.relname
"""  # noqa: S608  # words of our own
# Of 256 bits two sums of 64 are kept: an accident is not missed.
DIGEST = """
SELECT count(*), coalesce(sum(('x' || substr(hash, 1, 16))::bit(64)::int8), 0),
       coalesce(sum(('x' || substr(hash, 17, 16))::bit(64)::int8), 0)
  FROM (SELECT encode(sha256(convert_to(ROW({columns})::text, 'UTF8')), 'hex') AS hash
          FROM public.{table}{where}) AS hashed
"""


class Cursor(Protocol):
    """A cursor of Django or of psycopg."""

    def execute(self, query: Any, params: Any = None, /) -> Any:
        """Run a statement."""

    def fetchall(self) -> Any:
        """Return what it answered."""


@dataclass(frozen=True, slots=True)
class TableDigest:
    """The rows of a table, or of some of its columns: how many, and what they come to."""

    rows: int
    digest: str
    columns: tuple[str, ...]


def table_digests(tables: Iterable[str] | None = None) -> dict[str, TableDigest]:
    """Return the digest of each of these tables, as one moment has them; None: of every table.

    Call it outside a transaction, or inside one that sees one moment.
    """
    is_outermost = connection.get_autocommit()
    with transaction.atomic(), connection.cursor() as cursor:
        if is_outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        columns = table_columns(cursor)
        wanted = columns if tables is None else {name: columns[name] for name in tables}
        write_values_alike(cursor)
        return {name: table_digest(cursor, name, wanted[name]) for name in sorted(wanted)}


def table_columns(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Return the columns of every table that outlasts a crash, by name; partitions are of their table."""
    cursor.execute(COLUMNS)
    return {name: tuple(columns) for name, columns in cursor.fetchall()}


def write_values_alike(cursor: Cursor) -> None:
    """Have values written as text in one way until the transaction ends, and statements last as long as a large table takes."""
    cursor.execute(AS_TEXT)


def table_digest(
    cursor: Cursor, table: str, columns: Sequence[str], *, where: str = ""
) -> TableDigest:
    """Return the digest of these columns of a table's rows, of those that the condition `where` is true of.

    Call `write_values_alike` before, in the same transaction.
    """
    ordered = tuple(sorted(columns))
    query = DIGEST.format(
        columns=", ".join(map(quoted, ordered)),
        table=quoted(table),
        where=f" WHERE {where}" if where else "",
    )
    cursor.execute(query)
    ((rows, first, second),) = cursor.fetchall()
    text = f"{','.join(ordered)}:{rows}:{first}:{second}"
    return TableDigest(rows, sha256(text.encode()).hexdigest(), ordered)


def quoted(name: str) -> str:
    """Return a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
