"""The run that a name stands for: a name is its team's own, so that two teams may use one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import ProtectedError

from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.models import Run, RunAttempt, RunSpan
from apps.workloads.queries.ownership import owners
from apps.workloads.queries.run_names import (
    Parents,
    TeamRuns,
    run_for_teams,
    runs_by_team,
    team_and_above,
    team_parents,
)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run's name, and the teams whose run it may be: the first of them opens it.

    Without a team nobody said whose it is.
    """

    key: str
    team_ids: tuple[int, ...] = ()


def open_runs(named: Collection[NamedRun], at: datetime) -> dict[NamedRun, int]:
    """The runs of these names, opened where there is none; in a transaction.

    A team's is its own or that of a team above it; else one that was nobody's, or of a team below,
    becomes its own where all its jobs may be and no other team told of it. Of a name of nobody's it is nobody's, else the only one.
    """
    if not named:
        return {}
    # Shorter lines first: a team's run is there before a team below it looks for one.
    ordered = sorted(
        named, key=lambda named_run: (named_run.key, len(named_run.team_ids), named_run.team_ids)
    )
    runs_by_key = _runs_with_first(ordered)
    parents = team_parents()
    ids_by_run: dict[NamedRun, int] = {}
    for run in ordered:
        runs = runs_by_key[run.key]
        run_id = run_for_teams(runs, run.team_ids)
        if run_id is None and run.team_ids:
            run_id = _claimed_run(runs, run.team_ids[0], parents, at)
        if run_id is None:
            _insert_runs([run])
            runs_by_key |= _locked_runs([run.key])
            run_id = runs_by_key[run.key][_opener(run)]
        ids_by_run[run] = run_id
    return ids_by_run


def owner_lines(job_ids: Collection[int], at: datetime) -> dict[int, tuple[int, ...]]:
    """The team of each of these jobs and all above it, the nearest first; () where nobody's."""
    if not job_ids:
        return {}
    parents = team_parents()
    return {
        job_id: () if owner.team_id is None else team_and_above(owner.team_id, parents)
        for job_id, owner in owners(job_ids, at).items()
    }


def move_to_runs(moved: Mapping[int, int], at: datetime) -> None:
    """Put attempts (by id) into these runs and have both folded again; in the caller's transaction.

    What nothing is left of then is forgotten.
    """
    if not moved:
        return
    with connection.cursor() as cursor:
        cursor.execute(MOVING, [list(moved), list(moved.values())])
        rows = cursor.fetchall()
    left = {before for before, _, _ in rows}
    forgotten = forget_empty_runs(left)
    since: dict[int, datetime] = {}
    for before, after, began_at in rows:
        for run_id in {before, after} - forgotten:
            since[run_id] = min(began_at, since.get(run_id, began_at))
    touch_runs(since, at)


def forget_empty_runs(run_ids: Collection[int]) -> set[int]:
    """Of these runs, those of nobody's of which nothing is left: they are no more; which."""
    forgotten: set[int] = set()
    # Locked first, so that what is being told of one meanwhile is seen.
    rows = Run.objects.select_for_update().filter(id__in=run_ids, team=None, workload=None)
    for run in rows.order_by("id"):
        if run.attempts.exists() or run.spans.exists():
            continue
        run_id = run.id
        try:
            run.delete()
        except ProtectedError:
            continue  # a month, or a change, names it
        forgotten.add(run_id)
    return forgotten


MOVING = """
WITH moving AS (
    SELECT attempt.id, attempt.run_id AS before, moved.run_id AS after, attempt.began_at
    FROM unnest(%s::int8[], %s::int8[]) AS moved (id, run_id)
    JOIN workloads_runattempt AS attempt USING (id)
    WHERE attempt.run_id <> moved.run_id AND NOT EXISTS (
        SELECT FROM workloads_runattempt AS same
        WHERE same.run_id = moved.run_id AND same.key = attempt.key
    )
)
UPDATE workloads_runattempt AS attempt SET run_id = moving.after
FROM moving WHERE attempt.id = moving.id
RETURNING moving.before, moving.after, moving.began_at
"""


def _runs_with_first(ordered: Sequence[NamedRun]) -> dict[str, TeamRuns]:
    """The runs of these names by team, with one opened of each name that nobody has yet."""
    runs_by_key = _locked_runs({run.key for run in ordered})
    first = {run.key: run for run in reversed(ordered) if run.key not in runs_by_key}
    if first:
        _insert_runs(first.values())
        runs_by_key |= _locked_runs(first)
    return runs_by_key


def _locked_runs(keys: Collection[str]) -> dict[str, TeamRuns]:
    """The runs of these names, which nobody forgets meanwhile."""
    return runs_by_team(Run.objects.select_for_update(no_key=True).filter(key__in=keys))


def _insert_runs(named: Iterable[NamedRun]) -> None:
    """Open these; one that somebody opened meanwhile is held, so that nobody forgets it."""
    rows = [(run.key, _opener(run)) for run in named]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO workloads_run (key, team_id)
            SELECT * FROM unnest(%s::text[], %s::int8[]) ORDER BY 1, 2
            ON CONFLICT (key, team_id) DO UPDATE SET key = excluded.key
            """,
            [[key for key, _ in rows], [team_id for _, team_id in rows]],
        )


def _opener(named: NamedRun) -> int | None:
    return named.team_ids[0] if named.team_ids else None


def _claimed_run(runs: TeamRuns, team_id: int, parents: Parents, at: datetime) -> int | None:
    """The one run that was nobody's or of a team below, and may be this team's: now it is."""
    open_to_it = [
        run_id
        for owner_id, run_id in runs.items()
        if owner_id is None or team_id in team_and_above(owner_id, parents)
    ]
    if len(open_to_it) != 1:
        return None
    run = Run.objects.select_for_update().filter(id=open_to_it[0], workload=None).first()
    if run is None:
        return None
    told_of = RunAttempt.objects.filter(run=run, team__isnull=False)
    if told_of.exclude(team_id=team_id).exists():
        return None
    job_ids = {
        *RunSpan.objects.filter(run=run).order_by("id").values_list("job_id", flat=True),
        *RunAttempt.objects.filter(run=run, job__isnull=False)
        .order_by("id")
        .values_list("job_id", flat=True),
    }
    if any(line and team_id not in line for line in owner_lines(job_ids, at).values()):
        return None
    run.team_id = team_id
    run.save(update_fields=["team"])
    return run.id
