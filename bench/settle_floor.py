"""The least that settling could take: its facts read and its rows stored, nothing in between.

The facts are those that settling reads, fetched as Python values; the rows are those it wrote, taken
out before the clock runs and sent back through COPY into the same tables, with their indexes and
foreign keys, in one transaction of each hour.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

Row = tuple[Any, ...]
HOUR = timedelta(hours=1)

FACTS: tuple[LiteralString, ...] = (
    "SELECT id, name, pool_id, period FROM fleet_node WHERE period && tstzrange(%(from)s, %(to)s)",
    "SELECT node_id, units, period FROM fleet_nodecapacity"
    " WHERE period && tstzrange(%(from)s, %(to)s)",
    "SELECT id, node_id, parent_id, uuid, kind, compute_slices, replicas, period FROM fleet_device"
    " WHERE period && tstzrange(%(from)s, %(to)s)",
    "SELECT id, kind, amount, currency, period, pool_id FROM pricing_rate",
    "SELECT device_id, holder_id, source, observed, worked FROM telemetry_usagehour"
    " WHERE hour = %(from)s",
    "SELECT held.job_id, held.node_id, held.gpus_numerator, held.gpus_denominator,"
    ' held.device_uuids, held.period, job.account, job.partition, job.namespace, job."user",'
    " job.labels, job.name, job.started_at, job.ended_at, job.suspended_seconds"
    " FROM workloads_allocation AS held JOIN workloads_job AS job ON job.id = held.job_id"
    " WHERE held.period && tstzrange(%(from)s, %(to)s)",
    "SELECT id, key FROM telemetry_holderkey WHERE id IN"
    " (SELECT holder_id FROM telemetry_usagehour WHERE hour = %(from)s)",
    "SELECT run_id, job_id, period FROM workloads_runspan"
    " WHERE period && tstzrange(%(from)s, %(to)s)",
    "SELECT run_id, job_key, bucket_ms, tokens, redone_tokens, examples, flops, steps, step_ms"
    " FROM workloads_runhour WHERE hour = %(from)s",
    "SELECT workload_id, feature, requests, succeeded, prompt_tokens, cached_tokens, output_tokens"
    " FROM workloads_requesthour WHERE hour = %(from)s",
)
# In the order in which they refer to each other.
BY_HOUR = ("ledger_charge", "ledger_chargepiece", "ledger_settlement", "ledger_line")
OF_HOUR = {
    "ledger_chargepiece": "WHERE charge_id IN (SELECT id FROM ledger_charge WHERE hour = %(hour)s)"
}


@dataclass(frozen=True, slots=True)
class Written:
    """Rows of one table, as they are to be stored again."""

    table: str
    columns: Sequence[str]
    rows: Sequence[Row]


def floor_seconds(starts_at: datetime, hours: int) -> float:
    """Seconds to read the facts of so many hours and store what the ledger now holds of them.

    Of more than an hour, what is rolled up is stored as well, after the hours. Expects a ledger
    that holds nothing but these hours.
    """
    moments = [starts_at + k * HOUR for k in range(hours)]
    by_hour = [
        [_fetched(name, OF_HOUR.get(name, "WHERE hour = %(hour)s"), moment) for name in BY_HOUR]
        for moment in moments
    ]
    rolled_up = [_fetched(name, "", starts_at) for name in _rolled_up()] if hours > 1 else []
    _take_out([*(each.table for each in rolled_up), *reversed(BY_HOUR)])
    began = time.perf_counter()
    for moment, written in zip(moments, by_hour, strict=True):
        _read_facts(moment)
        _store(written)
    _store(rolled_up)
    return time.perf_counter() - began


def _fetched(table: str, where: str, hour: datetime) -> Written:
    from apps.ledger.queries.tables import rows

    columns = [
        name
        for (name,) in rows(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name = %(table)s AND is_generated = 'NEVER'"
            " ORDER BY ordinal_position",
            {"table": table},
        )
    ]
    # Texts, as COPY takes them whatever the column's type is: nothing is looked up while timed.
    listed = ", ".join(f'"{name}"::text' for name in columns)
    query = f"SELECT {listed} FROM {table} {where}"
    return Written(table, columns, rows(query, {"hour": hour}))


def _rolled_up() -> Iterator[str]:
    """Tables of the ledger that hold what was rolled up."""
    from apps.ledger.queries.tables import rows

    names = rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind = 'r' AND NOT relispartition AND relname ~ '^ledger_' ORDER BY relname",
        {},
    )
    for (name,) in names:
        if name not in BY_HOUR and rows(f"SELECT FROM {name} LIMIT 1", {}):
            yield name


def _take_out(tables: Sequence[str]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM {table}")
            cursor.execute(f"VACUUM {table}")


def _read_facts(moment: datetime) -> None:
    from apps.ledger.queries.tables import rows

    for query in FACTS:
        rows(query, {"from": moment, "to": moment + HOUR})


def _store(written: Sequence[Written]) -> None:
    from django.db import transaction

    from apps.ledger.queries.tables import copy_values

    with transaction.atomic():
        for each in written:
            listed = ", ".join(f'"{name}"' for name in each.columns)
            copy_values(f"COPY {each.table} ({listed}) FROM STDIN", each.rows)
