"""RunDay in the divide pass: the day's lines of jobs that carried runs, divided over these."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, LiteralString, NamedTuple

from apps.economics.bases import Amounts, split_bases
from apps.economics.hours import HOUR
from apps.economics.meeting import met_weights
from apps.economics.minutes import Minutes, minutes_of, unpacked
from apps.economics.run_shares import CarriedShare, Part, hour_weights
from apps.economics.run_time import Bucket
from apps.economics.split import largest_remainder
from apps.economics.states import State
from apps.ledger.actions.marginal import MARGINAL, MARGINAL_JOIN, MARGINAL_MICROS
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.queries.calendar import milliseconds_into
from apps.ledger.queries.job_meters import JobHour, JobMeterSums, job_meters
from apps.ledger.queries.tables import Row, columns_as, copy_in, named_rows, rows
from apps.unit_economics.queries.runs.job_minutes import job_minutes
from apps.workloads.queries.run_facts import (
    CarriedHour,
    Life,
    job_lifetimes,
    jobs_carrying,
    run_hours,
)


class Traits(NamedTuple):
    """The columns that lines of one row share, in the order of COPY."""

    posting_month: date
    status: str
    kind: str
    pool_id: int | None
    team_id: int
    workload_id: int | None
    state: int | None
    flags: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a job and hour that differ in their node alone, added up; LINES names each."""

    job_id: int
    hour: datetime
    through: datetime | None
    traits: Traits
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    billed_micros: int | None
    marginal_micros: int | None
    unit_milliseconds: int

    @property
    def pool_id(self) -> int | None:
        """The pool, which is one of their traits."""
        return self.traits.pool_id

    @property
    def workload_id(self) -> int | None:
        """The workload, which is one of their traits."""
        return self.traits.workload_id

    @property
    def state(self) -> int | None:
        """The state, which is one of their traits."""
        return self.traits.state

    @property
    def unknown(self) -> Row:
        """Return which bases are not known."""
        return (
            self.list_micros is None,
            self.contracted_micros is None,
            self.effective_micros is None,
            self.billed_micros is None,
            self.marginal_micros is None,
        )


@dataclass(frozen=True, slots=True)
class JobHourParts:
    """The lines of a job in an hour, and by what they are divided over its runs and their buckets.

    `minutes` are those of each part, as far as they are kept; empty where none is.
    """

    lines: Sequence[Lines]
    weights: Mapping[Part, int]
    minutes: Mapping[Part, Minutes]

    @property
    def state_ms(self) -> dict[int, int]:
        """Milliseconds of its lines by state, of the states that there are."""
        ms_by_state: dict[int, int] = {}
        for line in self.lines:
            if line.state is not None and line.unit_milliseconds:
                ms_by_state[line.state] = ms_by_state.get(line.state, 0) + line.unit_milliseconds
        return ms_by_state

    @property
    def is_told_apart(self) -> bool:
        """Whether minutes can say which state was in which part."""
        parts = sum(1 for weight in self.weights.values() if weight)
        return bool(self.minutes) and parts > 1 and len(self.state_ms) > 1


def write_run_days(rolled: RolledDay, unasked: Collection[tuple[int, datetime]]) -> set[int]:
    """Write the day's rows of runs anew, in the pass's transaction; the runs it is about.

    `unasked` are the hours in which a service (a workload) counted no requests. Each state's lines
    are divided over buckets by the minutes in which both were, where these are kept. Every basis and all milliseconds of a job's time in runs sum exactly to its lines of that time.
    """
    params = rolled.parameters()
    were = {run_id for (run_id,) in rows(DELETE, params)}
    job_ids = jobs_carrying(rolled.starts_at, rolled.ends_at)
    if not job_ids:
        return were
    line_rows = named_rows(LINES, params | {"jobs": job_ids})
    carried = _hours_carried(rolled, {row.job_id for row in line_rows})
    meters = job_meters(list(carried), rolled.starts_at, rolled.ends_at) if carried else {}
    lives_by_job = job_lifetimes(list(carried))
    hours: list[JobHourParts] = []
    for (job_id, hour), of_hour in groupby(line_rows, attrgetter("job_id", "hour")):
        runs = carried.get(job_id, {}).get(hour, ())
        if runs:
            parted = _parts_of_hour(
                [_lines_of_row(row) for row in of_hour], lives_by_job[job_id], runs
            )
            hours += [parted] if any(parted.weights) else []
    minutes_by_cell = job_minutes(
        [
            (divided_hour.lines[0].job_id, divided_hour.lines[0].hour)
            for divided_hour in hours
            if divided_hour.is_told_apart
        ]
    )
    written = _Rows(rolled.months)
    for job_hour in hours:
        _divide_lines(
            written,
            job_hour,
            minutes_by_cell.get((job_hour.lines[0].job_id, job_hour.lines[0].hour)),
            meters,
            unasked,
        )
    copy_in(COPY, ((rolled.day, *row) for row in written.told()))
    return were | written.run_ids()


