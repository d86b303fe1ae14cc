"""Every series as the ledger, the counters and the schedulers have it, hour by hour."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString

from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.serving import SERVICE_KINDS
from apps.economics.states import State
from apps.ledger.queries.kinds import ChargeKind, Status
from apps.ledger.queries.tables import named_rows
from apps.marks.queries import Pass, units_marked
from apps.planning.queries.series import (
    GPU_HOURS,
    GPU_MODEL,
    POOL,
    QUEUE_WAIT,
    REQUESTS,
    SERVICE,
    SPEND,
    TEAM,
    TOKENS,
    WHOLE,
    WORKLOAD_CLASS,
    SeriesKey,
)
from apps.workloads import queries as workloads
from apps.workloads.queries.requests import HourCount, request_hours

MICROS = 1_000_000
MOST_UNOBSERVED = 0.1
"""Of the time held in an hour: with more, the hour is left out."""
HISTORY_HOURS = 90 * 24
"""As far back as any forecast looks."""
COUNTED_AFTER = 2 * HOUR
"""Requests and starts of jobs are taken to be complete so long after their hour."""
HOURLY_KINDS = [
    str(kind)
    for kind in (
        ChargeKind.NODE_HOUR,
        ChargeKind.COMMITMENT_UNUSED,
        ChargeKind.SHARED,
        ChargeKind.API,
        ChargeKind.OWNED_UNUSED,
    )
]
"""Charges that are made by the hour; a bill's own land on one hour of their period."""

LINES: LiteralString = """
WITH hourly AS (
    SELECT line.hour, pool.id AS pool_id, nullif(pool.gpu_model, '') AS gpu_model, line.team_id,
           workload.kind AS workload_class,
           CASE WHEN pool.unit = 'gpu' THEN line.unit_milliseconds ELSE 0 END AS gpu_ms,
           CASE WHEN pool.unit = 'gpu' THEN line.state END AS state, charge.status,
           line.effective_micros, charge.kind = ANY(%(hourly)s) AS is_hourly
    FROM ledger_line_fact AS line
    JOIN ledger_charge_fact AS charge ON charge.id = line.charge_id
    LEFT JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id
    LEFT JOIN workloads_workload_fact AS workload ON workload.id = line.workload_id
    WHERE line.hour >= %(from)s AND line.hour < %(to)s
      AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
)
SELECT hour, pool_id, gpu_model, workload_class, team_id,
       grouping(pool_id) = 0 AS of_pool, grouping(gpu_model) = 0 AS of_model,
       grouping(workload_class) = 0 AS of_class, grouping(team_id) = 0 AS of_team,
       bool_or(status = %(provisional)s) AS is_provisional,
       coalesce(sum(gpu_ms) FILTER (WHERE state = ANY(%(held)s)), 0)::int8 AS held_ms,
       coalesce(sum(gpu_ms) FILTER (WHERE state = %(unobserved)s), 0)::int8 AS unobserved_ms,
       bool_or(state IS NOT NULL) AS has_gpus,
       coalesce(sum(effective_micros) FILTER (WHERE is_hourly), 0)::int8 AS micros,
       coalesce(bool_or(effective_micros IS NULL) FILTER (WHERE is_hourly), false) AS is_unpriced
FROM hourly
GROUP BY GROUPING SETS (
    (hour), (hour, pool_id), (hour, gpu_model), (hour, workload_class), (hour, team_id)
)
"""
WAITED: LiteralString = """
WITH started AS (
    SELECT job.id, job.submitted_at, job.started_at, node.pool_id,
           sum(held.gpus_numerator::float8 / held.gpus_denominator) AS gpus
    FROM workloads_job_fact AS job
    JOIN workloads_allocation_fact AS held
        ON held.job_id = job.id AND held.period @> job.started_at
    JOIN fleet_node_fact AS node ON node.id = held.node_id
    WHERE job.merged_into_id IS NULL AND job.started_at >= %(from)s AND job.started_at < %(to)s
    GROUP BY job.id, job.submitted_at, job.started_at, node.pool_id
)
"""
STARTS: LiteralString = (
    WAITED
    + """
SELECT pool_id, date_trunc('hour', started_at, 'UTC') AS hour, count(*) AS jobs,
       count(submitted_at) AS told,
       avg(extract(epoch FROM greatest(started_at - submitted_at, interval '0')) / 3600)
           FILTER (WHERE submitted_at IS NOT NULL)::float8 AS mean_wait
FROM started GROUP BY 1, 2
"""
)
QUEUED: LiteralString = (
    WAITED
    + """
SELECT pool_id, hour, sum(gpus * extract(epoch FROM
    least(started_at, hour + interval '1 hour') - greatest(submitted_at, hour)) / 3600)::float8
    AS gpu_hours
FROM started, generate_series(
    date_trunc('hour', greatest(submitted_at, %(from)s), 'UTC'), started_at, interval '1 hour'
) AS hour
WHERE submitted_at < started_at
GROUP BY 1, 2
"""
)
QUEUED_JOBS: LiteralString = (
    WAITED
    + """
SELECT pool_id, hour, gpus, sum(gpus * extract(epoch FROM
    least(started_at, hour + interval '1 hour') - greatest(submitted_at, hour)) / 3600)::float8
    AS gpu_hours
FROM started, generate_series(
    date_trunc('hour', greatest(submitted_at, %(from)s), 'UTC'), started_at, interval '1 hour'
) AS hour
WHERE submitted_at < started_at AND gpus > 0
GROUP BY 1, 2, 3
"""
)
"""The same, by how many GPUs a job asked for."""


