"""What training runs told moment by moment: ranks, checkpoints, saves, restarts and restores."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from apps.economics.hours import MILLISECOND
from apps.economics.jobs import STOPPED_STATES
from apps.workloads.models import RunEvent, RunProgress, RunStatus


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


def step_times(run_id: int, starts_at: datetime, ends_at: datetime) -> list[RankWindow]:
    """What every rank told of steps, from `[starts_at, ends_at)` on; by time, then rank.

    Not what began before: to find what reaches into it, all of a long run would be read.
    """
    rows: Iterable[tuple[Any, ...]] = (
        RunProgress.objects.filter(
            attempt__run_id=run_id, starts_at__gte=starts_at, starts_at__lt=ends_at, steps__gt=0
        )
        .order_by("starts_at", "attempt__rank", "attempt_id", "sequence", "part")
        .values_list(
            *("attempt__rank", "attempt__host", "attempt__job_id", "starts_at", "ends_at"),
            *("first_step", "last_step", "steps", "productive_ms", "phases_ms", "step_times_ms"),
        )
    )
    return [RankWindow(*(*row[:-1], tuple(row[-1]))) for row in rows]


def steps_told_until(run_id: int, before: datetime) -> datetime | None:
    """When the last steps that any rank began to tell of before that moment were over.

    None: none was told.
    """
    with connection.cursor() as cursor:
        cursor.execute(STEPS_UNTIL, {"run": run_id, "before": before})
        until: datetime | None = cursor.fetchone()[0]
    return until


# Of each rank the last report alone is read: a long run has millions of them.
STEPS_UNTIL = """
SELECT max(last.ends_at)
FROM workloads_runattempt AS attempt
CROSS JOIN LATERAL (
    SELECT ends_at FROM workloads_runprogress
    WHERE attempt_id = attempt.id AND steps > 0 AND starts_at < %(before)s
    ORDER BY starts_at DESC LIMIT 1
) AS last
WHERE attempt.run_id = %(run)s
"""


def good_checkpoints(run_id: int) -> list[GoodCheckpoint]:
    """The checkpoints of a run that passed, each once, in order of time."""
    rows = (
        RunEvent.objects.filter(attempt__run_id=run_id, kind="good_checkpoint")
        .order_by("at", "attempt__rank", "attempt_id", "sequence", "part")
        .values_list("at", "step", "metric", "attempt__job_id", "attempt__rank")
    )
    lead = min((row[4] for row in rows), default=0)
    return [GoodCheckpoint(*row[:4]) for row in rows if row[4] == lead]


def checkpoint_saves(run_ids: Collection[int]) -> dict[int, list[CheckpointSave]]:
    """When each of these runs wrote checkpoints, by its leading rank; windows on end are one."""
    with connection.cursor() as cursor:
        cursor.execute(SAVES, [list(run_ids)])
        found: dict[int, list[CheckpointSave]] = {}
        last: tuple[int, int, datetime] | None = None
        for run_id, attempt_id, starts_at, ends_at, spent in cursor:
            saves = found.setdefault(run_id, [])
            whole = (ends_at - starts_at) // MILLISECOND
            if last == (run_id, attempt_id, starts_at):
                saves[-1] = CheckpointSave(saves[-1].at, saves[-1].milliseconds + spent)
            else:
                saves.append(CheckpointSave(starts_at, spent))
            # A save that goes on into the next window fills its own to the end.
            last = (run_id, attempt_id, ends_at) if spent >= whole - 1 else None
    return found


SAVES = """
SELECT attempt.run_id, attempt.id, told.starts_at, told.ends_at,
       (told.phases_ms ->> 'checkpoint_save')::numeric::bigint
FROM workloads_runattempt AS attempt
JOIN workloads_runprogress AS told ON told.attempt_id = attempt.id
WHERE attempt.run_id = ANY(%s) AND (told.phases_ms ->> 'checkpoint_save')::numeric > 0
  AND attempt.rank = (
      SELECT min(other.rank) FROM workloads_runattempt AS other WHERE other.run_id = attempt.run_id
  )
ORDER BY attempt.run_id, told.starts_at, attempt.id
"""


def attempts_of_runs(run_ids: Collection[int]) -> list[AttemptFact]:
    """Starts of these runs by their leading ranks, by run and time: what a hazard is judged by."""
    with connection.cursor() as cursor:
        cursor.execute(ATTEMPTS, [sorted(STOPPED_STATES), list(run_ids)])
        return [_attempt_fact(row) for row in cursor]


ATTEMPTS = """
SELECT attempt.run_id, attempt.job_id, attempt.rank, attempt.world_size, attempt.began_at,
       attempt.ended_at, attempt.heard_at, job.ended_at, attempt.status, attempt.first_step,
       attempt.last_step, held.numerator, held.denominator,
       lead(attempt.began_at) OVER (
           PARTITION BY attempt.run_id ORDER BY attempt.began_at, attempt.id
       ),
       job.state = ANY(%s) AND attempt.job_id IS DISTINCT FROM lead(attempt.job_id) OVER (
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
WHERE attempt.run_id = ANY(%s)
  AND attempt.rank = (
      SELECT min(other.rank) FROM workloads_runattempt AS other WHERE other.run_id = attempt.run_id
  )
ORDER BY attempt.run_id, attempt.began_at, attempt.id
"""


def _attempt_fact(row: tuple[Any, ...]) -> AttemptFact:
    run_id, job_id, rank, world_size, began_at, told_end, heard_at, job_end, status, *rest = row
    first_step, last_step, numerator, denominator, next_began, is_stopped = rest
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


def last_tested_restore(run_ids: Collection[int]) -> datetime | None:
    """When one of these runs last went on from a checkpoint and made steps after; None: never."""
    went_on = RunProgress.objects.filter(
        attempt_id=OuterRef("attempt_id"), steps__gt=0, ends_at__gt=OuterRef("at")
    )
    return (
        RunEvent.objects.filter(Exists(went_on), kind="restored", attempt__run_id__in=run_ids)
        .order_by("-at")
        .values_list("at", flat=True)
        .first()
    )