class _Rows:
    """The day's rows of these posting months by what tells them apart."""

    def __init__(self, months: Collection[date]) -> None:
        self.months = frozenset(months)
        self.sums: dict[Row, list[int | None]] = {}
        self.metered: dict[Row, list[float | None]] = {}

    def add(self, key: Row, amounts: Sequence[int | None], metered: JobMeterSums | None) -> None:
        """Add a part to its row; which bases are unknown is in its key, so no sum mixes both."""
        row_sums = self.sums.get(key)
        if row_sums is None:
            self.sums[key] = list(amounts)
        else:
            for place, more in enumerate(amounts):
                if more is not None:
                    row_sums[place] = (row_sums[place] or 0) + more
        if metered is not None:
            meter_sums = self.metered.setdefault(key, [None, None, None])
            for place, reading in enumerate(astuple(metered)):
                if reading is not None:
                    meter_sums[place] = (meter_sums[place] or 0.0) + reading

    def run_ids(self) -> set[int]:
        """Return the ids of the runs that the rows are of."""
        return {part[0] for part, *_ in self.sums}

    def told(self) -> Iterator[Row]:
        """As COPY takes them."""
        for key, amounts in self.sums.items():
            (run_id, bucket), job_id, traits, is_unasked, _ = key
            unpriced = amounts[-1] if amounts[EFFECTIVE] is None else 0
            meter_readings = self.metered.get(key, UNMETERED)
            yield (
                job_id,
                run_id,
                int(bucket),
                is_unasked,
                *traits,
                *amounts,
                unpriced,
                *meter_readings,
            )


def _hours_carried(
    rolled: RolledDay, job_ids: Iterable[int]
) -> Mapping[int, Mapping[datetime, list[CarriedHour]]]:
    hours_by_job: dict[int, dict[datetime, list[CarriedHour]]] = {}
    for run_hour in run_hours(list(job_ids), rolled.starts_at, rolled.ends_at):
        hours_by_job.setdefault(run_hour.job_id, {}).setdefault(run_hour.hour, []).append(run_hour)
    return hours_by_job


def _lines_of_row(row: Any) -> Lines:
    return Lines(
        job_id=row.job_id,
        hour=row.hour,
        through=row.through,
        traits=TRAITS_OF(row),
        list_micros=row.list_micros,
        contracted_micros=row.contracted_micros,
        effective_micros=row.effective_micros,
        billed_micros=row.billed_micros,
        marginal_micros=row.marginal_micros,
        unit_milliseconds=row.unit_milliseconds,
    )


def _parts_of_hour(lines: Sequence[Lines], life: Life, runs: Sequence[CarriedHour]) -> JobHourParts:
    """By the job's time and its runs' in the hour, which in progress ends where its charges do."""
    hour = max(line.hour for line in lines)
    through = max((line.through for line in lines if line.through), default=hour + HOUR)
    since, ended_at = life

    def within(starts_at: datetime, ends_at: datetime) -> tuple[int, int]:
        end = min(ends_at, through)
        return milliseconds_into(hour, min(starts_at, end)), milliseconds_into(hour, end)

    carried = [
        CarriedShare(run.run_id, tuple(within(*span) for span in run.spans), run.bucket_ms)
        for run in runs
    ]
    life_span = within(since, ended_at or through)
    return JobHourParts(
        lines, hour_weights(life_span, carried), _minutes_of_parts(life_span, carried, runs)
    )


def _minutes_of_parts(
    life_span: tuple[int, int], carried: Sequence[CarriedShare], runs: Sequence[CarriedHour]
) -> dict[Part, Minutes]:
    """When each part was: the buckets of runs as they were folded, and the job's time in no run."""
    minutes_by_run = {run.run_id: unpacked(run.minutes) for run in runs}
    if not any(minutes_by_run.values()):
        return {}
    minutes_by_part: dict[Part, Minutes] = {
        (run_id, Bucket(bucket)): minutes
        for run_id, of_run in minutes_by_run.items()
        for bucket, minutes in of_run.items()
    }
    in_runs = list(map(sum, zip(*(minutes_of(share.spans) for share in carried), strict=True)))
    alone = [
        max(0, minute - taken)
        for minute, taken in zip(minutes_of([life_span]), in_runs, strict=True)
    ]
    return minutes_by_part | {None: alone}


