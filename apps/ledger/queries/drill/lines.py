"""The lines behind a sum: of a job, or of what no job held; the newest first."""

import json
from dataclasses import dataclass
from datetime import date, datetime

from psycopg import sql

from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.loading import LEFT_OUT
from apps.ledger.queries.shared_words import JOINED, SHARED_BY
from apps.ledger.queries.tables import Row, rows

TAGGED = sql.SQL(
    "EXISTS (SELECT FROM workloads_job_fact AS job"
    " WHERE job.id = line.job_id AND job.labels @> %(tags)s::jsonb)"
)


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
    return _found_lines(question, sql.SQL("line.job_id = %(job)s"), {"job": job_id, "most": most})


def lines_of_no_job(question: CubeQuestion, state: State | None, most: int) -> list[LineRow]:
    """Lines that no job holds in one state (None: no device time); at most `most`."""
    condition = sql.SQL(
        "line.job_id IS NULL AND line.workload_id IS NULL"
        " AND line.state IS NOT DISTINCT FROM %(state)s"
    )
    given: dict[str, object] = {"state": None if state is None else int(state), "most": most}
    return _found_lines(question, condition, given)


def _found_lines(
    question: CubeQuestion, condition: sql.Composable, given: dict[str, object]
) -> list[LineRow]:
    chosen = question.chosen
    conditions = [condition]
    if chosen.team_ids is not None:
        conditions.append(sql.SQL("line.team_id = ANY(%(teams)s)"))
    if chosen.pool_ids is not None:
        conditions.append(sql.SQL("line.pool_id = ANY(%(pools)s)"))
    if question.loading in LEFT_OUT:
        conditions.append(sql.SQL("line.flags & {} = 0").format(LEFT_OUT[question.loading]))
    if chosen.tags:
        conditions.append(TAGGED)
    found = rows(
        sql.SQL(
            """
            SELECT line.id, line.posting_month, line.hour, charge.kind, charge.status,
                   coalesce(node.name, ''), line.pool_id, line.team_id, line.state, line.flags,
                   line.evidence, line.{amount}, line.unit_milliseconds,
                   coalesce(cost.name, ''), coalesce({shared_by}, '')
            FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
            LEFT JOIN fleet_node_fact AS node ON node.id = charge.node_id
            {joined}
            WHERE line.hour >= %(from)s AND line.hour < %(to)s
              AND {conditions}
            ORDER BY line.hour DESC, line.id DESC LIMIT %(most)s
            """
        ).format(
            amount=sql.Identifier(f"{Basis(chosen.basis)}_micros"),
            conditions=sql.SQL(" AND ").join(conditions),
            shared_by=sql.SQL(SHARED_BY),
            joined=sql.SQL(JOINED),
        ),
        given
        | {
            "from": chosen.window.starts_at,
            "to": chosen.window.ends_at,
            "teams": sorted(chosen.team_ids or ()),
            "pools": sorted(chosen.pool_ids or ()),
            "tags": json.dumps(dict(chosen.tags)),
        },
    )
    return [LineRow(*_typed_row(row)) for row in found]


def _typed_row(row: Row) -> Row:
    own, (state, flags, evidence), rest = row[:8], row[8:11], row[11:]
    known = None if state is None else State(state)
    return (*own, known, Flag(flags), Evidence(evidence), *rest)
