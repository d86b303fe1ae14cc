"""Reports of training runs moment by moment: ranks, checkpoints, saves, restarts and restores."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection

from apps.economics.hours import MILLISECOND
from apps.economics.jobs import STOPPED_STATES
from apps.workloads.models import RunEvent, RunStatus


@dataclass(frozen=True, slots=True)
class RankWindow:
    """Some seconds of one rank: how long its steps took, each, and where else its time went.

    `step_times_ms` are of its first steps only where there were many. `phases_ms` by the name the
    run gave each. `host` is empty where the rank did not say; `job_id` None: none is known.
    """

    rank: int
    host: str
    job_id: int | None
    starts_at: datetime
    ends_at: datetime
    first_step: int | None
    last_step: int | None
    steps: int
    productive_ms: int
    phases_ms: dict[str, int]
    step_times_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class GoodCheckpoint:
    """A checkpoint that passed."""

    at: datetime
    step: int | None
    metric: float | None
    job_id: int | None


@dataclass(frozen=True, slots=True)
class CheckpointSave:
    """A time in which checkpoints were written: how much of it the training waited for them."""

    at: datetime
    milliseconds: int


@dataclass(frozen=True, slots=True)
class AttemptFact:
    """One process's part in a run: the leading rank's of each start, in order of their starts.

    `ended_at` is when it ended or, where it did not say so, was last heard; `is_over` whether it
    ended, by itself or with its job. `is_stopped`: with it ended its job, by a person or a limit of
    time. `gpus` is what its job held then; None where none is known.
    """

    run_id: int
    job_id: int | None
    rank: int
    world_size: int
    began_at: datetime
    ended_at: datetime
    is_over: bool
    is_stopped: bool
    status: str
    first_step: int | None
    last_step: int | None
    gpus: Fraction | None

    @property
    def is_interrupted(self) -> bool:
        """Whether something ended it that nobody wanted: what a hazard counts.

        A wall-time limit and a cancel end an attempt too, and say nothing of how often things fail.
        """
        return self.is_over and self.status != RunStatus.FINISHED and not self.is_stopped

    @property
    def gpu_hours(self) -> float | None:
        """The exposure: GPU-hours from its start to its end; None where no GPUs are known."""
        seconds = (self.ended_at - self.began_at).total_seconds()
        return None if self.gpus is None else float(self.gpus) * seconds / 3600


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Attempts of runs by run and time; when one of the runs last went on from a checkpoint."""

    attempts: tuple[AttemptFact, ...]
    restored_at: datetime | None


def last_step_times(
    run_id: int, starts_at: datetime, before: datetime, seconds: float
) -> list[RankWindow]:
    """Return what every rank told of steps in `[starts_at, before)`, the last `seconds` of it alone.

    They end where the last steps end that any rank began to tell of; by time, then rank. Not what
    began before: to find what reaches into it, all of a long run would be read.
    """
    params: dict[str, Any] = {
        "run": run_id,
        "starts": starts_at,
        "before": before,
        "seconds": seconds,
    }
    with connection.cursor() as cursor:
        cursor.execute(STEP_TIMES, params)
        return [
            RankWindow(*(*row, json.loads(phases), tuple(times))) for *row, phases, times in cursor
        ]


# Of each rank the last report alone is read: a long run has millions of them.
STEP_TIMES = """
WITH told AS (
    SELECT max(last.ends_at) AS until
    FROM workloads_runattempt AS attempt
    CROSS JOIN LATERAL (
        SELECT ends_at FROM workloads_runprogress
        WHERE attempt_id = attempt.id AND steps > 0 AND starts_at < %(before)s
        ORDER BY starts_at DESC LIMIT 1
    ) AS last
    WHERE attempt.run_id = %(run)s
)
SELECT attempt.rank, attempt.host, attempt.job_id, progress.starts_at, progress.ends_at,
       progress.first_step, progress.last_step, progress.steps, progress.productive_ms,
       progress.phases_ms::text, progress.step_times_ms
FROM workloads_runattempt AS attempt
JOIN workloads_runprogress AS progress ON progress.attempt_id = attempt.id
WHERE attempt.run_id = %(run)s AND progress.steps > 0
  AND progress.starts_at >= greatest(
      %(starts)s, (SELECT until FROM told) - %(seconds)s * interval '1 second')
  AND progress.starts_at < (SELECT until FROM told)
ORDER BY progress.starts_at, attempt.rank, attempt.id, progress.sequence, progress.part
"""


def good_checkpoints(run_id: int) -> list[GoodCheckpoint]:
    """The checkpoints of a run that passed, each once, in order of time."""
    rows = (
        RunEvent.objects.filter(attempt__run_id=run_id, kind="good_checkpoint")
        .order_by("at", "attempt__rank", "attempt_id", "sequence", "part")
        .values_list("at", "step", "metric", "attempt__job_id", "attempt__rank")
    )
    lead = min((rank for *_, rank in rows), default=0)
    return [
        GoodCheckpoint(at, step, metric, job_id)
        for at, step, metric, job_id, rank in rows
        if rank == lead
    ]


