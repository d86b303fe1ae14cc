"""Everything that a run's fold looks at, read as it stands."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

from django.db import connection
from django.db.models import F, Min, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from apps.accounts.queries.facts import field_names
from apps.economics.run_figures import most_at_once
from apps.economics.run_time import in_every_bucket
from apps.workloads.models import (
    Allocation,
    Job,
    RunAttempt,
    RunEvent,
    RunHour,
    RunProgress,
    RunSpan,
)

LONGEST_WINDOW = timedelta(days=2)
"""No report tells of more in one piece."""
DUE = """
SELECT run_id FROM workloads_runsummary
WHERE folded_at IS NULL OR told_at > folded_at
UNION
SELECT summary.run_id FROM workloads_runsummary AS summary
JOIN workloads_runhour AS folded
  ON folded.run_id = summary.run_id AND folded.hour = date_trunc('hour', summary.folded_at, 'UTC')
WHERE summary.folded_at < date_trunc('hour', %s::timestamptz, 'UTC')
ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class FoldAttemptRow:
    """An attempt of any rank; `first_told_at` is when its first window began."""

    id: int
    rank: int
    world_size: int
    job_id: int | None
    began_at: datetime
    ended_at: datetime | None
    heard_at: datetime
    status: str
    model: dict[str, Any]
    tags: dict[str, Any]
    first_step: int | None
    dropped: int
    first_told_at: datetime | None

    @property
    def until(self) -> datetime:
        """When it ended, or was last heard."""
        return self.ended_at or self.heard_at


@dataclass(frozen=True, slots=True)
class FoldJobRow:
    """A job that carries the run."""

    id: int
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    state: str


@dataclass(frozen=True, slots=True)
class AttemptOnJob:
    """Something that began on a job, for whatever run; `until` its end, or when it was last heard."""

    job_id: int
    run_id: int
    began_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class CarriedSpan:
    """A job carried the run; `ends_at` None: until further notice."""

    job_id: int
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class EventRow:
    """A moment of an attempt."""

    attempt_id: int
    at: datetime
    step: int | None


@dataclass(frozen=True, slots=True)
class HourOfRun:
    """Where an hour of a run on a job went, by Bucket, and what was done in it.

    `tokens`, `examples`, `flops` and `steps` count once what was done twice; `redone_tokens` are
    those of steps that were done again. `step_ms` is the time of all its steps.
    """

    bucket_ms: tuple[int, ...]
    tokens: int
    redone_tokens: int
    examples: int
    flops: float
    steps: int
    step_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow(HourOfRun):
    """An hour of a run on a job as it is kept."""

    minutes: bytes


def runs_due(at: datetime) -> list[int]:
    """Runs of which something new is known, or whose last hour is over since they were folded."""
    with connection.cursor() as cursor:
        cursor.execute(DUE, [at])
        return [run_id for (run_id,) in cursor]


def attempts_of(run_id: int) -> list[FoldAttemptRow]:
    """All attempts of a run in the order of their starts."""
    first = RunProgress.objects.filter(attempt_id=OuterRef("id")).order_by("starts_at")
    rows: Iterable[tuple[Any, ...]] = (
        RunAttempt.objects.filter(run_id=run_id)
        .annotate(first_told_at=Subquery(first.values("starts_at")[:1]))
        .order_by("began_at", "id")
        .values_list(*FoldAttemptRow.__slots__)
    )
    return [FoldAttemptRow(*row) for row in rows]


def jobs_of(job_ids: Collection[int]) -> dict[int, FoldJobRow]:
    """These jobs by id, the first to start first."""
    rows = Job.objects.filter(id__in=job_ids).order_by(F("started_at").asc(nulls_last=True), "id")
    fold_rows = [FoldJobRow(*row) for row in rows.values_list(*FoldJobRow.__slots__)]
    return {job.id: job for job in fold_rows}


