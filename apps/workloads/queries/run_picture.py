"""Facts that a picture of a run is drawn from: its jobs, the processes in them, and its moments."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import Exists, F, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import JSONObject

from apps.accounts.queries import Viewer
from apps.accounts.queries.reading import once
from apps.economics.run_divergence import WrongSpan
from apps.workloads.models import Allocation, Job, RunSpan
from apps.workloads.queries.jobs import JobFact
from apps.workloads.queries.listing import JOB, Ruling
from apps.workloads.queries.run_reports import SAVES, CheckpointSave, saves_together

MOST_ATTEMPTS, MOST_MOMENTS, MOST_NODES = 200, 1_000, 16


@dataclass(frozen=True, slots=True)
class CarryingJob:
    """When a job carried a run, and as what it is known; `ends_at` None: it goes on."""

    fact: JobFact
    is_seen: bool
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunJobFact:
    """A job of a run, with the nodes that it held anything of, by id and name, MOST_NODES at most.

    `carried` is None where it never carried the run, and cost it something all the same. `is_seen`:
    the viewer may know which job it is.
    """

    fact: JobFact
    carried: CarryingJob | None
    is_seen: bool
    nodes: tuple[tuple[int, str], ...]


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


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The record of what a run's processes told: their starts, the moments of it, when its leading rank saved.

    `attempts` are the first MOST_ATTEMPTS, `moments` the last MOST_MOMENTS; both the first first.
    `model` and `tags` are what the run said of itself. `diverged` is when it was wrong by its loss;
    where it reports none (`has_loss`) nobody knows.
    """

    attempts: tuple[PicturedAttempt, ...]
    moments: tuple[PicturedMoment, ...]
    saves: tuple[CheckpointSave, ...]
    model: Mapping[str, object]
    tags: Mapping[str, object]
    has_loss: bool
    diverged: tuple[WrongSpan, ...]


def jobs_of_run(run_id: int, further: Collection[int], viewer: Viewer) -> list[RunJobFact]:
    """The jobs that carried a run, the first first, and after them the further ones.

    Parts of one job are told as one. Whose a job is is asked of the rules only for who may not see
    everything.
    """
    spans = RunSpan.objects.filter(run_id=run_id)
    own_spans = spans.filter(job_id=OuterRef("id")).order_by().values("job_id")
    allocations = Allocation.objects.filter(job_id=OuterRef("id"), node__isnull=False)
    by_name = allocations.order_by("node__name", "node_id").distinct("node__name", "node_id")
    rows = list(
        Job.objects.filter(Q(id__in=spans.values("job_id")) | Q(id__in=further))
        .annotate(
            since=Subquery(own_spans.annotate(first=Min("period__startswith")).values("first")),
            until=Subquery(own_spans.annotate(last=Max("period__endswith")).values("last")),
            goes_on=Exists(own_spans.filter(period__upper_inf=True)),
            nodes=ArraySubquery(
                by_name.values(named=JSONObject(id="node_id", name="node__name"))[:MOST_NODES]
            ),
        )
        .order_by(F("since").asc(nulls_last=True), "id")
        .values("cluster__name", "since", "until", "goes_on", "nodes", *JOB)
    )
    carrying = [row for row in rows if row["since"] is not None]
    hidden: set[int] = set()
    if carrying and not viewer.sees_everything:
        owners = Ruling().owners(carrying)
        hidden = {job for job, owner in owners.items() if not viewer.sees_team(owner.team_id)}
    return [_job_of_run(row, is_hidden=row["id"] in hidden) for row in rows]


def _job_of_run(row: Mapping[str, Any], *, is_hidden: bool) -> RunJobFact:
    fact = JobFact(cluster=row["cluster__name"], **{name: row[name] for name in OF_JOB})
    since, until = row["since"], None if row["goes_on"] else row["until"]
    is_seen = since is not None and not is_hidden
    return RunJobFact(
        fact=fact,
        carried=None if since is None else CarryingJob(fact, is_seen, since, until),
        is_seen=is_seen,
        nodes=tuple((node["id"], node["name"]) for node in row["nodes"]),
    )


OF_JOB = tuple(name for name in JobFact.__slots__ if name != "cluster")


