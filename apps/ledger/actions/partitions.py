"""The monthly partitions of the lines."""

from datetime import date

from django.db import connection, transaction
from psycopg import sql

from apps.ledger.queries.calendar import next_month


def ensure_month(*, month: date) -> None:
    """Make the partition of lines posted in `month`, if it is not there.

    It is filled in by ATTACH: making it as PARTITION OF would lock every reader of lines out.
    """
    name = f"ledger_line_{month:%Y_%m}"
    with transaction.atomic(), connection.cursor() as cursor:
        if _is_attached(name):
            return
        # One maker at a time; the number is arbitrary and used for nothing else.
        cursor.execute("SELECT pg_advisory_xact_lock(7305022)")
        if _is_attached(name):
            return
        cursor.execute(
            sql.SQL(
                "CREATE TABLE {part} (LIKE ledger_line INCLUDING DEFAULTS INCLUDING CONSTRAINTS);"
                "ALTER TABLE ledger_line ATTACH PARTITION {part} FOR VALUES FROM ({}) TO ({})"
            ).format(sql.Literal(month), sql.Literal(next_month(month)), part=sql.Identifier(name))
        )


def _is_attached(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_inherits WHERE inhparent = 'ledger_line'::regclass"
            " AND inhrelid = to_regclass(%s)",
            [name],
        )
        return cursor.fetchone() is not None
