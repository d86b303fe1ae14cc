"""Sums of roll-ups on the way down: by team, by workload, by job, and of what no job held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, LiteralString

from django.conf import settings
from psycopg import sql

from apps.accounts.queries import Viewer
from apps.economics.states import State
from apps.ledger.queries.costs import (
    STATUSES,
    CostFilter,
    amount_column,
    parameters,
    roll_up,
    standing,
    where,
)
from apps.ledger.queries.loading import LEFT_OUT, Loading
from apps.ledger.queries.overview import StateSum
from apps.ledger.queries.tables import Row, rows

GPU = sql.SQL("day.unit <> 'core'")
COVERAGE = sql.SQL(
    ", {statuses},"
    " coalesce(sum(day.held_milliseconds) FILTER (WHERE {gpu}), 0)::int8,"
    " coalesce(sum(day.observed_milliseconds) FILTER (WHERE {gpu}), 0)::int8"
).format(gpu=GPU, statuses=STATUSES)
NOT_WORKED = [
    int(state)
    for state in (State.HELD_IDLE, State.UNALLOCATED, State.STRANDED, State.OUT_OF_SERVICE)
]
MOST_JOBS = 200
MOST_TAGS = 200
JOB_ORDERS: dict[str, LiteralString] = {
    "job": "job_id",
    "cost": "sum(micros)",
    "bought": "coalesce(sum(micros) FILTER (WHERE state = 1), 0) / nullif(sum(micros), 0)",
    "not_worked": "CASE WHEN sum(micros) IS NOT NULL"
    " THEN coalesce(sum(micros) FILTER (WHERE state = ANY(%(not_worked)s)), 0) END",
    "gpu_hours": "sum(gpu_ms)",
    "unit_cost": "sum(micros) / nullif(sum(gpu_ms), 0)",
}

States = tuple[StateSum, ...]


@dataclass(frozen=True, slots=True)
class Drill:
    """Which costs, by which loading; `is_of_no_workload` leaves only those of no workload.

    `core_pool_ids` are the pools measured in cores, whose time is no GPU time.
    """

    chosen: CostFilter
    loading: Loading = Loading.CHARGED
    is_of_no_workload: bool = False
    core_pool_ids: frozenset[int] = frozenset()
    job_id: int | None = None


@dataclass(frozen=True, slots=True)
class NoWorkload:
    """Costs of no workload: jobs', and by pool (None: of none) and state what no job held."""

    of_jobs: States
    of_none: Mapping[int | None, States]


