"""The jobs that attempts of runs are part of, found by cluster, id and time."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from apps.accounts.queries import teams
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.queries.ownership import owners

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
    one that nobody knows, is joined where its id is of one cluster alone. A run that is a team's
    joins no job that another's is.
    """
    with connection.cursor() as cursor:
        cursor.execute(FINDING, [list(attempt_ids)])
        found = cursor.fetchall()
    allowed = _allowed_attempts(found, at)
    joined = [row for row in found if row[0] in allowed]
    if not joined:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE workloads_runattempt AS attempt SET job_id = found.job_id
            FROM unnest(%s::int8[], %s::int8[]) AS found (id, job_id)
            WHERE attempt.id = found.id
            """,
            [[row[0] for row in joined], [row[3] for row in joined]],
        )
        # Whoever else the job carries gives way to it, or it to them.
        cursor.execute(
            """
            SELECT run_id, job_id FROM workloads_runattempt WHERE job_id = ANY(%s)
            """,
            [[row[3] for row in joined]],
        )
        carried = cursor.fetchall()
    since: dict[int, datetime] = {}
    first = {row[3]: min(row[2], row[4]) for row in joined}
    for run_id, job_id in carried:
        since[run_id] = min(first[job_id], since.get(run_id, first[job_id]))
    touch_runs(since, at)
    return len(joined)


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
SELECT attempt.id, attempt.run_id, attempt.began_at, found.id, found.since, workload.team_id
FROM workloads_runattempt AS attempt
JOIN workloads_run AS run ON run.id = attempt.run_id
LEFT JOIN workloads_workload AS workload ON workload.id = run.workload_id
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


def _allowed_attempts(found: Iterable[tuple[Any, ...]], at: datetime) -> set[int]:
    """The attempts whose run may say that it is on this job."""
    allowed: set[int] = set()
    for attempt_id, _, _, job_id, _, team_id in found:
        if team_id is None or jobs_open_to(team_id, {job_id}, at):
            allowed.add(attempt_id)
    return allowed


def jobs_open_to(team_id: int, job_ids: Collection[int], at: datetime) -> set[int]:
    """Those of these jobs that are nobody's, this team's, or of a team below it."""
    if not job_ids:
        return set()
    parents = {team.id: team.parent_id for team in teams()}
    owner_of = {job_id: owner.team_id for job_id, owner in owners(job_ids, at).items()}
    return {
        job_id
        for job_id, owner in owner_of.items()
        if owner is None or team_id in _team_and_above(owner, parents)
    }


def _team_and_above(team_id: int, parents: Mapping[int, int | None]) -> set[int]:
    """A team and all above it."""
    line: set[int] = set()
    above: int | None = team_id
    while above is not None and above not in line:
        line.add(above)
        above = parents[above]
    return line