def checkpoint_saves(run_ids: Collection[int]) -> dict[int, list[CheckpointSave]]:
    """When each of these runs wrote checkpoints, by its leading rank; windows on end are one."""
    with connection.cursor() as cursor:
        cursor.execute(SAVES, {"runs": list(run_ids)})
        rows_by_run = groupby(cursor.fetchall(), key=itemgetter(0))
        return {
            run_id: saves_together(
                (attempt_id, starts_at, ends_at, spent)
                for _, attempt_id, starts_at, ends_at, spent in of_run
            )
            for run_id, of_run in rows_by_run
        }


def saves_together(
    windows: Iterable[tuple[int, datetime, datetime, int]],
) -> list[CheckpointSave]:
    """Saves of a run from the windows in which it wrote: attempt, start, end and milliseconds."""
    saves: list[CheckpointSave] = []
    last: tuple[int, datetime] | None = None
    for attempt_id, starts_at, ends_at, spent in windows:
        if last == (attempt_id, starts_at):
            saves[-1] = CheckpointSave(saves[-1].at, saves[-1].milliseconds + spent)
        else:
            saves.append(CheckpointSave(starts_at, spent))
        # A save that goes on into the next window fills its own to the end.
        window_ms = (ends_at - starts_at) // MILLISECOND
        last = (attempt_id, ends_at) if spent >= window_ms - 1 else None
    return saves


SAVES = """
SELECT attempt.run_id, attempt.id AS attempt_id, told.starts_at, told.ends_at,
       (told.phases_ms ->> 'checkpoint_save')::numeric::bigint AS spent
FROM workloads_runattempt AS attempt
JOIN workloads_runprogress AS told ON told.attempt_id = attempt.id
WHERE attempt.run_id = ANY(%(runs)s) AND (told.phases_ms ->> 'checkpoint_save')::numeric > 0
  AND attempt.rank = (
      SELECT min(other.rank) FROM workloads_runattempt AS other WHERE other.run_id = attempt.run_id
  )
ORDER BY attempt.run_id, told.starts_at, attempt.id
"""


def history_of_runs(run_ids: Collection[int]) -> RunHistory:
    """Return the history that a hazard is judged by: starts of these runs by their leading ranks, and restores."""
    with connection.cursor() as cursor:
        cursor.execute(ATTEMPTS, {"stopped": sorted(STOPPED_STATES), "runs": list(run_ids)})
        attempt_rows = cursor.fetchall()
    return RunHistory(
        attempts=tuple(_attempt_fact(row) for _, *row in attempt_rows),
        restored_at=attempt_rows[0][0] if attempt_rows else None,
    )


# That a run went on from a checkpoint is known where steps came after the restore.
ATTEMPTS = """
SELECT (
    SELECT max(event.at) FROM workloads_runevent AS event
    JOIN workloads_runattempt AS restarted ON restarted.id = event.attempt_id
    WHERE restarted.run_id = ANY(%(runs)s) AND event.kind = 'restored' AND EXISTS (
        SELECT FROM workloads_runprogress AS told
        WHERE told.attempt_id = event.attempt_id AND told.steps > 0 AND told.ends_at > event.at)
), attempt.run_id, attempt.job_id, attempt.rank, attempt.world_size, attempt.began_at,
       attempt.ended_at, attempt.heard_at, job.ended_at, attempt.status, attempt.first_step,
       attempt.last_step, held.numerator, held.denominator,
       lead(attempt.began_at) OVER (
           PARTITION BY attempt.run_id ORDER BY attempt.began_at, attempt.id
       ),
       job.state = ANY(%(stopped)s) AND attempt.job_id IS DISTINCT FROM lead(attempt.job_id) OVER (
           PARTITION BY attempt.run_id ORDER BY attempt.began_at, attempt.id
       )
FROM workloads_runattempt AS attempt
LEFT JOIN workloads_job AS job ON job.id = attempt.job_id
LEFT JOIN LATERAL (
    SELECT round(sum(gpus_numerator * 1000000.0 / gpus_denominator))::bigint AS numerator,
           1000000 AS denominator
    FROM workloads_allocation
    WHERE job_id = attempt.job_id AND period @> attempt.began_at
) AS held ON true
WHERE attempt.run_id = ANY(%(runs)s)
  AND attempt.rank = (
      SELECT min(other.rank) FROM workloads_runattempt AS other WHERE other.run_id = attempt.run_id
  )
ORDER BY attempt.run_id, attempt.began_at, attempt.id
"""


def _attempt_fact(row: Sequence[Any]) -> AttemptFact:
    (
        run_id,
        job_id,
        rank,
        world_size,
        began_at,
        told_end,
        heard_at,
        job_end,
        status,
        *other_columns,
    ) = row
    first_step, last_step, numerator, denominator, next_began, is_stopped = other_columns
    return AttemptFact(
        run_id=run_id,
        job_id=job_id,
        rank=rank,
        world_size=world_size,
        began_at=began_at,
        ended_at=told_end or heard_at,
        is_over=bool(told_end or job_end or next_began),
        is_stopped=bool(is_stopped),
        status=status,
        first_step=first_step,
        last_step=last_step,
        gpus=None if numerator is None else Fraction(numerator, denominator),
    )