@dataclass(frozen=True, slots=True)
class JobSums:
    """The first jobs in the order asked for, and all of them together."""

    jobs: Mapping[int, States]
    total: States
    count: int


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure sums are: their statuses, coverage of held GPU time, and how far they are settled."""

    statuses: frozenset[str]
    held_milliseconds: int
    observed_milliseconds: int
    as_of: datetime | None
    pending_hours: int


@dataclass(frozen=True, slots=True)
class DayState:
    """One state of one day, with the statuses and the coverage of what it sums."""

    day: date
    sums: StateSum
    statuses: frozenset[str]
    held_milliseconds: int
    observed_milliseconds: int


def scoped(chosen: CostFilter, viewer: Viewer) -> CostFilter:
    """The same, of the teams that the viewer sees; what they named beyond these is left out."""
    if viewer.sees_everything:
        return chosen
    seen = viewer.team_ids if chosen.team_ids is None else viewer.team_ids & chosen.team_ids
    return replace(chosen, team_ids=seen)


def costs_by_team(drill: Drill, viewer: Viewer) -> dict[int, States]:
    """Every team with costs, by state."""
    return {team_id: states for (team_id,), states in _grouped(drill, viewer, ["team_id"])}


def sums_by_day(drill: Drill, viewer: Viewer) -> list[DayState]:
    """Every day with costs by state, in order."""
    query = _grouping(drill, viewer, ["day"], COVERAGE)
    return [
        DayState(day, _state_sum(of_state), frozenset(statuses), held, observed)
        for day, *of_state, statuses, held, observed in rows(query, _parameters(drill, viewer))
    ]


def costs_by_workload(drill: Drill, viewer: Viewer) -> dict[int | None, States]:
    """Every workload with costs, by state; None: jobs of no workload, and what no job held."""
    return {row[0][0]: row[1] for row in _grouped(drill, viewer, ["workload_id"])}


def costs_of_no_workload(drill: Drill, viewer: Viewer) -> NoWorkload:
    """All costs of no workload, of jobs and of none apart."""
    asked = replace(drill, is_of_no_workload=True)
    by_pool = {pool_id: states for (pool_id,), states in _grouped(asked, viewer, ["pool_id"])}
    return _no_workload(drill, viewer, by_pool)


def costs_by_workload_and_of_none(
    drill: Drill, viewer: Viewer
) -> tuple[dict[int | None, States], NoWorkload]:
    """`costs_by_workload` and `costs_of_no_workload`, in one question less than both."""
    by_workload: dict[int | None, States] = {}
    by_pool: dict[int | None, States] = {}
    for (workload_id, pool_id), states in _grouped(drill, viewer, ["workload_id", "pool_id"]):
        by_workload[workload_id] = (*by_workload.get(workload_id, ()), *states)
        if workload_id is None:
            by_pool[pool_id] = states
    return by_workload, _no_workload(drill, viewer, by_pool)


def _no_workload(drill: Drill, viewer: Viewer, by_pool: Mapping[int | None, States]) -> NoWorkload:
    """What jobs of no workload cost, and of each pool what is left without them."""
    of_pools = _grouped_jobs(replace(drill, is_of_no_workload=True), viewer, "pool_id")
    of_jobs = {(pool, each.state): each for pool, states in of_pools.items() for each in states}
    of_none = {
        pool_id: tuple(
            filter(_is_any, (_less(each, of_jobs.get((pool_id, each.state))) for each in states))
        )
        for pool_id, states in by_pool.items()
    }
    return NoWorkload(
        of_jobs=tuple(of_jobs.values()),
        of_none={pool_id: states for pool_id, states in of_none.items() if states},
    )


def costs_of_job_by_day(drill: Drill, viewer: Viewer, job_id: int) -> dict[date, States]:
    """What one job cost on each day, by state."""
    return _grouped_jobs(replace(drill, job_id=job_id), viewer, "day")


def costs_of_jobs(drill: Drill, viewer: Viewer, sort: str = "-cost") -> JobSums:
    """The first 200 jobs by `sort` (a key of JOB_ORDERS, `-` for descending), and the total."""
    of_jobs = _of_jobs(drill, [sql.SQL("day.job_id")])
    direction = sql.SQL(" DESC" if sort.startswith("-") else "")
    params = _parameters(drill, viewer) | {"not_worked": NOT_WORKED, "most": MOST_JOBS}
    found = rows(
        sql.SQL(
            """
            WITH of_job AS MATERIALIZED ({of_jobs}),
            ranked AS (
                SELECT job_id, row_number() OVER (ORDER BY {order}{direction} NULLS LAST, job_id)
                       AS place
                FROM of_job GROUP BY job_id
            )
            SELECT NULL::int8, (SELECT count(*) FROM ranked), state, sum(micros)::int8, NULL::int8,
                   sum(gpu_ms)::int8, sum(unpriced_ms)::int8, 0 AS place
            FROM of_job GROUP BY state
            UNION ALL
            SELECT of_job.job_id, 0, of_job.state, of_job.micros, of_job.provisional, of_job.gpu_ms,
                   of_job.unpriced_ms, ranked.place
            FROM of_job JOIN ranked USING (job_id) WHERE ranked.place <= %(most)s
            ORDER BY place, state NULLS LAST
            """
        ).format(
            of_jobs=of_jobs,
            order=sql.SQL(JOB_ORDERS[sort.removeprefix("-")]),
            direction=direction,
        ),
        params,
    )
    by_job: dict[int | None, States] = {}
    for job_id, _, *of_state, _ in found:
        by_job[job_id] = (*by_job.get(job_id, ()), _state_sum(of_state))
    # What is of no one job is all of them together.
    total = by_job.pop(None, ())
    jobs = {job_id: states for job_id, states in by_job.items() if job_id is not None}
    return JobSums(jobs=jobs, total=total, count=found[0][1] if found else 0)


def sureness(drill: Drill, viewer: Viewer, at: datetime) -> Sureness:
    """How sure the sums of this are."""
    found = rows(
        sql.SQL(
            """
            SELECT {statuses},
                   coalesce(sum(day.held_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
                   coalesce(sum(day.observed_milliseconds) FILTER (WHERE {gpu}), 0)::int8
            FROM {roll_up} AS day WHERE {where}
            """
        ).format(
            gpu=GPU,
            statuses=STATUSES,
            roll_up=_roll_up(drill, []),
            where=_where(drill, viewer),
        ),
        _parameters(drill, viewer),
    )[0]
    known = standing(drill.chosen.window, at)
    return Sureness(frozenset(found[0]), found[1], found[2], known.as_of, known.pending_hours)


def tags_used(drill: Drill, viewer: Viewer) -> list[str]:
    """`key=value` of every tag that costs of the window carry, in order; 200 at most."""
    if not settings.TAG_KEYS:
        return []
    untagged = replace(drill, chosen=replace(drill.chosen, tags={}))
    found = rows(
        sql.SQL(
            """
            SELECT DISTINCT tag.key || '=' || tag.value
            FROM (SELECT DISTINCT day.tags FROM ledger_ledgerday AS day
                  WHERE {where} AND day.tags <> '{{}}'::jsonb) AS used
            CROSS JOIN LATERAL jsonb_each_text(used.tags) AS tag
            ORDER BY 1 LIMIT %(most)s
            """
        ).format(where=_where(untagged, viewer)),
        _parameters(untagged, viewer) | {"most": MOST_TAGS},
    )
    return [text for (text,) in found]


def _grouped(
    drill: Drill, viewer: Viewer, columns: list[LiteralString]
) -> list[tuple[tuple[Any, ...], States]]:
    query = _grouping(drill, viewer, columns, sql.SQL(""))
    return _by_key(rows(query, _parameters(drill, viewer)), len(columns))


def _grouping(
    drill: Drill, viewer: Viewer, columns: list[LiteralString], more: sql.Composable
) -> sql.Composed:
    return sql.SQL(
        """
        SELECT {keys}, day.state, sum({amount})::int8,
               sum({amount}) FILTER (WHERE day.status = 'provisional')::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu} AND {amount} IS NULL), 0)::int8
               {more}
        FROM {roll_up} AS day WHERE {where}
        GROUP BY {keys}, day.state ORDER BY {keys}, day.state NULLS LAST
        """
    ).format(
        keys=sql.SQL(", ").join([sql.SQL("day.{}").format(sql.Identifier(key)) for key in columns]),
        amount=amount_column(drill.chosen.basis),
        gpu=GPU,
        more=more,
        roll_up=_roll_up(drill, columns),
        where=_where(drill, viewer),
    )


def _grouped_jobs(drill: Drill, viewer: Viewer, column: LiteralString) -> dict[Any, States]:
    query = _of_jobs(drill, [sql.SQL("day.{}").format(sql.Identifier(column))])
    found = rows(query + sql.SQL(" ORDER BY 1, 2 NULLS LAST"), _parameters(drill, viewer))
    return {key: states for (key,), states in _by_key(found, 1)}


def _by_key(found: list[Row], keys: int) -> list[tuple[tuple[Any, ...], States]]:
    by: dict[tuple[Any, ...], States] = {}
    for row in found:
        by[row[:keys]] = (*by.get(row[:keys], ()), _state_sum(row[keys:]))
    return list(by.items())


def _of_jobs(drill: Drill, keys: list[sql.Composable]) -> sql.Composed:
    """Sums of job days by `keys` and state, in the columns of StateSum."""
    gpu = sql.SQL("coalesce(day.pool_id, 0) <> ALL(%(core_pools)s)")
    return sql.SQL(
        """
        SELECT {keys}, day.state, sum({amount})::int8 AS micros, NULL::int8 AS provisional,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8 AS gpu_ms,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu} AND {amount} IS NULL), 0)::int8
                   AS unpriced_ms
        FROM ledger_ledgerjobday AS day WHERE {where}
        GROUP BY {keys}, day.state
        """
    ).format(
        keys=sql.SQL(", ").join(keys),
        amount=amount_column(drill.chosen.basis),
        gpu=gpu,
        where=_where_of_jobs(drill),
    )


def _roll_up(drill: Drill, columns: Sequence[str]) -> sql.Composable:
    of_none = ["workload"] if drill.is_of_no_workload else []
    return roll_up(drill.chosen, [*of_none, *(name.removesuffix("_id") for name in columns)])


def _where(drill: Drill, viewer: Viewer) -> sql.Composable:
    return sql.SQL("{} AND {}").format(where(scoped(drill.chosen, viewer)), _narrowed(drill))


def _where_of_jobs(drill: Drill) -> sql.Composable:
    # Scope is in the parameters; a job day keeps no tags of its own.
    everybody = drill.chosen.team_ids if drill.chosen.team_ids is not None else frozenset({0})
    of_job = sql.SQL("TRUE" if drill.job_id is None else "day.job_id = %(job)s")
    plain = where(replace(drill.chosen, tags={}, team_ids=everybody))
    tagged = sql.SQL(
        "EXISTS (SELECT FROM workloads_job_fact AS job"
        " WHERE job.id = day.job_id AND job.labels @> %(tags)s::jsonb)"
        if drill.chosen.tags
        else "TRUE"
    )
    return sql.SQL(" AND ").join([plain, of_job, _narrowed(drill), tagged])


def _narrowed(drill: Drill) -> sql.Composable:
    conditions: list[sql.Composable] = [sql.SQL("TRUE")]
    if drill.is_of_no_workload:
        conditions.append(sql.SQL("day.workload_id IS NULL"))
    if drill.loading in LEFT_OUT:
        conditions.append(sql.SQL("day.flags & {} = 0").format(LEFT_OUT[drill.loading]))
    return sql.SQL(" AND ").join(conditions)


def _parameters(drill: Drill, viewer: Viewer) -> dict[str, object]:
    params = parameters(scoped(drill.chosen, viewer))
    if scoped(drill.chosen, viewer).team_ids is None:
        params["teams"] = sorted(viewer.team_ids)
    return params | {"core_pools": sorted(drill.core_pool_ids), "job": drill.job_id}


def _state_sum(row: Row | list[int]) -> StateSum:
    state, *sums = row
    return StateSum(None if state is None else State(state), *sums)


def _less(whole: StateSum, part: StateSum | None) -> StateSum:
    if part is None:
        return whole
    return StateSum(
        state=whole.state,
        micros=_minus(whole.micros, part.micros),
        provisional_micros=whole.provisional_micros,
        gpu_milliseconds=whole.gpu_milliseconds - part.gpu_milliseconds,
        unpriced_milliseconds=whole.unpriced_milliseconds - part.unpriced_milliseconds,
    )


def _minus(whole: int | None, part: int | None) -> int | None:
    return whole if whole is None or part is None else whole - part


def _is_any(each: StateSum) -> bool:
    return bool(each.micros or each.gpu_milliseconds)
