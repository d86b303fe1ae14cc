"""Statements about a job, folded by when things happened and who says so, never by arrival.

Accounting is trusted over the scheduler and the scheduler over an agent. Between the first two
the later event wins and trust decides a tie; an agent only fills what neither has said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from apps.economics.job_holding import HeldSpan, RunPart, held_spans, run_parts
from apps.economics.job_order import end_of, in_order
from apps.economics.jobs import EventKind, JobSource, JobStatement, JobTerms

RUNNING_STATES = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "STOPPED"})
STATE_OF_KIND = {EventKind.SUBMIT: "PENDING", EventKind.START: "RUNNING"}
TEXTS = (
    "name",
    "user",
    "account",
    "partition",
    "qos",
    "namespace",
    "array_id",
    "het_id",
    "exit_code",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFold(JobTerms):
    """One attempt as all statements about it say."""

    source: JobSource
    namespace: str
    labels: tuple[tuple[str, str], ...]
    held: tuple[HeldSpan, ...]
    runs: tuple[RunPart, ...]


def fold(statements: Iterable[JobStatement]) -> JobFold:
    """One attempt, whatever the order and however often its statements came.

    A terminal state is final unless accounting says otherwise. Times that contradict each other
    leave a job of no length, never one that ends before it starts.
    """
    ordered = in_order(statements)
    if not ordered:
        raise ValueError("a job without a statement is no job")
    of_job = [statement for statement in ordered if not statement.is_of_node_alone] or ordered
    started_at = _trusted_start(of_job)
    ended_at, state = _end_and_state(ordered, of_job, started_at)
    texts = dict.fromkeys(TEXTS, "")
    for job_statement in of_job:
        texts |= {
            name: text for name in TEXTS if (text := getattr(job_statement, name)) is not None
        }
    cpus = [statement.cpus for statement in of_job if statement.cpus is not None]
    return JobFold(
        state=state,
        started_at=started_at,
        ended_at=ended_at,
        suspended_seconds=_suspended_seconds(of_job, ended_at),
        source=min(statement.source for statement in ordered),
        cpus=cpus[-1] if cpus else None,
        labels=tuple(
            sorted(dict(pair for statement in of_job for pair in statement.labels).items())
        ),
        held=held_spans(ordered, started_at, ended_at),
        runs=run_parts(of_job, started_at, ended_at),
        **texts,
    )


def _trusted_start(ordered: Sequence[JobStatement]) -> datetime | None:
    """The most trusted start; else the first moment at which it was seen to run."""
    stated = [
        (statement.source, statement.started_at or statement.at)
        for statement in ordered
        if statement.started_at is not None or statement.kind is EventKind.START
    ]
    if stated:
        return min(stated)[1]
    running = [statement.at for statement in ordered if statement.state in RUNNING_STATES]
    return min(running, default=None)


def _end_and_state(
    ordered: Sequence[JobStatement],
    of_job: Sequence[JobStatement],
    started_at: datetime | None,
) -> tuple[datetime | None, str]:
    last = end_of(ordered)
    if last is not None:
        ended_at = last.at if started_at is None else max(last.at, started_at)
        return ended_at, last.state or "ENDED"
    states = (
        statement.state or STATE_OF_KIND.get(statement.kind)
        for statement in reversed(of_job)
        if not statement.is_terminal
    )
    return None, next((state for state in states if state), "")


def _suspended_seconds(ordered: Sequence[JobStatement], ended_at: datetime | None) -> int:
    """Return the suspended seconds that a source states, else the whole seconds between SUSPENDED and the next state."""
    stated = [
        statement.suspended_seconds
        for statement in ordered
        if statement.suspended_seconds is not None
    ]
    if stated:
        return stated[-1]
    moments = sorted(
        (statement.at, statement.state) for statement in ordered if statement.state is not None
    )
    seconds = 0
    for (since, state), (until, _) in pairwise(moments):
        if state == "SUSPENDED" and (ended_at is None or since < ended_at):
            pause = min(until, ended_at or until) - since
            seconds += pause.days * 86_400 + pause.seconds
    return seconds