@dataclass(slots=True)
class MeasuredSeries:
    """`values` by hour; an hour that is not there is unknown, never 0.

    `left_out` hours are provisional, wait to be settled anew, were not observed, or have no price. `queue` says of GPU-hours
    whether what waited is in them: `known`, `in_part` (of some jobs nobody said when they were submitted),
    `unknown`; empty of other measures.
    """

    values: dict[datetime, float] = field(default_factory=dict)
    left_out: int = 0
    queue: str = ""


@dataclass(slots=True)
class _LedgerHours:
    """One group's hours of the ledger; `held` in GPU-hours, `spend` in units of the currency."""

    held: dict[datetime, float] = field(default_factory=dict)
    unobserved: set[datetime] = field(default_factory=set)
    spend: dict[datetime, float] = field(default_factory=dict)
    unpriced: set[datetime] = field(default_factory=set)
    provisional: set[datetime] = field(default_factory=set)

    def add(self, row: Any) -> None:
        """One more hour of it, a row of LINES."""
        if row.has_gpus:
            self.held[row.hour] = row.held_ms / HOUR_MS
        self.spend[row.hour] = row.micros / MICROS
        if row.unobserved_ms > MOST_UNOBSERVED * row.held_ms:
            self.unobserved.add(row.hour)
        if row.is_unpriced:
            self.unpriced.add(row.hour)
        if row.is_provisional:
            self.provisional.add(row.hour)

    @property
    def unclear(self) -> set[datetime]:
        """Hours in which too little was observed; none where nothing ever was: jobs alone then say what was held."""
        used = {hour for hour, gpu_hours in self.held.items() if gpu_hours}
        return set() if used <= self.unobserved else self.unobserved


def measured_series(starts_at: datetime, until: datetime) -> dict[SeriesKey, MeasuredSeries]:
    """All that Runrate knows the history of, in the hours of `[starts_at, until)`."""
    span = {"from": starts_at, "to": until}
    series_by_key = _of_ledger(span)
    _add_queued(series_by_key, span)
    _add_waits(series_by_key, {**span, "to": until - COUNTED_AFTER})
    return series_by_key | _of_services((starts_at, until - COUNTED_AFTER))


def _of_ledger(span: Mapping[str, datetime]) -> dict[SeriesKey, MeasuredSeries]:
    """GPU-hours and spend of every group. Without a line in an hour that the ledger has, it held nothing."""
    by_group: dict[tuple[str, str], _LedgerHours] = defaultdict(_LedgerHours)
    for row in named_rows(LINES, _line_parameters(span)):
        group = _group_of(row)
        if group is not None:
            by_group[group].add(row)
    all_hours = by_group[WHOLE, ""]
    waiting = all_hours.provisional | _waiting_hours(span)
    series_by_key = {}
    for (dimension, key), hours in sorted(by_group.items()):
        if hours.held:
            # Without a line a pool has no nodes; a team, model or class has none of those there are.
            every_hour = hours.held if dimension == POOL else all_hours.held
            series_by_key[SeriesKey(GPU_HOURS, dimension, key)] = _fill_missing_hours(
                hours.held, every_hour, waiting | hours.unclear
            )
        if dimension in (WHOLE, TEAM) and hours.spend:
            series_by_key[SeriesKey(SPEND, dimension, key)] = _fill_missing_hours(
                hours.spend, all_hours.held or all_hours.spend, waiting | hours.unpriced
            )
    return series_by_key


def _waiting_hours(span: Mapping[str, datetime]) -> set[datetime]:
    """Hours whose charges or lines are not yet what the facts say."""
    count = (span["to"] - span["from"]) // HOUR
    hours = [span["from"] + number * HOUR for number in range(count)]
    return {
        hour
        for pass_ in (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD)
        for hour in units_marked(pass_, hours)
    }


def _line_parameters(span: Mapping[str, datetime]) -> dict[str, object]:
    return {
        **span,
        "hourly": HOURLY_KINDS,
        "provisional": str(Status.PROVISIONAL),
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "unobserved": int(State.UNOBSERVED),
    }


