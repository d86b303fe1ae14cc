"""The jobs that attempts of runs are part of, found by cluster, id and time."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction

from apps.logs.changes import answered, logged_change
from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.actions.run_names import NamedRun, move_to_runs, open_runs, owner_lines

TRIED_FOR = timedelta(days=31)
"""A scheduler or its accounting that has not told of a job by then hardly will."""


@logged_change(count=answered)
def join_waiting_attempts(*, at: datetime) -> int:
    """Join what came before its job was known; how many. Safe to run at any time; a sweep does."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id FROM workloads_runattempt
            WHERE job_id IS NULL AND raw_id <> '' AND heard_at > %s ORDER BY id
            """,
            [at - TRIED_FOR],
        )
        waiting = [attempt_id for (attempt_id,) in cursor.fetchall()]
    return join_attempts(attempt_ids=waiting, at=at) if waiting else 0


@transaction.atomic
def join_attempts(*, attempt_ids: Collection[int], at: datetime) -> int:
    """Put attempts on the jobs that bore their ids when they began; how many.

    Where ids were used again it is the job that began last. An attempt that names no cluster, or
    one that nobody knows, is joined where its id is of one cluster alone. What a team told joins no
    job that another's is; what nobody in particular told is of the run of its job's team.
    """
    with connection.cursor() as cursor:
        cursor.execute(FINDING, [list(attempt_ids)])
        candidates = [_MatchedJob(*row) for row in cursor]
    lines = owner_lines({candidate.job_id for candidate in candidates}, at)
    joined = [
        candidate for candidate in candidates if _may_join(candidate, lines[candidate.job_id])
    ]
    if not joined:
        return 0
    job_ids = [candidate.job_id for candidate in joined]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE workloads_runattempt AS attempt SET job_id = found.job_id
            FROM unnest(%s::int8[], %s::int8[]) AS found (id, job_id)
            WHERE attempt.id = found.id
            """,
            [[candidate.attempt_id for candidate in joined], job_ids],
        )
    _give_to_owners(joined, lines, at)
    with connection.cursor() as cursor:
        # Whoever else the job carries gives way to it, or it to them.
        cursor.execute(
            """
            SELECT run_id, job_id FROM workloads_runattempt WHERE job_id = ANY(%s)
            """,
            [job_ids],
        )
        carried = cursor.fetchall()
    since: dict[int, datetime] = {}
    first = {candidate.job_id: min(candidate.began_at, candidate.since) for candidate in joined}
    for run_id, job_id in carried:
        since[run_id] = min(first[job_id], since.get(run_id, first[job_id]))
    touch_runs(since, at)
    return len(joined)


class _MatchedJob(NamedTuple):
    """An attempt and the job that bore its id; `told_by` is the team on whose word it is."""

    attempt_id: int
    began_at: datetime
    job_id: int
    since: datetime
    told_by: int | None
    key: str
    run_team_id: int | None


def _may_join(candidate: _MatchedJob, owners: Collection[int]) -> bool:
    return candidate.told_by is None or not owners or candidate.told_by in owners


def _give_to_owners(
    joined: Iterable[_MatchedJob], lines: Mapping[int, tuple[int, ...]], at: datetime
) -> None:
    """Give what nobody in particular told to the run that its job's team means by the name."""
    names = {
        candidate.attempt_id: NamedRun(candidate.key, lines[candidate.job_id])
        for candidate in joined
        if candidate.told_by is None
        and lines[candidate.job_id]
        and candidate.run_team_id not in lines[candidate.job_id]
    }
    runs = open_runs(set(names.values()), at)
    move_to_runs({attempt_id: runs[name] for attempt_id, name in names.items()}, at)


def move_attempts(moved: Mapping[int, int]) -> None:
    """Attempts of a job that turned out to be another are that one's."""
    if not moved:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE workloads_runattempt AS attempt SET job_id = moved.now_id
            FROM unnest(%s::int8[], %s::int8[]) AS moved (job_id, now_id)
            WHERE attempt.job_id = moved.job_id
            """,
            [list(moved), list(moved.values())],
        )


# A clock of a node and that of a scheduler agree to a minute or two.
FINDING = """
SELECT attempt.id, attempt.began_at, found.id, found.since, attempt.team_id, run.key, run.team_id
FROM workloads_runattempt AS attempt
JOIN workloads_run AS run ON run.id = attempt.run_id
CROSS JOIN LATERAL (
    SELECT job.id, coalesce(job.submitted_at, job.opened_at) AS since,
           min(job.cluster_id) OVER () AS lowest, max(job.cluster_id) OVER () AS highest
    FROM fleet_cluster_fact AS cluster
    JOIN workloads_job AS job ON job.cluster_id = cluster.id AND job.raw_id = attempt.raw_id
    WHERE job.merged_into_id IS NULL
      AND (
          cluster.name = attempt.cluster_named
          OR NOT EXISTS (SELECT FROM fleet_cluster_fact WHERE name = attempt.cluster_named)
      )
      AND coalesce(job.started_at, job.opened_at) <= attempt.began_at + interval '2 minutes'
      AND (job.ended_at IS NULL OR job.ended_at >= attempt.began_at - interval '2 minutes')
    ORDER BY coalesce(job.started_at, job.opened_at) DESC, job.restart_count DESC, job.id DESC
    LIMIT 1
) AS found
WHERE attempt.id = ANY(%s) AND attempt.raw_id <> '' AND found.lowest = found.highest
ORDER BY attempt.id
"""
