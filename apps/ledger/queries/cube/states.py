"""Costs by state of device time: what pages draw and list, of any groups, from the same rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString, NamedTuple

from psycopg import sql

from apps.economics.states import State
from apps.ledger.queries.costs import STATUSES, settlement_status
from apps.ledger.queries.cube.question import CubeQuestion, Key, includes_remainder, source_of
from apps.ledger.queries.cube.subqueries import key_names, legs_of, parameters_of
from apps.ledger.queries.tables import Row, rows
from apps.ledger.queries.windows import Window

MOST_JOBS = 200
STATES: Mapping[int | None, State | None] = {None: None, **{int(state): state for state in State}}
JOB_ORDERS: dict[str, LiteralString] = {
    "job": "job_id",
    "cost": "sum(micros)",
    "bought": "coalesce(sum(micros) FILTER (WHERE state = 1), 0) / nullif(sum(micros), 0)",
    "not_worked": "CASE WHEN sum(micros) IS NOT NULL"
    " THEN coalesce(sum(micros) FILTER (WHERE state = ANY(%(not_worked)s)), 0) END",
    "gpu_hours": "sum(gpu_ms)",
    "unit_cost": "sum(micros) / nullif(sum(gpu_ms), 0)",
}


class StateSum(NamedTuple):
    """The cost of one state of GPU time in one group; state None: no device time.

    Amounts are null where nothing is known. `provisional_micros` is the part not settled yet,
    `unpriced_milliseconds` the GPU time that has no price, `held_milliseconds` what jobs held of
    it, and of that what was observed; `core_milliseconds` is of pools that count cores. `statuses` are those of its charges, as far as the table
    that was read keeps them.
    """

    state: State | None
    micros: int | None
    provisional_micros: int | None
    gpu_milliseconds: int
    unpriced_milliseconds: int
    held_milliseconds: int = 0
    observed_milliseconds: int = 0
    core_milliseconds: int = 0
    statuses: frozenset[str] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither money nor time in it."""
        times = (self.gpu_milliseconds, self.core_milliseconds, self.unpriced_milliseconds)
        return not (self.micros or any(times))


States = tuple[StateSum, ...]


