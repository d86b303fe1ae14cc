"""Rows of the ledger that somebody wants: of lines, or of days by job, team, service or run."""

from dataclasses import dataclass, field
from typing import LiteralString

from psycopg import sql

from apps.ledger.queries.cube.question import Filters
from apps.ledger.queries.cube.sources import TAG, name_of
from apps.ledger.queries.cube.subqueries import filter_conditions, filter_parameters
from apps.ledger.queries.export_sources import SOURCES
from apps.ledger.queries.export_sources import ExportWhat as ExportWhat
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

COLUMNS: dict[str, LiteralString] = {
    "team": "of.team_id",
    "workload": "of.workload_id",
    "pool": "of.pool_id",
    "state": "of.state",
    "job": "of.job_id",
    "node": "charge.node_id",
}
"""What rows (`of`) may be filtered by, beside tags; nodes are of lines alone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a window, with the keys of each filter as a CubeQuestion has them.

    `team_ids` is the scope: whoever asks leaves in it only teams that the viewer sees; None:
    everybody's. Jobs are of lines, jobs and runs, tags of all but services.
    """

    what: ExportWhat
    window: Window
    filters: Filters = field(default_factory=dict)
    team_ids: frozenset[int] | None = None


def row_column(name: str, tags: LiteralString = "tagged.labels") -> sql.Composable:
    """A row's value of a dimension in SQL; `tags` is where its tags are."""
    if name_of(name) != TAG:
        return sql.SQL(COLUMNS[name])
    return sql.SQL("({} ->> {})").format(sql.SQL(tags), sql.Literal(name.removeprefix(f"{TAG}.")))


def condition(wanted: Wanted) -> sql.Composable:
    """The filters as a condition on the rows (`of`), for `parameters`."""
    rows_of = SOURCES[wanted.what]
    conditions: list[sql.Composable] = [sql.SQL(rows_of.span)]
    if wanted.team_ids is not None:
        conditions.append(sql.SQL("of.team_id = ANY(%(scope)s::int8[])"))
    conditions += filter_conditions(wanted.filters, lambda name: row_column(name, rows_of.tags))
    return sql.SQL(" AND ").join(conditions)


def parameters(wanted: Wanted) -> dict[str, object]:
    """The values that `condition` names."""
    return {
        "from": wanted.window.starts_at,
        "to": wanted.window.ends_at,
        "first_day": wanted.window.first_day,
        "end_day": wanted.window.end_day,
        "scope": sorted(wanted.team_ids or ()),
        **filter_parameters(wanted.filters),
    }


def source(wanted: Wanted) -> sql.Composed:
    """FROM and WHERE of the rows, for `parameters`."""
    rows_of = SOURCES[wanted.what]
    asks_tags = any(name_of(name) == TAG for name in wanted.filters)
    return sql.SQL("FROM {} {} WHERE {}").format(
        sql.SQL(rows_of.table),
        sql.SQL(rows_of.tags_joined if asks_tags else ""),
        condition(wanted),
    )


def has_more_than(wanted: Wanted, most: int) -> bool:
    """Whether there are more than `most` rows; no more than one beyond them is counted."""
    query = sql.SQL("SELECT count(*) FROM (SELECT {} LIMIT %(most)s) AS found").format(
        source(wanted)
    )
    ((count,),) = rows(query, parameters(wanted) | {"most": most + 1})
    return bool(count > most)
