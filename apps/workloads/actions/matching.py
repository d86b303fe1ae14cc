"""Matching of attempts: which of the jobs already kept each is, and which jobs turned out to be another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.economics.job_attempts import Attempt, attempts
from apps.economics.jobs import JobStatement
from apps.workloads.actions.statements import ArrivedStatement


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job as kept, by what tells it apart under its raw id."""

    job_id: int
    submitted_at: datetime | None
    opened_at: datetime
    restart_count: int


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A statement as kept, with which job, and of which node the agent is that made it."""

    event_id: int
    job_id: int
    digest: bytes
    statement: JobStatement
    agent_node_id: int | None = None


@dataclass(frozen=True, slots=True)
class Matched:
    """An attempt, the job it is kept as (None: a new one), and what that job gains."""

    attempt: Attempt
    job_id: int | None
    new: tuple[ArrivedStatement, ...]
    moved_event_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """All that one raw id comes to; `emptied` maps jobs to the place of what they became."""

    attempts: tuple[Matched, ...]
    emptied: Mapping[int, int] = field(default_factory=dict)


def matched(
    jobs: Sequence[StoredJob], events: Sequence[StoredEvent], arrived: Iterable[ArrivedStatement]
) -> Match:
    """Match all statements about one raw id, kept and arrived, to the jobs kept."""
    stored_events = {event.statement: event for event in events}
    new = {
        statement.statement: statement
        for statement in arrived
        if statement.statement not in stored_events
    }
    job_attempts = attempts([*stored_events, *new])
    job_ids = _assigned_jobs(job_attempts, jobs, stored_events)
    matches = tuple(
        Matched(
            attempt=attempt,
            job_id=job_id,
            new=tuple(new[statement] for statement in attempt.statements if statement in new),
            moved_event_ids=tuple(
                stored_events[statement].event_id
                for statement in attempt.statements
                if statement in stored_events and stored_events[statement].job_id != job_id
            ),
        )
        for attempt, job_id in zip(job_attempts, job_ids, strict=True)
    )
    return Match(matches, _emptied_jobs(job_attempts, job_ids, events))


def _assigned_jobs(
    job_attempts: Sequence[Attempt],
    jobs: Sequence[StoredJob],
    stored_events: Mapping[JobStatement, StoredEvent],
) -> list[int | None]:
    """By the same submission, else by what was said before, else by the same opening."""
    free = {job.job_id: job for job in sorted(jobs, key=lambda job: job.job_id)}
    chosen: list[int | None] = [None] * len(job_attempts)

    def told_before(attempt: Attempt, job: StoredJob) -> bool:
        return any(
            statement in stored_events and stored_events[statement].job_id == job.job_id
            for statement in attempt.statements
        )

    for is_same in (_same_submission, told_before, _same_opening):
        for place, attempt in enumerate(job_attempts):
            if chosen[place] is None:
                same = (job_id for job_id, job in free.items() if is_same(attempt, job))
                chosen[place] = next(same, None)
                free.pop(chosen[place] or 0, None)
    return chosen


def _same_submission(attempt: Attempt, job: StoredJob) -> bool:
    return attempt.submitted_at is not None and _same_opening(attempt, job)


def _same_opening(attempt: Attempt, job: StoredJob) -> bool:
    return (attempt.submitted_at, attempt.opened_at, attempt.restart_count) == (
        job.submitted_at,
        job.opened_at,
        job.restart_count,
    )


def _emptied_jobs(
    job_attempts: Sequence[Attempt], job_ids: Sequence[int | None], events: Sequence[StoredEvent]
) -> dict[int, int]:
    """Jobs that lost all that was said of them, by where the first of it went."""
    place_of = {
        statement: place for place, one in enumerate(job_attempts) for statement in one.statements
    }
    emptied: dict[int, int] = {}
    for event in sorted(events, key=lambda one: one.event_id):
        if event.job_id not in job_ids:
            emptied.setdefault(event.job_id, place_of[event.statement])
    return emptied
