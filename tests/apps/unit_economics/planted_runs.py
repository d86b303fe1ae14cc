"""Runs with their figures, days and reports put straight into the tables, for questions about them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from apps.accounts import queries as accounts
from apps.economics.run_time import Bucket
from apps.ledger.queries import Window
from apps.telemetry.actions.partitions import ensure_months
from apps.telemetry.models import NodeReportHour
from apps.unit_economics.models import RunDay, RunFigures
from apps.workloads.models import (
    Allocation,
    Job,
    Run,
    RunAttempt,
    RunEvent,
    RunHour,
    RunProgress,
    RunSummary,
    Workload,
)
from tests import make

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TEN = make.NOON - 2 * HOUR
MARCH = Window("2026-03", date(2026, 3, 1), date(2026, 4, 1), "UTC")
WEEK = Window("week", date(2026, 3, 2), date(2026, 3, 9), "UTC")
MS_PER_HOUR = 3_600_000
MICROS = 1_000_000


def make_programme(name: str = "llm", team: str = "Research") -> int:
    """A training programme of a team (both made where there are none)."""
    if not accounts.teams():
        make.make_organisation()
    named = {each.name: each.id for each in accounts.teams()}
    return Workload.objects.create(
        name=name, team_id=named.get(team) or make.make_team(team), kind="training"
    ).pk


def plant_run(key: str, workload_id: int | None = None, **figures: Any) -> int:
    """A run of ten hours from 10:00 on 64 H100 with these figures; `model` is what it trained."""
    run = Run.objects.create(key=key, workload_id=workload_id)
    model = figures.pop("model", {"active_parameters": 7e9})
    values = {
        "key": key,
        "workload_id": workload_id,
        "team_id": workload_id and Workload.objects.get(pk=workload_id).team_id,
        "status": "finished",
        "began_at": TEN,
        "ended_at": TEN + 10 * HOUR,
        "wall_seconds": 36_000.0,
        "gpus": 64,
        "gpu_model": "H100 SXM",
        "computed_at": TEN + 10 * HOUR,
    } | figures
    RunFigures.objects.create(run=run, **values)
    RunSummary.objects.create(run=run, told_at=TEN, folded_at=TEN, model=model, gpus=values["gpus"])
    return run.pk


def plant_day(
    run_id: int,
    gpu_hours: Mapping[Bucket, float],
    *,
    price: float | None = 2.5,
    day: date = WEEK.first_day,
) -> int:
    """A day of a run by bucket, each GPU-hour at this price (None: it has none); its job's id."""
    workload_id = RunFigures.objects.get(run_id=run_id).workload_id
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id=f"{run_id}-{day}", opened_at=TEN, started_at=TEN
    )
    for bucket, hours in gpu_hours.items():
        unit_ms = round(hours * MS_PER_HOUR)
        RunDay.objects.create(
            day=day,
            posting_month=day.replace(day=1),
            status="estimated",
            kind="node_hour",
            run_id=run_id,
            job=job,
            team_id=accounts.special_teams().platform_id,
            workload_id=workload_id,
            bucket=bucket,
            flags=0,
            effective_micros=None if price is None else round(hours * price * MICROS),
            unit_milliseconds=unit_ms,
            unpriced_milliseconds=unit_ms if price is None else 0,
        )
    return job.pk


def plant_hour(
    run_id: int, job_id: int, minutes: Mapping[Bucket, float], hour: datetime = TEN, **sums: Any
) -> None:
    """How many minutes of an hour of a run went where."""
    bucket_ms = [round(minutes.get(bucket, 0) * 60_000) for bucket in Bucket]
    RunHour.objects.create(run_id=run_id, job_key=job_id, hour=hour, bucket_ms=bucket_ms, **sums)


def plant_node(job_id: int, name: str = "gpu-01", hours: int = 2, **counters: float) -> int:
    """A node that the job holds from 10:00 on, with these counters in each hour."""
    node_id = make.make_node(name, at=TEN)
    Allocation.objects.create(
        job_id=job_id,
        node_id=node_id,
        node_name=name,
        gpus_numerator=8,
        period=(TEN, TEN + hours * HOUR),
    )
    for count in range(hours if counters else 0):
        plant_counters(node_id, TEN + count * HOUR, **counters)
    return node_id


def plant_counters(node_id: int, hour: datetime, **counters: float) -> None:
    """An hour of a node's own counters."""
    ensure_months([hour.date()])
    NodeReportHour.objects.create(
        hour=hour, node_id=node_id, source=1, observed_seconds=3600.0, **counters
    )


def plant_attempt(run_id: int, *, rank: int = 0, **given: Any) -> int:
    """A process of a run: from 10:00 to 20:00 and finished, unless said otherwise."""
    values = {
        "key": f"{RunAttempt.objects.count()}",
        "began_at": TEN,
        "ended_at": TEN + 10 * HOUR,
        "heard_at": TEN + 10 * HOUR,
        "status": "finished",
    } | given
    return RunAttempt.objects.create(run_id=run_id, rank=rank, **values).pk


def plant_steps(
    attempt_id: int, seconds: Sequence[float], *, first: int = 0, starts_at: datetime = TEN
) -> None:
    """Steps of an attempt, one after the other, that took so long each; one report."""
    sequence = RunProgress.objects.filter(attempt_id=attempt_id).count()
    RunProgress.objects.create(
        attempt_id=attempt_id,
        sequence=sequence,
        part=0,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(seconds=sum(seconds)),
        steps=len(seconds),
        first_step=first,
        last_step=first + len(seconds) - 1,
        tokens=0,
        examples=0,
        flops=0.0,
        productive_ms=round(sum(seconds) * 1000),
        step_times_ms=[each * 1000 for each in seconds],
    )


def plant_save(attempt_id: int, at: datetime, seconds: float) -> None:
    """A checkpoint that held training up for so long."""
    sequence = RunProgress.objects.filter(attempt_id=attempt_id).count()
    RunProgress.objects.create(
        attempt_id=attempt_id,
        sequence=sequence,
        part=0,
        starts_at=at,
        ends_at=at + timedelta(seconds=seconds + 5),
        steps=0,
        tokens=0,
        examples=0,
        flops=0.0,
        productive_ms=0,
        phases_ms={"checkpoint_save": round(seconds * 1000)},
    )


def plant_job(raw_id: str, starts_at: datetime, gpus: int = 8) -> int:
    """A job that holds GPUs of a node for a day."""
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id=raw_id, opened_at=starts_at, started_at=starts_at
    )
    Allocation.objects.create(
        job=job,
        node_name="gpu-01",
        gpus_numerator=gpus,
        period=(starts_at, starts_at + 24 * HOUR),
    )
    return job.pk


def plant_restore(attempt_id: int, at: datetime) -> None:
    """The attempt went on from a checkpoint."""
    RunEvent.objects.create(
        attempt_id=attempt_id, sequence=999, part=0, kind="restored", at=at, step=100
    )