@dataclass(frozen=True, slots=True)
class JobSums:
    """The first jobs in the order asked for, and all of them together."""

    jobs: Mapping[int, States]
    total: States
    count: int


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How sure sums are: their statuses, coverage of held GPU time, how far they are settled, and whether their months are closed."""

    statuses: frozenset[str]
    held_milliseconds: int
    observed_milliseconds: int
    as_of: datetime | None
    pending_hours: int
    is_closed: bool = False


def state_sums(question: CubeQuestion) -> dict[tuple[Key, ...], States]:
    """Each group of the window by state, in the order of the keys; of any number of dimensions."""
    in_order = sql.SQL(" ORDER BY {} state NULLS LAST").format(key_names(question))
    state_rows = rows(_by_state(question) + in_order, parameters_of(question))
    return _sums_by_group(question, question.window, state_rows)


def state_sums_of_periods(question: CubeQuestion) -> tuple[dict[tuple[Key, ...], States], ...]:
    """Return each group by state, of the window and of the one it is held against, read at once."""
    in_order = sql.SQL(" ORDER BY is_now, {} state NULLS LAST").format(key_names(question))
    query = _by_state(question, by_period=True) + in_order
    rows_by_period: list[list[Row]] = [[] for _ in question.periods]
    for is_now, *row in rows(query, parameters_of(question)):
        rows_by_period[0 if is_now else 1].append(tuple(row))
    return tuple(
        _sums_by_group(question, window, of_window)
        for window, of_window in zip(question.periods, rows_by_period, strict=True)
    )


def _sums_by_group(
    question: CubeQuestion, window: Window, state_rows: Iterable[Row]
) -> dict[tuple[Key, ...], States]:
    by: dict[tuple[Key, ...], States] = {}
    width = len(question.group_by)
    source = source_of(question, window)
    is_rest = includes_remainder(question, source)
    place = question.group_by.index(source.of) if source.of in question.group_by else None
    for row in state_rows:
        summed = _state_sum(row[width:])
        # Of what a part is taken from nothing may be left; the part itself is there.
        is_left = is_rest and (place is None or row[place] is None)
        if not (is_left and summed.is_nothing):
            by[row[:width]] = (*by.get(row[:width], ()), summed)
    return by


def job_sums(question: CubeQuestion, sort: str = "-cost") -> JobSums:
    """The first 200 jobs by `sort` (a key of JOB_ORDERS, `-` for descending), and the total."""
    job_question = question.by("job").of_jobs()
    query = sql.SQL(JOBS).format(
        by_state=_by_state(job_question),
        order=sql.SQL(JOB_ORDERS[sort.removeprefix("-")]),
        direction=sql.SQL(" DESC" if sort.startswith("-") else ""),
    )
    job_rows = rows(query, parameters_of(job_question) | {"most": MOST_JOBS})
    by_job: dict[int | None, States] = {}
    for job_id, _, _, *of_state in job_rows:
        by_job[job_id] = (*by_job.get(job_id, ()), _state_sum(tuple(of_state)))
    # What is of no one job is all of them together.
    total = by_job.pop(None, ())
    jobs = {job_id: states for job_id, states in by_job.items() if job_id is not None}
    return JobSums(jobs=jobs, total=total, count=job_rows[0][1] if job_rows else 0)


def data_quality(states: Iterable[StateSum], window: Window, at: datetime) -> DataQuality:
    """How sure these sums of a window are."""
    sums, window_standing = list(states), settlement_status(window, at)
    return DataQuality(
        statuses=frozenset(status for state_sum in sums for status in state_sum.statuses),
        held_milliseconds=sum(state_sum.held_milliseconds for state_sum in sums),
        observed_milliseconds=sum(state_sum.observed_milliseconds for state_sum in sums),
        as_of=window_standing.as_of,
        pending_hours=window_standing.pending_hours,
        is_closed=window_standing.is_closed,
    )


def _by_state(question: CubeQuestion, *, by_period: bool = False) -> sql.Composed:
    """Each group by state; `by_period` of two windows, told apart by is_now."""
    keys = sql.SQL("is_now, " if by_period else "") + key_names(question)
    is_rest = any(
        includes_remainder(question, source_of(question, window)) for window in question.periods
    )
    return sql.SQL(BY_STATE).format(
        keys=keys,
        micros=sql.SQL(OF_REST if is_rest else "sum(micros)::int8"),
        statuses=STATUSES,
        legs=legs_of(question, "state", "flags", "status", "is_core"),
    )


def _state_sum(row: Row) -> StateSum:
    state, *sums, statuses = row
    return StateSum._make((STATES[state], *sums, frozenset(statuses)))


# Of what is left when a part is taken from the whole nothing is known where all has no price.
OF_REST: LiteralString = """
    CASE WHEN sum(micros) <> 0 OR coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0) = 0
              OR coalesce(sum(ms) FILTER (WHERE micros IS NOT NULL), 0) <> 0
         THEN sum(micros)::int8 END
"""
BY_STATE: LiteralString = """
SELECT {keys} state, {micros} AS micros,
       sum(micros) FILTER (WHERE status = 'provisional')::int8 AS provisional,
       coalesce(sum(ms) FILTER (WHERE NOT is_core), 0)::int8 AS gpu_ms,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND micros IS NULL), 0)::int8 AS unpriced_ms,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND state = ANY(%(held)s)
           AND flags & %(not_held)s = 0), 0)::int8 AS held_ms,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND state = ANY(%(held)s)
           AND state <> %(unobserved)s AND flags & %(not_held)s = 0), 0)::int8 AS observed_ms,
       coalesce(sum(ms) FILTER (WHERE is_core), 0)::int8 AS core_ms,
       {statuses} AS statuses
FROM ({legs}) AS day GROUP BY {keys} state
"""
JOBS: LiteralString = """
WITH of_job AS MATERIALIZED (SELECT key0 AS job_id, summed.* FROM ({by_state}) AS summed),
ranked AS (
    SELECT job_id, row_number() OVER (ORDER BY {order}{direction} NULLS LAST, job_id) AS place
    FROM of_job GROUP BY job_id
)
SELECT NULL::int8, (SELECT count(*) FROM ranked), 0 AS place, state, sum(micros)::int8, NULL::int8,
       sum(gpu_ms)::int8, sum(unpriced_ms)::int8, sum(held_ms)::int8, sum(observed_ms)::int8,
       sum(core_ms)::int8, '{{}}'::text[]
FROM of_job GROUP BY state
UNION ALL
SELECT job_id, 0, ranked.place, state, micros, provisional, gpu_ms, unpriced_ms, held_ms,
       observed_ms, core_ms, statuses
FROM of_job JOIN ranked USING (job_id) WHERE ranked.place <= %(most)s
ORDER BY place, state NULLS LAST
"""