@once
def run_record(run_id: int) -> RunRecord:
    """All that a run's processes told, read together."""
    params: dict[str, Any] = {
        "run": run_id,
        "runs": [run_id],
        "attempts": MOST_ATTEMPTS,
        "moments": MOST_MOMENTS,
    }
    with connection.cursor() as cursor:
        cursor.execute(RECORD, params)
        summary, attempts, moments, saves = (json.loads(text) for text in cursor.fetchone())
    return RunRecord(
        attempts=tuple(_pictured_attempt(row) for row in attempts),
        moments=tuple(
            PicturedMoment(kind, _moment_of(at), step, None if metric is None else float(metric))
            for kind, at, step, metric in reversed(moments)
        ),
        saves=tuple(
            saves_together(
                (attempt_id, _moment_of(starts_at), _moment_of(ends_at), spent)
                for attempt_id, starts_at, ends_at, spent in saves
            )
        ),
        model=summary.get("model") or {},
        tags=summary.get("tags") or {},
        has_loss=bool(summary.get("has_loss")),
        diverged=tuple(
            (_moment_of(since), None if until is None else _moment_of(until))
            for since, until in summary.get("diverged") or ()
        ),
    )


# Each part is a text of JSON: their shapes differ, and none of them is of many rows.
RECORD = """
SELECT
  coalesce((SELECT jsonb_build_object(
                'model', model, 'tags', tags,
                'diverged', (SELECT jsonb_agg(jsonb_build_array(lower(span), upper(span)) ORDER BY span)
                             FROM unnest(diverged) AS span),
                'has_loss', EXISTS (
                    SELECT FROM workloads_runscore AS score
                    JOIN workloads_runattempt AS attempt ON attempt.id = score.attempt_id
                    WHERE attempt.run_id = %(run)s AND NOT score.higher_is_better))
            FROM workloads_runsummary WHERE run_id = %(run)s), '{}')::text,
  (SELECT coalesce(jsonb_agg(to_jsonb(start)), '[]')::text FROM (
      SELECT job_id, raw_id, restarts, count(*) AS processes, max(world_size) AS size,
             min(began_at) AS starts_at, max(ended_at) AS last_end, count(ended_at) AS ended,
             max(heard_at) AS heard, count(*) FILTER (WHERE status = 'failed') AS failed,
             count(*) FILTER (WHERE status = 'interrupted') AS interrupted,
             count(*) FILTER (WHERE status = 'finished') AS finished,
             min(first_step) AS first, max(last_step) AS last, sum(dropped)::int8 AS lost
      FROM workloads_runattempt WHERE run_id = %(run)s
      GROUP BY job_id, raw_id, restarts
      ORDER BY min(began_at), job_id, restarts LIMIT %(attempts)s
  ) AS start),
  (SELECT coalesce(jsonb_agg(jsonb_build_array(kind, at, step, metric)), '[]')::text FROM (
      SELECT event.kind, event.at, event.step, event.metric
      FROM workloads_runevent AS event
      JOIN workloads_runattempt AS attempt ON attempt.id = event.attempt_id
      WHERE attempt.run_id = %(run)s
      ORDER BY event.at DESC, event.attempt_id, event.sequence, event.part LIMIT %(moments)s
  ) AS moment),
  (SELECT coalesce(jsonb_agg(jsonb_build_array(attempt_id, starts_at, ends_at, spent)), '[]')::text
   FROM (<saves>) AS save)
""".replace("<saves>", SAVES)


def _moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _pictured_attempt(row: Mapping[str, Any]) -> PicturedAttempt:
    has_ended = row["ended"] == row["processes"]
    return PicturedAttempt(
        job_id=row["job_id"],
        named=row["raw_id"],
        restarts=row["restarts"],
        processes=row["processes"],
        world_size=row["size"],
        starts_at=_moment_of(row["starts_at"]),
        ends_at=_moment_of(row["last_end"]) if has_ended else None,
        heard_at=_moment_of(row["heard"]),
        status=_worst_status(row),
        first_step=row["first"],
        last_step=row["last"],
        dropped=row["lost"],
    )


def runs_of_job(job_id: int, viewer: Viewer) -> list[tuple[int, str]]:
    """The runs that a job carried, by id and key, the first first; without those of other teams.

    Whoever may know the job may know a run of no workload that it carried.
    """
    run_spans = RunSpan.objects.filter(job_id=job_id).order_by("period", "run_id")
    rows = run_spans.values_list("run_id", "run__key", "run__workload__team_id")
    keys_by_run = {
        run_id: key for run_id, key, team_id in rows if team_id is None or viewer.sees_team(team_id)
    }
    return list(keys_by_run.items())


def _worst_status(row: Mapping[str, Any]) -> str:
    """The worst that any process told; finished only where each of them did."""
    for word in ("failed", "interrupted"):
        if row[word]:
            return word
    return "finished" if row["finished"] == row["processes"] else ""
