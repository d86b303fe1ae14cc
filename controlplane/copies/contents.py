"""What of a database a copy holds: tables with their columns, sequences, and files that rows still name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Cursor
from psycopg.sql import SQL, Identifier, Literal

from apps.web.queries.table_digests import of_no_extension, write_values_alike

# Partitions are read one by one; what an unlogged table holds does not outlast a crash either.
TABLES = f"""
SELECT part.oid, part.relispartition, part.relname, pg_relation_size(part.oid),
       (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = part.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '')
  FROM pg_class AS part
 WHERE part.relnamespace = 'public'::regnamespace AND part.relkind = 'r'
   AND part.relpersistence = 'p' AND {of_no_extension("part.oid")}
 ORDER BY part.relname
"""  # noqa: S608  # words of our own
# A partition that was detached meanwhile is read with its table no more.
CHANGED_SINCE = """
SELECT name
  FROM unnest(%s::oid[], %s::bool[], %s::text[]) AS copied (oid, is_partition, name)
  LEFT JOIN pg_class AS present ON present.oid = copied.oid
 WHERE present.relispartition IS DISTINCT FROM copied.is_partition
 ORDER BY name LIMIT 1
"""
SEQUENCES = f"""
SELECT relname FROM pg_class
 WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace AND {of_no_extension("pg_class.oid")}
"""  # noqa: S608  # words of our own
MIGRATIONS = "SELECT app, name FROM public.django_migrations ORDER BY id"
# A file is wanted while a row has its name: an upload that is not imported yet, an export that can be fetched.
NAMES_FILES = """
SELECT table_name FROM information_schema.columns
 WHERE table_schema = 'public' AND column_name = 'stored_as' ORDER BY table_name
"""
EXPORTS = "SELECT id FROM public.ledger_export WHERE has_file ORDER BY id"


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table, or a partition of one: the columns that are written, in the order that they have in the copy."""

    oid: int
    is_partition: bool
    name: str
    size: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """Names of uploads that imports still need, and the numbers of exports that have a file."""

    uploads: frozenset[str]
    exports: frozenset[int]


def copied_tables(cursor: Cursor[Any]) -> list[CopiedTable]:
    """Return every table whose rows are copied."""
    cursor.execute(TABLES)
    return [
        CopiedTable(oid, is_partition, name, size, tuple(columns))
        for oid, is_partition, name, size, columns in cursor.fetchall()
    ]


def table_changed_since(cursor: Cursor[Any], tables: Sequence[CopiedTable]) -> str | None:
    """Return a table that was dropped or detached since these were listed; None without one.

    Ask it outside the transaction that listed them, which sees them as they were.
    """
    listed = zip(*((table.oid, table.is_partition, table.name) for table in tables), strict=True)
    cursor.execute(CHANGED_SINCE, [list(values) for values in listed] or [[], [], []])
    name = _only_value(cursor)
    return None if name is None else str(name)


def applied_migrations(cursor: Cursor[Any]) -> list[list[str]]:
    """Return the migrations that the database has, as [app, name] in the order in which they were applied; none of an empty one."""
    cursor.execute("SELECT to_regclass('public.django_migrations') IS NOT NULL")
    if not _only_value(cursor):
        return []
    cursor.execute(MIGRATIONS)
    return [list(row) for row in cursor.fetchall()]


def wanted_files(cursor: Cursor[Any]) -> WantedFiles:
    """Return the files that rows still name."""
    cursor.execute(NAMES_FILES)
    uploads: set[str] = set()
    for (table,) in cursor.fetchall():
        query = SQL("SELECT stored_as FROM public.{} WHERE stored_as <> ''")
        cursor.execute(query.format(Identifier(table)))
        uploads |= {name for (name,) in cursor.fetchall()}
    cursor.execute("SELECT to_regclass('public.ledger_export') IS NOT NULL")
    exports: Sequence[tuple[int]] = []
    if _only_value(cursor):
        cursor.execute(EXPORTS)
        exports = cursor.fetchall()
    return WantedFiles(frozenset(uploads), frozenset(number for (number,) in exports))


def sequence_values(cursor: Cursor[Any]) -> dict[str, list[Any]]:
    """Return where each sequence stands: its last value, and whether that was given out."""
    cursor.execute(SEQUENCES)
    names = [name for (name,) in cursor.fetchall()]
    if not names:
        return {}
    parts = [
        SQL("SELECT {}, last_value, is_called FROM public.{}").format(
            Literal(name), Identifier(name)
        )
        for name in names
    ]
    cursor.execute(SQL(" UNION ALL ").join(parts))
    return {name: [value, is_called] for name, value, is_called in sorted(cursor.fetchall())}


def set_sequences(cursor: Cursor[Any], values: dict[str, list[Any]]) -> None:
    """Have sequences go on from where they stood."""
    for name, (value, is_called) in values.items():
        cursor.execute(
            "SELECT setval(format('public.%%I', %s::text)::regclass, %s, %s)",
            [name, value, is_called],
        )


def copy_statement(table: str, columns: Sequence[str], way: str) -> Any:
    """Return the COPY of a table's columns."""
    return SQL("COPY public.{} ({}) {}").format(
        Identifier(table),
        SQL(", ").join(map(Identifier, columns)),
        SQL("TO STDOUT" if way == "out" else "FROM STDIN WITH (FREEZE)"),
    )


def begin_reading(cursor: Cursor[Any]) -> str:
    """Begin a transaction that sees one moment, and return the name by which others may see it too."""
    cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    write_values_alike(cursor)
    cursor.execute("SELECT pg_export_snapshot()")
    return str(_only_value(cursor))


def _only_value(cursor: Cursor[Any]) -> Any:
    row = cursor.fetchone()
    return row[0] if row else None
