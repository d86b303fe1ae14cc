"""Runs that jobs carry, as it is stated of the jobs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.db import connection
from psycopg.types.range import Range

from apps.economics.job_holding import RunPart
from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.actions.run_jobs import move_attempts
from apps.workloads.actions.run_names import (
    NamedRun,
    forget_empty_runs,
    move_to_runs,
    open_runs,
    owner_lines,
)

Stated = tuple[int, datetime, datetime | None]
"""A run, from when, to when."""


def keep_runs(
    *,
    parts: Mapping[int, Sequence[RunPart]],
    changed: Collection[int],
    emptied: Mapping[int, int],
    at: datetime,
) -> None:
    """Make these jobs carry exactly these runs, beside what runs report themselves.

    A run nobody heard of is opened. What runs of `changed` jobs told is folded anew, and what was
    told on a job that turned out to be another goes to that one.
    """
    job_ids = [*parts, *emptied]
    before = _stated_runs(job_ids)
    run_ids = _named_runs(parts, at)
    after = {
        job_id: [(run_ids[job_id, part.key], part.starts_at, part.ends_at) for part in carried]
        for job_id, carried in parts.items()
        if carried
    }
    differing = {part for part in job_ids if before.get(part, []) != after.get(part, [])}
    moved = {*changed, *emptied, *(emptied[emptied_id] for emptied_id in emptied)} | differing
    move_attempts(emptied)
    move_to_runs(_attempts_elsewhere(run_ids), at)
    touch_runs(_touched_runs(moved, before, after), at)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM workloads_runspan WHERE job_id = ANY(%s)", [list(emptied)])
        if not differing:
            return
        # The run's fold finds out what of the job its reports still say beyond this.
        cursor.execute(
            """
            DELETE FROM workloads_runspan
            WHERE job_id = ANY(%s) AND (NOT is_reported OR run_id = ANY(%s))
            """,
            [list(differing), list(run_ids.values())],
        )
        columns = "run_id, job_id, period, is_reported"
        with cursor.copy(f"COPY workloads_runspan ({columns}) FROM STDIN") as copy:
            for job_id in sorted(differing):
                for run_id, starts_at, ends_at in after.get(job_id, ()):
                    copy.write_row((run_id, job_id, Range(starts_at, ends_at), False))
    left = {run_id for job_id in differing for run_id, _, _ in before.get(job_id, ())}
    forget_empty_runs(left - {*run_ids.values()})


def _stated_runs(job_ids: Collection[int]) -> dict[int, list[Stated]]:
    runs_by_job: dict[int, list[Stated]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT job_id, run_id, lower(period), upper(period) FROM workloads_runspan
            WHERE job_id = ANY(%s) AND NOT is_reported ORDER BY job_id, lower(period), run_id
            """,
            [list(job_ids)],
        )
        for job_id, run_id, starts_at, ends_at in cursor:
            runs_by_job.setdefault(job_id, []).append((run_id, starts_at, ends_at))
    return runs_by_job


def _touched_runs(
    moved: Collection[int], *stated: Mapping[int, Iterable[Stated]]
) -> dict[int, datetime]:
    """The runs of these jobs, each from the first moment that its jobs may have changed."""
    if not moved:
        return {}
    since: dict[int, datetime] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, coalesce(submitted_at, opened_at) FROM workloads_job WHERE id = ANY(%s)
            """,
            [list(moved)],
        )
        opened = dict(cursor.fetchall())
        cursor.execute(
            "SELECT run_id, job_id FROM workloads_runattempt WHERE job_id = ANY(%s)", [list(moved)]
        )
        named = [(run_id, opened[job_id]) for run_id, job_id in cursor]
    for runs_by_job in stated:
        for job_id in runs_by_job.keys() & moved:
            for run_id, starts_at, _ in runs_by_job[job_id]:
                named.append((run_id, min(starts_at, opened[job_id])))
    for run_id, moment in named:
        since[run_id] = min(moment, since.get(run_id, moment))
    return since


def _named_runs(parts: Mapping[int, Sequence[RunPart]], at: datetime) -> dict[tuple[int, str], int]:
    """The runs that these jobs name, by job and name: those of the team whose job it is."""
    carried = [(job_id, part.key) for job_id, of_job in parts.items() for part in of_job]
    if not carried:
        return {}
    lines = owner_lines({job_id for job_id, _ in carried}, at)
    names = {(job_id, key): NamedRun(key, lines[job_id]) for job_id, key in carried}
    runs = open_runs(set(names.values()), at)
    return {place: runs[name] for place, name in names.items()}


def _attempts_elsewhere(run_ids: Mapping[tuple[int, str], int]) -> dict[int, int]:
    """Attempts on these jobs, told on nobody's word, that are of another run of the name: the run."""
    if not run_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT attempt.id, stated.run_id
            FROM unnest(%s::int8[], %s::text[], %s::int8[]) AS stated (job_id, key, run_id)
            JOIN workloads_runattempt AS attempt ON attempt.job_id = stated.job_id
            JOIN workloads_run AS run ON run.id = attempt.run_id AND run.key = stated.key
            WHERE attempt.team_id IS NULL AND attempt.run_id <> stated.run_id
            """,
            [
                [job_id for job_id, _ in run_ids],
                [key for _, key in run_ids],
                list(run_ids.values()),
            ],
        )
        return dict(cursor.fetchall())
