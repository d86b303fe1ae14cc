"""Which rows of the ledger somebody wants: of lines, or of days by job, team, service or run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import LiteralString

from psycopg import sql

from apps.ledger.models import ExportWhat as ExportWhat
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a window: everything where a set is None, else only these; tags must all match.

    `team_ids` is the scope too: whoever asks leaves in it only teams that the viewer sees. `hour`
    and `node_id` are of lines alone, `job_id` is of lines, jobs and runs, tags are of all but services.
    """

    what: ExportWhat
    window: Window
    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None
    pool_ids: frozenset[int] | None = None
    states: frozenset[int] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    job_id: int | None = None
    node_id: int | None = None
    hour: datetime | None = None


TABLES: Mapping[ExportWhat, LiteralString] = {
    ExportWhat.LINES: "ledger_line AS of JOIN ledger_charge AS charge ON charge.id = of.charge_id",
    ExportWhat.JOB_DAYS: "ledger_ledgerjobday AS of",
    ExportWhat.DAYS: "ledger_ledgerday AS of",
    ExportWhat.SERVICE_DAYS: "ledger_serviceday AS of",
    ExportWhat.RUN_DAYS: "ledger_runday AS of",
}
OF_JOB: LiteralString = (
    "EXISTS (SELECT FROM workloads_job AS tagged"
    " WHERE tagged.id = of.job_id AND tagged.labels @> %(tags)s::jsonb)"
)


def condition(wanted: Wanted) -> sql.Composable:
    """The filter as a condition on the rows (`of`), for `parameters`."""
    is_of_lines = wanted.what == ExportWhat.LINES
    chosen: list[tuple[object, LiteralString]] = [
        (wanted.team_ids, "of.team_id = ANY(%(teams)s::int8[])"),
        (wanted.workload_ids, "of.workload_id = ANY(%(workloads)s::int8[])"),
        (wanted.pool_ids, "of.pool_id = ANY(%(pools)s::int8[])"),
        (wanted.states, "of.state = ANY(%(states)s::int8[])"),
        (wanted.job_id, "of.job_id = %(job)s"),
        (wanted.node_id, "charge.node_id = %(node)s"),
        (wanted.hour, "of.hour = %(hour)s"),
        (
            wanted.tags or None,
            "of.tags @> %(tags)s::jsonb" if wanted.what == ExportWhat.DAYS else OF_JOB,
        ),
    ]
    span: LiteralString = (
        "of.hour >= %(from)s AND of.hour < %(to)s"
        if is_of_lines
        else "of.day >= %(first_day)s AND of.day < %(end_day)s"
    )
    conditions = [span, *(text for value, text in chosen if value is not None)]
    return sql.SQL(" AND ").join([sql.SQL(text) for text in conditions])


def parameters(wanted: Wanted) -> dict[str, object]:
    """The values that `condition` names."""
    return {
        "from": wanted.window.starts_at,
        "to": wanted.window.ends_at,
        "first_day": wanted.window.first_day,
        "end_day": wanted.window.end_day,
        "teams": sorted(wanted.team_ids or ()),
        "workloads": sorted(wanted.workload_ids or ()),
        "pools": sorted(wanted.pool_ids or ()),
        "states": sorted(wanted.states or ()),
        "tags": json.dumps(dict(wanted.tags)),
        "job": wanted.job_id,
        "node": wanted.node_id,
        "hour": wanted.hour,
    }


def source(wanted: Wanted) -> sql.Composed:
    """FROM and WHERE of the rows, for `parameters`."""
    return sql.SQL("FROM {} WHERE {}").format(sql.SQL(TABLES[wanted.what]), condition(wanted))


def has_more_than(wanted: Wanted, most: int) -> bool:
    """Whether there are more than `most` rows; no more than one beyond them is counted."""
    query = sql.SQL("SELECT count(*) FROM (SELECT {} LIMIT %(most)s) AS found").format(
        source(wanted)
    )
    ((count,),) = rows(query, parameters(wanted) | {"most": most + 1})
    return bool(count > most)
