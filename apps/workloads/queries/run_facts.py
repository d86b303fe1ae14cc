"""Facts that training runs told, as they folded: for the ledger's division, for curves and for advice."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Sum

from apps.accounts.queries.facts import field_names
from apps.accounts.queries.reading import once
from apps.economics.run_time import Bucket, in_every_bucket
from apps.workloads.models import Job, RunHour, RunSpan, RunSummary
from apps.workloads.queries.run_fold_facts import HourOfRun

Span = tuple[datetime, datetime]
Life = tuple[datetime, datetime | None]


@dataclass(frozen=True, slots=True)
class CarriedHour:
    """An hour in which a job carried a run, and where that time went.

    `spans` are when it did, inside the hour. `bucket_ms` are by apps.economics.run_time.Bucket, in
    its order; they sum to the spans' time once the hour is folded, and of an hour nobody folded yet
    all is UNTOLD. `minutes` are those of each bucket, packed; empty: not kept.
    """

    run_id: int
    job_id: int
    hour: datetime
    spans: tuple[Span, ...]
    bucket_ms: tuple[int, ...]
    minutes: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockHour(HourOfRun):
    """An hour of a run by the clock; `job_id` None: no job is known, or it waited for one."""

    run_id: int
    job_id: int | None
    hour: datetime


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """The facts that a run folded to as a whole; see RunSummary. Empty texts and None where nobody told.

    `jobs` carried it; `gpus` is the most it held at once, else the processes it said it has.
    """

    run_id: int
    key: str
    workload_id: int | None
    submitted_at: datetime | None
    began_at: datetime | None
    ended_at: datetime | None
    status: str
    attempts: int
    jobs: int
    gpus: int | None
    model: dict[str, object]
    tags: dict[str, object]
    steps: int
    tokens: int
    redone_tokens: int
    examples: int
    flops: float
    good_checkpoints: int
    first_good_at: datetime | None
    last_good_step: int | None
    dropped: int
    folded_at: datetime | None


def run_hours(
    job_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[CarriedHour]:
    """Return which runs these jobs carried in `[starts_at, ends_at)`, hour by hour, and where it went.

    By job, hour and run.
    """
    with connection.cursor() as cursor:
        cursor.execute(CARRIED, {"jobs": list(job_ids), "from": starts_at, "to": ends_at})
        spans: dict[tuple[int, datetime, int], list[Span]] = {}
        buckets_by_key: dict[tuple[int, datetime, int], tuple[list[int] | None, bytes]] = {}
        for job_id, hour, run_id, since, until, bucket_ms, minutes in cursor:
            key = job_id, hour, run_id
            spans.setdefault(key, []).append((since, until))
            buckets_by_key[key] = bucket_ms, bytes(minutes or b"")
    return [
        CarriedHour(
            run_id,
            job_id,
            hour,
            tuple(span),
            _bucket_times(buckets_by_key[key][0], span),
            buckets_by_key[key][1],
        )
        for key, span in spans.items()
        for job_id, hour, run_id in [key]
    ]


# The hours of a span are made from its own ends, so that a job of a month reads its own hours only.
CARRIED = """
SELECT span.job_id, hour.at, span.run_id,
       greatest(lower(span.period), hour.at, %(from)s),
       least(upper(span.period), hour.at + interval '1 hour', %(to)s),
       folded.bucket_ms, folded.minutes
FROM workloads_runspan AS span
CROSS JOIN LATERAL generate_series(
    date_trunc('hour', greatest(lower(span.period), %(from)s), 'UTC'),
    least(upper(span.period), %(to)s) - interval '1 microsecond',
    interval '1 hour'
) AS hour (at)
LEFT JOIN workloads_runhour AS folded
       ON folded.run_id = span.run_id AND folded.job_key = span.job_id AND folded.hour = hour.at
WHERE span.job_id = ANY(%(jobs)s) AND span.period && tstzrange(%(from)s, %(to)s)
ORDER BY span.job_id, hour.at, span.run_id, lower(span.period)
"""


@once
def clock_hours(run_ids: Collection[int]) -> list[ClockHour]:
    """The hours of these runs, by run, hour and job."""
    rows = RunHour.objects.filter(run_id__in=run_ids)
    return [
        ClockHour(
            in_every_bucket(bucket_ms), *sums, run_id=run_id, job_id=job_key or None, hour=hour
        )
        for run_id, job_key, hour, bucket_ms, *sums in rows.order_by(
            "run_id", "hour", "job_key"
        ).values_list("run_id", "job_key", "hour", *field_names(HourOfRun))
    ]


def run_summaries(run_ids: Collection[int]) -> dict[int, SummaryFact]:
    """Return what is known of these runs as wholes, of each that anything was told of, by id."""
    summary_columns = SummaryFact.__slots__[3:]
    rows = RunSummary.objects.filter(run_id__in=run_ids).order_by("run_id")
    return {
        row[0]: SummaryFact(*row)
        for row in rows.values_list("run_id", "run__key", "run__workload_id", *summary_columns)
    }


def retained_tokens(run_ids: Collection[int], starts_at: datetime, ends_at: datetime) -> int:
    """Tokens of steps of these runs in `[starts_at, ends_at)` that were not done again later."""
    totals = RunHour.objects.filter(
        run_id__in=run_ids, hour__gte=starts_at, hour__lt=ends_at
    ).aggregate(tokens=Sum("tokens"))
    return int(totals["tokens"] or 0)


def jobs_carrying(starts_at: datetime, ends_at: datetime) -> list[int]:
    """The jobs that carried any run in `[starts_at, ends_at)`."""
    spans = RunSpan.objects.filter(period__overlap=(starts_at, ends_at))
    return list(spans.order_by("job_id").values_list("job_id", flat=True).distinct())


def job_lifetimes(job_ids: Collection[int]) -> dict[int, Life]:
    """From when to when each of these jobs ran; None: it may still."""
    jobs = Job.objects.filter(id__in=job_ids).order_by("id")
    return {
        job_id: (started_at or opened_at, ended_at)
        for job_id, started_at, opened_at, ended_at in jobs.values_list(
            "id", "started_at", "opened_at", "ended_at"
        )
    }


def _bucket_times(bucket_ms: list[int] | None, spans: Collection[Span]) -> tuple[int, ...]:
    if bucket_ms is not None:
        return in_every_bucket(bucket_ms)
    total_ms = sum((until - since) // timedelta(milliseconds=1) for since, until in spans)
    return tuple(total_ms if bucket is Bucket.UNTOLD else 0 for bucket in Bucket)