def attempts_on(job_ids: Collection[int]) -> list[AttemptOnJob]:
    """Everything that began on these jobs, whatever run it was for, in order."""
    rows = (
        RunAttempt.objects.filter(job_id__in=job_ids)
        .annotate(until=Coalesce("ended_at", "heard_at"))
        .order_by("began_at", "id")
    )
    return [AttemptOnJob(*row) for row in rows.values_list(*AttemptOnJob.__slots__)]


def stated_spans(run_id: int) -> list[CarriedSpan]:
    """When jobs carried the run as it is stated of the jobs."""
    return _carried_spans(RunSpan.objects.filter(run_id=run_id, is_reported=False))


def reported_spans(run_id: int) -> list[CarriedSpan]:
    """When jobs carried the run beyond that, as its reports were last folded."""
    return _carried_spans(RunSpan.objects.filter(run_id=run_id, is_reported=True))


def _carried_spans(rows: QuerySet[RunSpan]) -> list[CarriedSpan]:
    return [
        CarriedSpan(job_id, period.lower, period.upper)
        for job_id, period in rows.order_by("job_id", "period").values_list("job_id", "period")
    ]


def windows_of(
    attempt_ids: Collection[int], since: datetime | None
) -> Iterable[tuple[int, tuple[Any, ...]]]:
    """Yield what these attempts told of the time after `since`: attempt, then the columns of WINDOW."""
    rows = RunProgress.objects.filter(attempt_id__in=attempt_ids)
    if since is not None:
        # By the index, for no window is longer than that.
        rows = rows.filter(ends_at__gt=since, starts_at__gt=since - LONGEST_WINDOW)
    ordered = rows.order_by("attempt_id", "starts_at", "sequence", "part")
    for attempt_id, *row in ordered.values_list("attempt_id", *WINDOW).iterator():
        yield attempt_id, tuple(row)


WINDOW = (
    *("starts_at", "ends_at", "steps", "first_step", "last_step", "tokens", "examples", "flops"),
    *("productive_ms", "phases_ms"),
)


def first_undone(attempt_ids: Collection[int], step: int, before: datetime) -> datetime | None:
    """When these attempts, before that moment, first did this step or a later one."""
    first_at: datetime | None = RunProgress.objects.filter(
        attempt_id__in=attempt_ids, ends_at__lte=before, last_step__gte=step
    ).aggregate(first=Min("starts_at"))["first"]
    return first_at


def events_of(attempt_ids: Collection[int], kind: str) -> list[EventRow]:
    """The moments of one kind that these attempts told, in order."""
    rows = RunEvent.objects.filter(attempt_id__in=attempt_ids, kind=kind)
    ordered = rows.order_by("at", "attempt_id", "sequence", "part")
    return [EventRow(*row) for row in ordered.values_list(*EventRow.__slots__)]


def hours_since(run_id: int, since: datetime | None) -> dict[tuple[int, datetime], HourRow]:
    """The run's hours as last folded, by job and hour."""
    rows = RunHour.objects.filter(run_id=run_id)
    if since is not None:
        rows = rows.filter(hour__gte=since)
    return {
        (job_key, hour): HourRow(in_every_bucket(bucket_ms), *sums, minutes=bytes(minutes))
        for job_key, hour, minutes, bucket_ms, *sums in rows.order_by(
            "job_key", "hour"
        ).values_list("job_key", "hour", "minutes", *field_names(HourOfRun))
    }


def most_gpus(job_ids: Collection[int]) -> int | None:
    """The most GPUs that these jobs held at once, a part of one as a whole one; None: none known."""
    rows = Allocation.objects.filter(job_id__in=job_ids, gpus_numerator__gt=0)
    most = most_at_once(
        (period.lower, period.upper, Fraction(numerator, parts))
        for period, numerator, parts in rows.order_by("id").values_list(
            "period", "gpus_numerator", "gpus_denominator"
        )
    )
    return ceil(most) or None
