"""Rows that an export may be of: where they lie, what each says, what may be asked of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from apps.economics.states import Evidence, Flag, State
from apps.ledger.models import ExportWhat as ExportWhat
from apps.ledger.queries.added_parts import add_parts
from apps.ledger.queries.shared_words import JOINED, SHARED_AS, SHARED_BY

Columns = Mapping[str, sql.Composable]


@dataclass(frozen=True, slots=True)
class ExportSource:
    """Rows of a `table` (`of`), a column each by its name, and the `joins` that these need.

    `order` is the same at every reading. `tags` is the object that has their tags, empty where rows
    have none, and `tags_joined` what it is looked up in; `has_job`: rows are of jobs.
    """

    table: LiteralString
    joins: LiteralString
    columns: Columns
    order: LiteralString = "of.day, of.id"
    span: LiteralString = "of.day >= %(first_day)s AND of.day < %(end_day)s"
    tags: LiteralString = ""
    tags_joined: LiteralString = ""
    has_job: bool = False


def add_export_source(what: ExportWhat, source: ExportSource) -> None:
    """Let exports be of these rows: an app above names in its registration what says so."""
    SOURCES[what] = source


def text_cell(column: LiteralString) -> sql.Composable:
    """A text on one line, which a spreadsheet takes for text."""
    return sql.SQL(
        "CASE WHEN left({0}, 1) = ANY(ARRAY['=', '+', '-', '@', E'\\t', E'\\r']) THEN '''' ELSE ''"
        " END || translate({0}, E'\\r\\n', '  ')"
    ).format(sql.SQL(column))


def money_cell(column: LiteralString) -> sql.Composable:
    """Every micro-unit; nothing where it is not known."""
    return sql.SQL("round(of.{}::numeric / 1000000, 6)").format(sql.Identifier(column))


def bits_cell(column: LiteralString, bits: type[Flag] | type[Evidence]) -> sql.Composable:
    """The names of the bits that are set."""
    named = [
        sql.SQL("CASE WHEN of.{} & {} <> 0 THEN {} END").format(
            sql.Identifier(column), sql.Literal(int(bit)), sql.Literal((bit.name or "").lower())
        )
        for bit in bits
    ]
    return sql.SQL("array_to_string(ARRAY[{}]::text[], ' ')").format(sql.SQL(", ").join(named))


def word_cell(column: LiteralString, words: Iterable[str]) -> sql.Composable:
    """The word of a number that counts from 0."""
    return sql.SQL("(ARRAY[{}])[of.{} + 1]").format(
        sql.SQL(", ").join([sql.Literal(word) for word in words]), sql.SQL(column)
    )


def plain_cells(*columns: LiteralString) -> dict[str, sql.Composable]:
    """These columns as they are."""
    return {column: sql.SQL("of.{}").format(sql.Identifier(column)) for column in columns}


STATE = sql.SQL("(ARRAY[{}])[of.state]").format(
    sql.SQL(", ").join([sql.Literal(state.name.lower()) for state in State])
)
AMOUNTS: Columns = {
    "list_cost": money_cell("list_micros"),
    "contracted_cost": money_cell("contracted_micros"),
    "effective_cost": money_cell("effective_micros"),
    "billed_cost": money_cell("billed_micros"),
    "currency": sql.SQL("%(currency)s::text"),
}
OWNER: Columns = {
    "team": text_cell("team.name"),
    "cost_centre": text_cell("team.cost_centre"),
    "workload": text_cell("workload.name"),
}
JOB: Columns = {
    "cluster": text_cell("cluster.name"),
    "job": text_cell("job.raw_id"),
    "job_id": sql.SQL("of.job_id"),
    "user": text_cell('job."user"'),
    "job_name": text_cell("job.name"),
}
QUALITIES: Columns = {"state": STATE, "flags": bits_cell("flags", Flag)}
OWNERS: LiteralString = (
    "JOIN accounts_team_fact AS team ON team.id = of.team_id"
    " LEFT JOIN workloads_workload_fact AS workload ON workload.id = of.workload_id"
    " LEFT JOIN fleet_pool_fact AS pool ON pool.id = of.pool_id"
)
OF_JOBS: LiteralString = (
    " LEFT JOIN workloads_job_fact AS job ON job.id = of.job_id"
    " LEFT JOIN fleet_cluster_fact AS cluster ON cluster.id = job.cluster_id"
)
OF_LINES: LiteralString = (
    " JOIN ledger_charge AS charge ON charge.id = of.charge_id"
    " LEFT JOIN fleet_node_fact AS node ON node.id = charge.node_id"
    " LEFT JOIN telemetry_holderkey_fact AS key ON key.id = of.holder_key_id "
) + JOINED
TAGS_OF_JOB: LiteralString = "tagged.labels"
JOB_TAGGED: LiteralString = "LEFT JOIN workloads_job_fact AS tagged ON tagged.id = of.job_id"
SOURCES: dict[ExportWhat, ExportSource] = {
    ExportWhat.LINES: ExportSource(
        table="ledger_line AS of JOIN ledger_charge AS charge ON charge.id = of.charge_id",
        joins=OWNERS + OF_JOBS + OF_LINES,
        order="of.hour, of.id",
        span="of.hour >= %(from)s AND of.hour < %(to)s",
        tags=TAGS_OF_JOB,
        tags_joined=JOB_TAGGED,
        has_job=True,
        columns={
            "hour": sql.SQL(
                """to_char(of.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
            ),
            "node": text_cell("node.name"),
            "pool": text_cell("pool.name"),
            **OWNER,
            **JOB,
            "holder": text_cell("key.key"),
            "kind": sql.SQL("charge.kind"),
            "status": sql.SQL("charge.status"),
            **QUALITIES,
            "evidence": bits_cell("evidence", Evidence),
            "unit": sql.SQL("pool.unit"),
            **plain_cells("unit_milliseconds"),
            **AMOUNTS,
            **plain_cells("policy_version", "charge_id"),
            "line": sql.SQL("to_char(of.posting_month, 'YYYY-MM/') || of.id"),
            "shared_cost": text_cell(SHARED_AS),
            "shared_by": sql.SQL(SHARED_BY),
        },
    ),
    ExportWhat.JOB_DAYS: ExportSource(
        table="ledger_ledgerjobday AS of",
        joins=OWNERS + OF_JOBS,
        tags=TAGS_OF_JOB,
        tags_joined=JOB_TAGGED,
        has_job=True,
        columns={
            **plain_cells("day"),
            "pool": text_cell("pool.name"),
            **OWNER,
            **JOB,
            **QUALITIES,
            "unit": sql.SQL("pool.unit"),
            **plain_cells("unit_milliseconds", "unpriced_milliseconds"),
            **AMOUNTS,
        },
    ),
    ExportWhat.DAYS: ExportSource(
        table="ledger_ledgerday AS of",
        joins=OWNERS,
        tags="of.tags",
        columns={
            **plain_cells("day"),
            "pool": text_cell("pool.name"),
            **OWNER,
            **plain_cells("kind", "status"),
            "gpu_model": text_cell("of.gpu_model"),
            "purchase_option": text_cell("of.purchase_option"),
            **QUALITIES,
            "tags": text_cell("of.tags::text"),
            "unit": sql.SQL("of.unit"),
            **plain_cells("unit_milliseconds", "held_milliseconds"),
            **plain_cells("observed_milliseconds", "unpriced_milliseconds"),
            **AMOUNTS,
        },
    ),
}
"""By what is asked for."""

add_parts("export_sources")
