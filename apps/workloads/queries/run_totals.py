"""Runs as wholes: whose each is, when its jobs carried it, where all its time went."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.economics.run_time import Bucket
from apps.workloads.models import Job, Run, RunSpan, RunSummary, Workload
from apps.workloads.queries.listing import JOB, Ruling
from apps.workloads.queries.ownership import NOBODY, OwnerFact


@dataclass(frozen=True, slots=True)
class RunTotals:
    """A run's key and owner, and the first and last moment of its jobs; None: one may still run."""

    key: str
    owner: OwnerFact
    jobs: int
    began_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunClock:
    """All time of a run by the clock, by bucket; that of its steps; what these steps came to."""

    bucket_ms: dict[Bucket, int]
    step_ms: int


def run_wholes(run_ids: Collection[int]) -> dict[int, RunTotals]:
    """Of each of these runs. One that nobody gave to a workload is whose its first job is."""
    runs = dict(Run.objects.filter(id__in=run_ids).order_by("id").values_list("id", "workload_id"))
    keys = dict(Run.objects.filter(id__in=run_ids).order_by("id").values_list("id", "key"))
    teams = dict(Workload.objects.order_by("id").values_list("id", "team_id"))
    first_jobs = _first_jobs(run_ids)
    jobs: list[dict[str, Any]] = list(Job.objects.filter(id__in=first_jobs.values()).values(*JOB))
    owner_of = Ruling().owners(jobs) if jobs else {}
    spans_by_run = _lifetime_spans(run_ids)
    wholes_by_run = {}
    for run_id, workload_id in runs.items():
        owner = owner_of.get(first_jobs.get(run_id, 0), NOBODY)
        if workload_id is not None:
            owner = OwnerFact(teams[workload_id], workload_id)
        wholes_by_run[run_id] = RunTotals(
            keys[run_id], owner, *spans_by_run.get(run_id, (0, None, None))
        )
    return wholes_by_run


def runs_with_checkpoints() -> list[int]:
    """The runs that saved a checkpoint that passed, by id."""
    saved = RunSummary.objects.filter(good_checkpoints__gt=0).order_by("run_id")
    return list(saved.values_list("run_id", flat=True))


def run_clocks(run_ids: Collection[int]) -> dict[int, RunClock]:
    """Of each of these runs that was folded."""
    clocks: dict[int, RunClock] = {}
    with connection.cursor() as cursor:
        cursor.execute(CLOCKS, [list(run_ids)])
        for run_id, place, bucket_ms, step_ms in cursor:
            clock = clocks.setdefault(run_id, RunClock({}, step_ms))
            if bucket_ms:
                clock.bucket_ms[Bucket(place)] = bucket_ms
    return clocks


def _first_jobs(run_ids: Collection[int]) -> dict[int, int]:
    spans = RunSpan.objects.filter(run_id__in=run_ids)
    first = spans.order_by("run_id", "period__startswith", "job_id").distinct("run_id")
    return dict(first.values_list("run_id", "job_id"))


def _lifetime_spans(
    run_ids: Collection[int],
) -> dict[int, tuple[int, datetime | None, datetime | None]]:
    with connection.cursor() as cursor:
        cursor.execute(LIVED, [list(run_ids)])
        return {run_id: (jobs, began_at, ended_at) for run_id, jobs, began_at, ended_at in cursor}


CLOCKS = """
WITH hour AS MATERIALIZED (
    SELECT run_id, bucket_ms, step_ms FROM workloads_runhour WHERE run_id = ANY(%s)
), whole AS (
    SELECT run_id, sum(step_ms)::int8 AS step_ms FROM hour GROUP BY run_id
)
SELECT hour.run_id, told.place - 1, sum(told.ms)::int8, min(whole.step_ms)
FROM hour JOIN whole ON whole.run_id = hour.run_id
CROSS JOIN LATERAL unnest(hour.bucket_ms) WITH ORDINALITY AS told (ms, place)
GROUP BY hour.run_id, told.place ORDER BY hour.run_id, told.place
"""
LIVED = """
SELECT run_id, count(DISTINCT job_id), min(lower(period)),
       CASE WHEN bool_and(upper(period) IS NOT NULL) THEN max(upper(period)) END
FROM workloads_runspan WHERE run_id = ANY(%s) GROUP BY run_id
"""
