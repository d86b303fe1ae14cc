"""What a picture of a run is drawn from: its jobs, the processes in them, and its moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from apps.accounts.queries import Viewer
from apps.workloads.models import Job, RunAttempt, RunEvent, RunSpan

MOST_ATTEMPTS, MOST_MOMENTS = 200, 1_000


@dataclass(frozen=True, slots=True)
class CarryingJob:
    """A job's part in a run; `ends_at` None: it goes on."""

    job_id: int
    raw_id: str
    cluster: str
    submitted_at: datetime | None
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class PicturedAttempt:
    """The processes of one start of a job: `processes` told of themselves.

    `ends_at` None: not all of them told of an end; `heard_at` is the last that was heard.
    `status` is the worst that one of them told. `dropped` counts reports that none could keep.
    """

    job_id: int | None
    named: str
    restarts: int
    processes: int
    world_size: int
    starts_at: datetime
    ends_at: datetime | None
    heard_at: datetime
    status: str
    first_step: int | None
    last_step: int | None
    dropped: int


@dataclass(frozen=True, slots=True)
class PicturedMoment:
    """A checkpoint that passed, or a restore."""

    kind: str
    at: datetime
    step: int | None
    metric: float | None


def carrying_jobs(run_id: int) -> list[CarryingJob]:
    """The jobs that carried a run, the first first; parts of one job are told as one."""
    found = (
        RunSpan.objects.filter(run_id=run_id)
        .values("job_id", "job__raw_id", "job__cluster__name", "job__submitted_at")
        .annotate(
            starts_at=Min("period__startswith"),
            ends_at=Max("period__endswith"),
            going_on=Count("id", filter=Q(period__upper_inf=True)),
        )
        .order_by("starts_at", "job_id")
    )
    return [
        CarryingJob(
            job_id=row["job_id"],
            raw_id=row["job__raw_id"],
            cluster=row["job__cluster__name"],
            submitted_at=row["job__submitted_at"],
            starts_at=row["starts_at"],
            ends_at=None if row["going_on"] else row["ends_at"],
        )
        for row in found
    ]


def attempts_of_run(run_id: int) -> list[PicturedAttempt]:
    """Each start of each job with what its processes told, the first first; MOST_ATTEMPTS."""
    found = (
        RunAttempt.objects.filter(run_id=run_id)
        .values("job_id", "raw_id", "restarts")
        .annotate(
            processes=Count("id"),
            size=Max("world_size"),
            starts_at=Min("began_at"),
            last_end=Max("ended_at"),
            ended=Count("ended_at"),
            heard=Max("heard_at"),
            failed=Count("id", filter=Q(status="failed")),
            interrupted=Count("id", filter=Q(status="interrupted")),
            finished=Count("id", filter=Q(status="finished")),
            first=Min("first_step"),
            last=Max("last_step"),
            lost=Sum("dropped"),
        )
        .order_by("starts_at", "job_id", "restarts")
    )
    return [
        PicturedAttempt(
            job_id=row["job_id"],
            named=row["raw_id"],
            restarts=row["restarts"],
            processes=row["processes"],
            world_size=row["size"],
            starts_at=row["starts_at"],
            ends_at=row["last_end"] if row["ended"] == row["processes"] else None,
            heard_at=row["heard"],
            status=_worst_status(row),
            first_step=row["first"],
            last_step=row["last"],
            dropped=row["lost"],
        )
        for row in found[:MOST_ATTEMPTS]
    ]


def moments_of_run(run_id: int) -> list[PicturedMoment]:
    """Checkpoints that passed and restores, the last MOST_MOMENTS of them, the first first."""
    found = (
        RunEvent.objects.filter(attempt__run_id=run_id)
        .order_by("-at", "attempt_id", "sequence", "part")
        .values_list("kind", "at", "step", "metric")[:MOST_MOMENTS]
    )
    return [PicturedMoment(*row) for row in reversed(found)]


def runs_of_job(job_id: int, viewer: Viewer) -> list[tuple[int, str]]:
    """The runs that a job carried, by id and key, the first first; without those of other teams.

    Whoever may know the job may know a run of no workload that it carried.
    """
    found = RunSpan.objects.filter(job_id=job_id).order_by("period", "run_id")
    rows = found.values_list("run_id", "run__key", "run__workload__team_id")
    told = {
        run_id: key for run_id, key, team_id in rows if team_id is None or viewer.sees_team(team_id)
    }
    return list(told.items())


def nodes_of_jobs(job_ids: list[int], most: int) -> list[tuple[int, str]]:
    """The nodes that these jobs held GPUs of, by name; at most so many."""
    found = (
        Job.objects.filter(id__in=job_ids, allocations__node__isnull=False)
        .order_by("allocations__node__name", "allocations__node_id")
        .values_list("allocations__node_id", "allocations__node__name")
        .distinct()
    )
    return list(found[:most])


def _worst_status(row: Mapping[str, Any]) -> str:
    """The worst that any process told; finished only where each of them did."""
    for word in ("failed", "interrupted"):
        if row[word]:
            return word
    return "finished" if row["finished"] == row["processes"] else ""
