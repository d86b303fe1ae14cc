"""One unit changed in one column of one row, whatever the column's type."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db import connection, models
from psycopg import sql

COLUMNS = """
SELECT attribute.attname, format_type(attribute.atttypid, attribute.atttypmod),
       (SELECT confrelid::regclass::text FROM pg_constraint
        WHERE contype = 'f' AND conrelid = attribute.attrelid AND conkey = ARRAY[attribute.attnum])
FROM pg_attribute AS attribute
WHERE attribute.attrelid = %s::regclass AND attribute.attnum > 0 AND NOT attribute.attisdropped
ORDER BY attribute.attnum
"""
MICRO = 6
"""Decimals of the smallest amount that is ever charged: a micro-unit."""

ANOTHER = {
    "boolean": "NOT coalesce({0}, false)",
    "date": "coalesce({0}, '2026-04-01') + 1",
    "timestamp with time zone": "coalesce({0}, '2026-04-01') + interval '1 millisecond'",
    "double precision": "coalesce({0}, 0) * 1.001 + 0.001",
    "jsonb": """
        CASE jsonb_typeof({0}) WHEN 'array' THEN {0} || '[1]' ELSE {0} || (
            SELECT jsonb_build_object(key, CASE jsonb_typeof(value)
                       WHEN 'number' THEN to_jsonb(value::numeric + 1) ELSE '"?"' END)
            FROM (SELECT key, value FROM jsonb_each({0}) UNION ALL SELECT '?', '"?"') AS pair
            ORDER BY key = '?', key LIMIT 1) END
    """,
    "bytea": "coalesce({0}, '') || '\\x01'",
    "text": "coalesce({0}, '') || '?'",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the database has it; `refers_to` the table that it names a row of."""

    table: str
    name: str
    kind: str
    refers_to: str | None

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


def tables_of(app: str) -> dict[str, type[models.Model]]:
    """The app's tables, managed or not, by name."""
    found = apps.get_app_config(app).get_models()
    return {model._meta.db_table: model for model in found}


def columns_of(table: str) -> Iterator[Column]:
    """What the database has, whatever the model says."""
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [table])
        for name, kind, refers_to in cursor.fetchall():
            yield Column(table, name, kind, refers_to)


def rows_of(table: str, which: str, seed: int, most: int = 1) -> list[str]:
    """Conditions that are true of one row each, which chance picks; none where there is no row."""
    query = sql.SQL(
        "SELECT tableoid, ctid::text FROM {} WHERE {} ORDER BY md5(ctid::text || {}) LIMIT {}"
    )
    parts = (sql.Identifier(table), sql.SQL(which), sql.Literal(str(seed)), sql.Literal(most))
    with connection.cursor() as cursor:
        cursor.execute(query.format(*parts))
        return [f"tableoid = {oid} AND ctid = '{ctid}'" for oid, ctid in cursor.fetchall()]


def tamper(column: Column, where: str = "true") -> int:
    """Change it by one unit in one row, one that knows it before one that does not; how many rows."""
    name = f'"{column.name}"'
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {column.table} SET {name} = {_another(column)} WHERE ctid = ("
            f"SELECT ctid FROM {column.table} WHERE {where}"
            f" ORDER BY {name} IS NULL, ctid DESC LIMIT 1)"
            f" AND tableoid = (SELECT tableoid FROM {column.table} WHERE {where}"
            f" ORDER BY {name} IS NULL, ctid DESC LIMIT 1)"
        )
        return cursor.rowcount


def _another(column: Column) -> str:
    name = f'"{column.name}"'
    if column.refers_to is not None:
        other = (
            f"(SELECT max(id) FROM {column.refers_to} AS other"
            f" WHERE other.id IS DISTINCT FROM {name})"
        )
        return f"coalesce({other}, {name} + 1)"
    for kind, another in ANOTHER.items():
        if column.kind.startswith(kind):
            return another.format(name)
    if column.kind.startswith("character"):
        return f"CASE {name} WHEN 'EUR' THEN 'USD' ELSE 'EUR' END"
    if column.kind.startswith("numeric"):
        scale = int(column.kind.rstrip(")").split(",")[1])
        return f"coalesce({name}, 0) + 1e-{min(scale, MICRO)}"
    return f"coalesce({name}, 0) + 1"