def _divide_lines(
    written: _Rows,
    parted: JobHourParts,
    minutes_by_state: Mapping[State, Minutes] | None,
    meters: Mapping[JobHour, JobMeterSums],
    unasked: Collection[tuple[int, datetime]],
) -> None:
    lines, weights = parted.lines, parted.weights
    parts = list(weights)
    of_state: Mapping[int, Mapping[Part, int]] = {}
    if minutes_by_state:
        of_state = met_weights(
            parted.state_ms,
            weights,
            {int(state): state_minutes for state, state_minutes in minutes_by_state.items()},
            parted.minutes,
        )
    times: dict[int | None, int] = {}
    for line in lines:
        times[line.pool_id] = times.get(line.pool_id, 0) + line.unit_milliseconds
    for line in lines:
        if line.traits.posting_month not in written.months:
            continue
        metered = None
        if line.unit_milliseconds:
            of_pool = meters.get((line.job_id, line.pool_id, line.hour))
            metered = of_pool and of_pool.part(line.unit_milliseconds, times[line.pool_id])
        of_parts = list(
            (weights if line.state is None else of_state.get(line.state, weights)).values()
        )
        total_weight = sum(of_parts)
        is_unasked = (line.workload_id, line.hour) in unasked
        about = (line.job_id, line.traits, is_unasked, line.unknown)
        for part, weight, amounts in zip(
            parts, of_parts, _split_amounts(line, of_parts), strict=True
        ):
            if part is not None and weight:
                written.add((part, *about), amounts, metered and metered.part(weight, total_weight))


def _split_amounts(lines: Lines, weights: Sequence[int]) -> Iterator[tuple[int | None, ...]]:
    bases = split_bases(
        Amounts(lines.list_micros, lines.contracted_micros, lines.effective_micros), weights
    )
    marginal: Sequence[int | None] = [basis.effective_micros for basis in bases]
    if lines.marginal_micros != lines.effective_micros:
        marginal = _shares_of_amount(lines.marginal_micros, weights)
    billed = _shares_of_amount(lines.billed_micros, weights)
    times = largest_remainder(lines.unit_milliseconds, weights)
    return (
        (*amounts, *other_amounts)
        for amounts, *other_amounts in zip(bases, billed, marginal, times, strict=True)
    )


def _shares_of_amount(amount: int | None, weights: Sequence[int]) -> Sequence[int | None]:
    return [None] * len(weights) if amount is None else largest_remainder(amount, weights)


TRAITS_OF = columns_as(Traits)
EFFECTIVE = 2
UNMETERED = (None, None, None)
DELETE = """
WITH gone AS (
    DELETE FROM ledger_runday
    WHERE day = %(day)s AND posting_month = ANY(%(months)s) AND coalesce(pool_id, 0) = ANY(%(pools)s)
    RETURNING run_id
)
SELECT DISTINCT run_id FROM gone
"""
# What is unknown on any basis stays apart. Lines of every posting month: those of the day itself say
# by what its corrections are divided.
SELECT: LiteralString = """
SELECT line.job_id, line.hour, max(charge.through) FILTER (WHERE charge.kind = 'node_hour')
           AS through,
       line.posting_month, charge.status, charge.kind, line.pool_id, line.team_id,
       line.workload_id, line.state, line.flags,
       sum(line.list_micros)::int8 AS list_micros,
       sum(line.contracted_micros)::int8 AS contracted_micros,
       sum(line.effective_micros)::int8 AS effective_micros,
       sum(line.billed_micros)::int8 AS billed_micros,
       sum(:marginal)::int8 AS marginal_micros,
       sum(line.unit_milliseconds)::int8 AS unit_milliseconds
FROM ledger_line_fact AS line
JOIN ledger_charge_fact AS charge ON charge.id = line.charge_id
:marginal_join
WHERE line.hour >= %(from)s AND line.hour < %(to)s AND coalesce(line.pool_id, 0) = ANY(%(pools)s)
  AND line.job_id = ANY(%(jobs)s)
GROUP BY line.job_id, line.hour, line.posting_month, charge.status, charge.kind, line.pool_id,
         line.team_id, line.workload_id, line.state, line.flags, line.list_micros IS NULL,
         line.contracted_micros IS NULL, line.effective_micros IS NULL, line.billed_micros IS NULL,
         (:marginal) IS NULL
ORDER BY line.job_id, line.hour, line.posting_month, charge.status, charge.kind, line.pool_id,
         line.team_id, line.workload_id, line.state, line.flags
"""
WITH: LiteralString = "WITH "
LINES: LiteralString = (
    WITH
    + MARGINAL
    + SELECT.replace(":marginal_join", MARGINAL_JOIN).replace(":marginal", MARGINAL_MICROS)
)
COPY: LiteralString = """
COPY ledger_runday
    (day, job_id, run_id, bucket, is_unasked, posting_month, status, kind, pool_id, team_id, workload_id, state,
     flags, list_micros, contracted_micros, effective_micros, billed_micros, marginal_micros,
     unit_milliseconds, unpriced_milliseconds, energy_joules, tensor_seconds, tensor_observed_seconds)
FROM STDIN
"""
