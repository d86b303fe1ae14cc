"""How large the tables of the database are, as its own catalogue has it."""

from dataclasses import dataclass

from django.db import connection

SIZES = """
SELECT root.relname,
       CASE WHEN bool_or(part.reltuples < 0) THEN NULL ELSE sum(part.reltuples)::int8 END,
       sum(pg_total_relation_size(part.oid))::int8
  FROM pg_class AS part
  JOIN pg_class AS root ON root.oid = coalesce(pg_partition_root(part.oid), part.oid)
 WHERE part.relkind IN ('r', 'p') AND part.relnamespace = 'public'::regnamespace
   -- A table of partitions holds nothing itself, and is never counted.
   AND (part.relkind = 'r' OR part.oid = root.oid)
   AND NOT (part.relkind = 'p' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = part.oid))
 GROUP BY root.relname
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table with its partitions: bytes with indexes, and rows as the database last counted them.

    `rows` is an estimate of Postgres's statistics, None where it never counted one of its partitions.
    """

    name: str
    rows: int | None
    size: int


def table_sizes() -> list[TableSize]:
    """Every table of the installation's schema, by name."""
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return [TableSize(*row) for row in sorted(cursor.fetchall())]
