"""Which rows of the ledger somebody wants: of lines, or of days by job, team, service or run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import LiteralString

from psycopg import sql

from apps.ledger.queries.export_sources import SOURCES
from apps.ledger.queries.export_sources import ExportWhat as ExportWhat
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


def condition(wanted: Wanted) -> sql.Composable:
    """The filter as a condition on the rows (`of`), for `parameters`."""
    rows_of = SOURCES[wanted.what]
    chosen: list[tuple[object, LiteralString]] = [
        (wanted.team_ids, "of.team_id = ANY(%(teams)s::int8[])"),
        (wanted.workload_ids, "of.workload_id = ANY(%(workloads)s::int8[])"),
        (wanted.pool_ids, "of.pool_id = ANY(%(pools)s::int8[])"),
        (wanted.states, "of.state = ANY(%(states)s::int8[])"),
        (wanted.job_id, "of.job_id = %(job)s"),
        (wanted.node_id, "charge.node_id = %(node)s"),
        (wanted.hour, "of.hour = %(hour)s"),
        (wanted.tags or None, rows_of.tags),
    ]
    conditions = [rows_of.span, *(text for value, text in chosen if value is not None)]
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
    return sql.SQL("FROM {} WHERE {}").format(
        sql.SQL(SOURCES[wanted.what].table), condition(wanted)
    )


def has_more_than(wanted: Wanted, most: int) -> bool:
    """Whether there are more than `most` rows; no more than one beyond them is counted."""
    query = sql.SQL("SELECT count(*) FROM (SELECT {} LIMIT %(most)s) AS found").format(
        source(wanted)
    )
    ((count,),) = rows(query, parameters(wanted) | {"most": most + 1})
    return bool(count > most)