def _group_of(row: Any) -> tuple[str, str] | None:
    """Dimension and key; None of what has no pool, model, class or team."""
    for is_of, dimension, key in (
        (row.of_pool, POOL, row.pool_id),
        (row.of_model, GPU_MODEL, row.gpu_model),
        (row.of_class, WORKLOAD_CLASS, row.workload_class),
        (row.of_team, TEAM, row.team_id),
    ):
        if is_of:
            return None if key is None else (dimension, str(key))
    return WHOLE, ""


def _fill_missing_hours(
    amounts: Mapping[datetime, float], every_hour: Iterable[datetime], left_out: set[datetime]
) -> MeasuredSeries:
    """From its first hour on; where it has no line it is 0."""
    first = min(amounts)
    hours = [hour for hour in every_hour if hour >= first]
    values = {hour: amounts.get(hour, 0.0) for hour in hours if hour not in left_out}
    return MeasuredSeries(values, left_out=len(hours) - len(values))


def _add_queued(
    series_by_key: Mapping[SeriesKey, MeasuredSeries], span: Mapping[str, datetime]
) -> None:
    """Add what jobs waited for, as demand of the pool that they ran in at last, and how far that is known."""
    models = {row.id: row.gpu_model for row in named_rows(MODELS, {})}
    jobs: Counter[tuple[str, str]] = Counter()
    reporting_jobs: Counter[tuple[str, str]] = Counter()
    for row in named_rows(STARTS, span):
        for group in _groups_of_pool(row.pool_id, models):
            jobs[group] += row.jobs
            reporting_jobs[group] += row.told
    for series, demand in series_by_key.items():
        group = series.dimension, series.key
        if series.measure == GPU_HOURS:
            is_whole = reporting_jobs[group] == jobs[group]
            demand.queue = (
                "unknown" if not reporting_jobs[group] else "known" if is_whole else "in_part"
            )
    for row in named_rows(QUEUED, span):
        for dimension, key in _groups_of_pool(row.pool_id, models):
            gpu_series = series_by_key.get(SeriesKey(GPU_HOURS, dimension, key))
            if gpu_series is not None and row.hour in gpu_series.values:
                gpu_series.values[row.hour] += row.gpu_hours


def _add_waits(
    series_by_key: dict[SeriesKey, MeasuredSeries], span: Mapping[str, datetime]
) -> None:
    """The mean wait of the jobs that began in an hour; without one it is not known."""
    for row in named_rows(STARTS, span):
        if row.told:
            series = SeriesKey(QUEUE_WAIT, POOL, str(row.pool_id))
            series_by_key.setdefault(series, MeasuredSeries()).values[row.hour] = row.mean_wait


MODELS: LiteralString = "SELECT id, gpu_model FROM fleet_pool_fact"


def _groups_of_pool(pool_id: int, models: Mapping[int, str]) -> list[tuple[str, str]]:
    """The groups whose demand a job of this pool is; of teams and classes nobody says it by the hour."""
    model = models.get(pool_id, "")
    return [(WHOLE, ""), (POOL, str(pool_id)), *([(GPU_MODEL, model)] if model else [])]


def _of_services(span: tuple[datetime, datetime]) -> dict[SeriesKey, MeasuredSeries]:
    """Requests and tokens, of the source that counted more: both see the same."""
    series_by_key: dict[SeriesKey, MeasuredSeries] = {}
    for fact in workloads.workloads().values():
        if fact.kind in SERVICE_KINDS:
            # One at a time: their counts of 90 days together would be a large part of a worker's memory.
            series_by_key |= _of_service(fact.id, request_hours([fact.id], span))
    return series_by_key


def _of_service(workload_id: int, counts: Iterable[HourCount]) -> dict[SeriesKey, MeasuredSeries]:
    by_source: dict[tuple[datetime, str], list[HourCount]] = defaultdict(list)
    for count in counts:
        by_source[count.hour, count.source].append(count)
    series_by_key: dict[SeriesKey, MeasuredSeries] = defaultdict(MeasuredSeries)
    for (hour, _), of_source in by_source.items():
        amounts = {REQUESTS: _requests_of(of_source), TOKENS: _tokens_of(of_source)}
        for measure, amount in amounts.items():
            if amount is not None:
                values = series_by_key[SeriesKey(measure, SERVICE, str(workload_id))].values
                values[hour] = max(values.get(hour, 0.0), float(amount))
    return dict(series_by_key)


def _requests_of(counts: Iterable[HourCount]) -> int | None:
    """Of all features; None where one of them does not report its own."""
    amounts = [count.counts.requests for count in counts]
    return None if None in amounts else sum(filter(None, amounts))


def _tokens_of(counts: Iterable[HourCount]) -> int | None:
    """Prompt and output, of all features; None where one of them does not report its own."""
    amounts = [
        amount
        for count in counts
        for amount in (count.counts.prompt_tokens, count.counts.output_tokens)
    ]
    return None if None in amounts else sum(filter(None, amounts))
