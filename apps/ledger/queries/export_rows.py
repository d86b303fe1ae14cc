"""The rows of an export as CSV, a local day at a time: written by Postgres, kept by nobody."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import LiteralString

from psycopg import sql

from apps.economics.run_time import Bucket
from apps.economics.states import Evidence, Flag, State
from apps.ledger.models import ExportWhat, ServicePart
from apps.ledger.queries.shared_words import JOINED, SHARED_BY
from apps.ledger.queries.tables import copy_out, planned_rows
from apps.ledger.queries.wanted import Wanted, parameters, source
from apps.ledger.queries.windows import Window

DAY = timedelta(days=1)
Columns = Mapping[str, sql.Composable]


def names_of(what: ExportWhat) -> tuple[str, ...]:
    """The columns' names, in their order."""
    return tuple(COLUMNS[what])


def heading(what: ExportWhat) -> str:
    """The first line of the file."""
    return ",".join(names_of(what)) + "\n"


def rows_of_day(wanted: Wanted, day: date, currency: str) -> Iterator[bytes]:
    """The day's rows, a line of text each, in an order that is always the same.

    A day is read as it is at one moment; another day may be read later.
    """
    of_day = replace(wanted, window=Window("", day, day + DAY, wanted.window.zone))
    columns = COLUMNS[wanted.what]
    copied = sql.SQL(
        "COPY (SELECT {} FROM (SELECT of.* {}) AS of {} ORDER BY {}) TO STDOUT (FORMAT csv)"
    )
    return copy_out(
        copied.format(
            sql.SQL(", ").join(columns.values()),
            source(of_day),
            sql.SQL(NAMES[wanted.what]),
            sql.SQL(ORDER[wanted.what]),
        ),
        parameters(of_day) | {"currency": currency},
    )


def rows_expected(wanted: Wanted) -> int:
    """About how many rows there are, as Postgres expects; none of them is read."""
    return planned_rows(sql.SQL("SELECT {}").format(source(wanted)), parameters(wanted))


def _text(column: LiteralString) -> sql.Composable:
    """A text on one line, which a spreadsheet takes for text."""
    return sql.SQL(
        "CASE WHEN left({0}, 1) = ANY(ARRAY['=', '+', '-', '@', E'\\t', E'\\r']) THEN '''' ELSE ''"
        " END || translate({0}, E'\\r\\n', '  ')"
    ).format(sql.SQL(column))


def _money(column: LiteralString) -> sql.Composable:
    """Every micro-unit; nothing where it is not known."""
    return sql.SQL("round(of.{}::numeric / 1000000, 6)").format(sql.Identifier(column))


def _bits(column: LiteralString, bits: type[Flag] | type[Evidence]) -> sql.Composable:
    """The names of the bits that are set."""
    named = [
        sql.SQL("CASE WHEN of.{} & {} <> 0 THEN {} END").format(
            sql.Identifier(column), sql.Literal(int(bit)), sql.Literal((bit.name or "").lower())
        )
        for bit in bits
    ]
    return sql.SQL("array_to_string(ARRAY[{}]::text[], ' ')").format(sql.SQL(", ").join(named))


def _plain(*columns: LiteralString) -> dict[str, sql.Composable]:
    return {column: sql.SQL("of.{}").format(sql.Identifier(column)) for column in columns}


