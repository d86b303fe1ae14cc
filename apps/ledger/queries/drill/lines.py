"""The lines behind a sum: of a job, or of what no job held; the newest first."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg import sql

from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.subqueries import filter_conditions, filter_parameters
from apps.ledger.queries.export_sources import JOB_TAGGED
from apps.ledger.queries.loading import LEFT_OUT
from apps.ledger.queries.shared_words import JOINED, SHARED_AS, SHARED_BY
from apps.ledger.queries.tables import named_rows
from apps.ledger.queries.wanted import row_column


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line as a table lists it; null where its amount is not known.

    `node` is its name, empty: of no node. `state` None: no device time. `shared_by` says by what the cost of
    that name was spread.
    """

    id: int
    month: date
    hour: datetime
    kind: str
    status: str
    node: str
    pool_id: int | None
    team_id: int
    state: State | None
    flags: Flag
    evidence: Evidence
    micros: int | None
    unit_milliseconds: int
    shared_cost: str = ""
    shared_by: str = ""


def lines_of_job(question: CubeQuestion, job_id: int, most: int) -> list[LineRow]:
    """The job's lines in the window, of teams the viewer sees; at most `most`."""
    return _select_lines(question, sql.SQL("of.job_id = %(job)s"), {"job": job_id, "most": most})


def lines_of_no_job(question: CubeQuestion, state: State | None, most: int) -> list[LineRow]:
    """Lines that no job holds in one state (None: no device time); at most `most`."""
    condition = sql.SQL(
        "of.job_id IS NULL AND of.workload_id IS NULL AND of.state IS NOT DISTINCT FROM %(state)s"
    )
    params: dict[str, object] = {"state": None if state is None else int(state), "most": most}
    return _select_lines(question, condition, params)


def _select_lines(
    question: CubeQuestion, condition: sql.Composable, params: dict[str, object]
) -> list[LineRow]:
    conditions = [condition, *filter_conditions(question.filters, row_column)]
    if question.team_ids is not None:
        conditions.append(sql.SQL("of.team_id = ANY(%(scope)s)"))
    if question.loading in LEFT_OUT:
        conditions.append(sql.SQL("of.flags & {} = 0").format(LEFT_OUT[question.loading]))
    line_rows = named_rows(
        sql.SQL(
            """
            SELECT of.id, of.posting_month AS month, of.hour, charge.kind, charge.status,
                   coalesce(node.name, '') AS node, of.pool_id, of.team_id, of.state, of.flags,
                   of.evidence, of.{amount} AS micros, of.unit_milliseconds,
                   coalesce({shared_as}, '') AS shared_cost,
                   coalesce({shared_by}, '') AS shared_by
            FROM ledger_line AS of JOIN ledger_charge AS charge ON charge.id = of.charge_id
            LEFT JOIN fleet_node_fact AS node ON node.id = charge.node_id
            {joined}
            {tagged}
            WHERE of.hour >= %(from)s AND of.hour < %(to)s
              AND {conditions}
            ORDER BY of.hour DESC, of.id DESC LIMIT %(most)s
            """
        ).format(
            amount=sql.Identifier(f"{question.basis}_micros"),
            tagged=sql.SQL(JOB_TAGGED),
            conditions=sql.SQL(" AND ").join(conditions),
            shared_as=sql.SQL(SHARED_AS),
            shared_by=sql.SQL(SHARED_BY),
            joined=sql.SQL(JOINED),
        ),
        params
        | {
            "from": question.window.starts_at,
            "to": question.window.ends_at,
            "scope": sorted(question.team_ids or ()),
        }
        | filter_parameters(question.filters),
    )
    return [_line_row(row) for row in line_rows]


def _line_row(row: Any) -> LineRow:
    return LineRow(
        id=row.id,
        month=row.month,
        hour=row.hour,
        kind=row.kind,
        status=row.status,
        node=row.node,
        pool_id=row.pool_id,
        team_id=row.team_id,
        state=None if row.state is None else State(row.state),
        flags=Flag(row.flags),
        evidence=Evidence(row.evidence),
        micros=row.micros,
        unit_milliseconds=row.unit_milliseconds,
        shared_cost=row.shared_cost,
        shared_by=row.shared_by,
    )
