"""Jobs folded again from all that was ever said about them, and kept as they come out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings

from apps.economics.job_fold import JobFold, fold
from apps.workloads.actions.grants import Altered, bearers_of, keep_grants, placed
from apps.workloads.actions.job_rows import (
    TRAIT_COLUMNS,
    Key,
    StoredJobRow,
    empty_jobs,
    insert_jobs,
    keep_events,
    new_job_ids,
    stored_events,
    stored_jobs,
    update_jobs,
    values_of,
)
from apps.workloads.actions.job_runs import keep_runs
from apps.workloads.actions.matching import Matched, matched
from apps.workloads.actions.statements import ArrivedStatement
from apps.workloads.actions.touched_hours import TouchedHours


@dataclass(frozen=True, slots=True)
class Folded:
    """A job after folding; `digests` are those of the statements that it gained."""

    job_id: int
    state: str
    digests: tuple[bytes, ...]


@dataclass(slots=True)
class _Changes:
    """Changes that have to be written, gathered over many raw ids."""

    inserted: list[tuple[int, Mapping[str, object]]] = field(default_factory=list)
    updated: list[tuple[int, Mapping[str, object]]] = field(default_factory=list)
    emptied: dict[int, int] = field(default_factory=dict)
    new_events: list[tuple[int, ArrivedStatement]] = field(default_factory=list)
    moved_events: dict[int, int] = field(default_factory=dict)
    folds: dict[int, tuple[Key, JobFold]] = field(default_factory=dict)
    renewed: set[int] = field(default_factory=set)
    """Jobs whose traits changed: other rules may match them now."""
    retagged: set[int] = field(default_factory=set)


def fold_jobs(
    arrived: Mapping[Key, Sequence[ArrivedStatement]], at: datetime
) -> dict[Key, list[Folded]]:
    """Fold the jobs of these raw ids with what arrived, and mark every node-hour that changed.

    Call it in a transaction that holds `lock_keys`. With nothing arrived it places what the jobs
    hold on the nodes known by now.
    """
    rows = stored_jobs(arrived)
    events = stored_events([row.job.job_id for job in rows.values() for row in job])
    changes = _Changes()
    answers: dict[Key, list[Folded]] = {}
    plans = []
    for key, new in arrived.items():
        kept_rows = rows.get(key, [])
        job_events = [event for row in kept_rows for event in events.get(row.job.job_id, ())]
        plans.append((key, kept_rows, matched([row.job for row in kept_rows], job_events, new)))
    fresh = iter(new_job_ids(sum(_new_count(plan[2].attempts) for plan in plans)))
    for key, kept_rows, match in plans:
        rows_by_job = {row.job.job_id: row for row in kept_rows}
        answers[key] = []
        for one in match.attempts:
            job_id = one.job_id if one.job_id is not None else next(fresh)
            answers[key].append(_fold_attempt(changes, key, (job_id, one), rows_by_job.get(job_id)))
        for emptied, place in match.emptied.items():
            changes.emptied[emptied] = answers[key][place].job_id
    _write_changes(changes, at)
    return answers


def _new_count(attempts: Iterable[Matched]) -> int:
    return sum(1 for one in attempts if one.job_id is None)


def _fold_attempt(
    changes: _Changes, key: Key, attempt: tuple[int, Matched], kept_row: StoredJobRow | None
) -> Folded:
    job_id, one = attempt
    job_fold = fold(one.attempt.statements)
    values = values_of(key, one, job_fold)
    changes.folds[job_id] = key, job_fold
    changes.new_events += [(job_id, statement) for statement in one.new]
    changes.moved_events |= dict.fromkeys(one.moved_event_ids, job_id)
    if kept_row is None:
        changes.inserted.append((job_id, values))
    elif values != kept_row.values:
        changes.updated.append((job_id, values))
        if any(values[name] != kept_row.values[name] for name in TRAIT_COLUMNS):
            changes.renewed.add(job_id)
        if _read_at_rollup(values) != _read_at_rollup(kept_row.values):
            changes.retagged.add(job_id)
    return Folded(job_id, job_fold.state, tuple(statement.digest for statement in one.new))


def _read_at_rollup(values: Mapping[str, object]) -> dict[str, object]:
    """Return what the roll-up asks of a job beside its lines: whose it is, and its tags."""
    labels = values["labels"]
    tags = {key: labels.get(key) for key in settings.TAG_KEYS} if isinstance(labels, dict) else {}
    return {"user": values["user"], "tags": tags}


def _write_changes(changes: _Changes, at: datetime) -> None:
    # A job that gives up its place under its raw id goes before the one that takes it.
    empty_jobs(changes.emptied)
    update_jobs(changes.updated)
    insert_jobs(changes.inserted)
    keep_events(changes.new_events, changes.moved_events)
    keep_runs(
        parts={i: f.runs for i, (_, f) in changes.folds.items()},
        changed=[job_id for job_id, _ in changes.updated],
        emptied=changes.emptied,
        at=at,
    )
    _store_held_grants(changes, at)


def _store_held_grants(changes: _Changes, at: datetime) -> None:
    names: dict[int, set[str]] = {}
    for key, job_fold in changes.folds.values():
        names.setdefault(key[0], set()).update(span.node for span in job_fold.held)
    bearers = bearers_of(names)
    wanted = [
        grant
        for job_id, (key, fold_of_job) in changes.folds.items()
        for grant in placed(job_id, fold_of_job.held, bearers[key[0]])
    ]
    touched = TouchedHours(at)
    altered = Altered(changes.renewed, changes.retagged)
    keep_grants([*changes.folds, *changes.emptied], wanted, altered, touched)
    touched.mark()