STATE = sql.SQL("(ARRAY[{}])[of.state]").format(
    sql.SQL(", ").join([sql.Literal(state.name.lower()) for state in State])
)
PART = sql.SQL("(ARRAY[{}])[of.part + 1]").format(
    sql.SQL(", ").join([sql.Literal(part.name.lower()) for part in ServicePart])
)
BUCKET = sql.SQL("(ARRAY[{}])[of.bucket + 1]").format(
    sql.SQL(", ").join([sql.Literal(bucket.name.lower()) for bucket in Bucket])
)
AMOUNTS: Columns = {
    "list_cost": _money("list_micros"),
    "contracted_cost": _money("contracted_micros"),
    "effective_cost": _money("effective_micros"),
    "billed_cost": _money("billed_micros"),
    "currency": sql.SQL("%(currency)s::text"),
}
OWNER: Columns = {
    "team": _text("team.name"),
    "cost_centre": _text("team.cost_centre"),
    "workload": _text("workload.name"),
}
JOB: Columns = {
    "cluster": _text("cluster.name"),
    "job": _text("job.raw_id"),
    "job_id": sql.SQL("of.job_id"),
    "user": _text('job."user"'),
    "job_name": _text("job.name"),
}
QUALITIES: Columns = {"state": STATE, "flags": _bits("flags", Flag)}
COLUMNS: Mapping[ExportWhat, Columns] = {
    ExportWhat.LINES: {
        "hour": sql.SQL("""to_char(of.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""),
        "node": _text("node.name"),
        "pool": _text("pool.name"),
        **OWNER,
        **JOB,
        "holder": _text("key.key"),
        "kind": sql.SQL("charge.kind"),
        "status": sql.SQL("charge.status"),
        **QUALITIES,
        "evidence": _bits("evidence", Evidence),
        "unit": sql.SQL("pool.unit"),
        **_plain("unit_milliseconds"),
        **AMOUNTS,
        **_plain("policy_version", "charge_id"),
        "line": sql.SQL("to_char(of.posting_month, 'YYYY-MM/') || of.id"),
        "shared_cost": _text("cost.name"),
        "shared_by": sql.SQL(SHARED_BY),
    },
    ExportWhat.JOB_DAYS: {
        **_plain("day"),
        "pool": _text("pool.name"),
        **OWNER,
        **JOB,
        **QUALITIES,
        "unit": sql.SQL("pool.unit"),
        **_plain("unit_milliseconds", "unpriced_milliseconds"),
        **AMOUNTS,
    },
    ExportWhat.DAYS: {
        **_plain("day"),
        "pool": _text("pool.name"),
        **OWNER,
        **_plain("kind", "status"),
        "gpu_model": _text("of.gpu_model"),
        "purchase_option": _text("of.purchase_option"),
        **QUALITIES,
        "tags": _text("of.tags::text"),
        "unit": sql.SQL("of.unit"),
        **_plain("unit_milliseconds", "held_milliseconds"),
        **_plain("observed_milliseconds", "unpriced_milliseconds"),
        **AMOUNTS,
    },
    ExportWhat.SERVICE_DAYS: {
        **_plain("day"),
        "pool": _text("pool.name"),
        **OWNER,
        "feature": _text("of.feature"),
        "part": PART,
        **_plain("kind", "status"),
        **QUALITIES,
        **_plain("unit_milliseconds", "unpriced_milliseconds"),
        **AMOUNTS,
        "marginal_cost": _money("marginal_micros"),
    },
    ExportWhat.RUN_DAYS: {
        **_plain("day"),
        "run": _text("run.key"),
        **_plain("run_id"),
        "pool": _text("pool.name"),
        **OWNER,
        **JOB,
        "bucket": BUCKET,
        **_plain("kind", "status"),
        **QUALITIES,
        "unit": sql.SQL("pool.unit"),
        **_plain("unit_milliseconds", "unpriced_milliseconds", "energy_joules"),
        **AMOUNTS,
        "marginal_cost": _money("marginal_micros"),
    },
}
"""What a row says, by its column's name."""
OWNERS: LiteralString = (
    "JOIN accounts_team AS team ON team.id = of.team_id"
    " LEFT JOIN workloads_workload AS workload ON workload.id = of.workload_id"
    " LEFT JOIN fleet_pool AS pool ON pool.id = of.pool_id"
)
OF_JOBS: LiteralString = (
    " LEFT JOIN workloads_job AS job ON job.id = of.job_id"
    " LEFT JOIN fleet_cluster AS cluster ON cluster.id = job.cluster_id"
)
OF_LINES: LiteralString = (
    " JOIN ledger_charge AS charge ON charge.id = of.charge_id"
    " LEFT JOIN fleet_node AS node ON node.id = charge.node_id"
    " LEFT JOIN telemetry_holderkey AS key ON key.id = of.holder_key_id "
) + JOINED
NAMES: Mapping[ExportWhat, LiteralString] = {
    ExportWhat.LINES: OWNERS + OF_JOBS + OF_LINES,
    ExportWhat.JOB_DAYS: OWNERS + OF_JOBS,
    ExportWhat.DAYS: OWNERS,
    ExportWhat.SERVICE_DAYS: OWNERS,
    ExportWhat.RUN_DAYS: OWNERS + OF_JOBS + " JOIN workloads_run AS run ON run.id = of.run_id",
}
ORDER: Mapping[ExportWhat, LiteralString] = {
    ExportWhat.LINES: "of.hour, of.id",
    ExportWhat.JOB_DAYS: "of.day, of.id",
    ExportWhat.DAYS: "of.day, of.id",
    ExportWhat.SERVICE_DAYS: "of.day, of.id",
    ExportWhat.RUN_DAYS: "of.day, of.id",
}
