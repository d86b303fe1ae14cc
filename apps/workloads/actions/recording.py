"""Recording of what sources say about jobs, taken in whatever order and however often it comes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.economics.jobs import JobEventIn
from apps.fleet.actions import open_cluster
from apps.fleet.queries import AgentFact, clusters
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.folding import fold_jobs
from apps.workloads.actions.job_rows import Key, lock_keys, stored_digests, stored_states
from apps.workloads.actions.node_words import NodeWords
from apps.workloads.actions.statements import ArrivedStatement, serialize_statement
from apps.workloads.actions.user_names import with_pseudonyms


@dataclass(frozen=True, slots=True)
class Recorded:
    """The outcome of a statement; unchanged where it had been made before.

    `refusal` says why a node's agent may not tell it: then there is no job, and nothing is kept.
    """

    job_id: int
    state: str
    is_changed: bool
    refusal: str = ""


@logged_change()
def record_event(*, event: JobEventIn, at: datetime, agent: AgentFact | None = None) -> Recorded:
    """Take one statement about a job; the same one again changes nothing."""
    return record_events(events=[event], at=at, agent=agent)[0]


@logged_change(count=answered)
@transaction.atomic
def record_events(
    *, events: Sequence[JobEventIn], at: datetime, agent: AgentFact | None = None
) -> list[Recorded]:
    """Take statements about jobs, all or none, and answer one by one.

    Each job is folded from all that was ever said about it, so order and repetition are moot. An
    unknown cluster is opened. What an `agent` says counts of its own node alone (NodeWords); the
    rest is counted as that node's problem. Every past node-hour whose facts changed is marked for
    the split.
    """
    events = with_pseudonyms(events)
    ids = _cluster_ids(sorted({event.cluster for event in events}), at)
    named = [((ids[event.cluster], event.raw_id), event.statement) for event in events]
    keys = {key for key, _ in named}
    if not keys:
        return []
    lock_keys(keys)
    if agent is None:
        return _recorded([(key, serialize_statement(statement)) for key, statement in named], at)
    words = NodeWords(agent, keys)
    heard = [words.hear(key, statement) for key, statement in named]
    words.note_problems(at)
    arrived_statements = [
        (key, serialize_statement(word.statement, agent.node_id))
        for (key, _), word in zip(named, heard, strict=True)
        if word.statement is not None
    ]
    recorded = iter(_recorded(arrived_statements, at))
    return [
        next(recorded) if word.statement is not None else Recorded(0, "", False, word.refusal)
        for word in heard
    ]


def _recorded(keyed: Sequence[tuple[Key, ArrivedStatement]], at: datetime) -> list[Recorded]:
    """Fold the jobs of these keys, which are locked, with what was told of them."""
    keys = {key for key, _ in keyed}
    if not keys:
        return []
    job_of = stored_digests(keys, [arrived_statement.digest for _, arrived_statement in keyed])
    arrived: dict[Key, list[ArrivedStatement]] = {}
    is_new = []
    known_digests = set(job_of)
    for key, statement in keyed:
        is_new.append((key, statement.digest) not in known_digests)
        if is_new[-1]:
            known_digests.add((key, statement.digest))
            arrived.setdefault(key, []).append(statement)
    for key, jobs in fold_jobs(arrived, at).items():
        job_of |= {(key, digest): job.job_id for job in jobs for digest in job.digests}
    job_ids = [job_of[key, arrived_statement.digest] for key, arrived_statement in keyed]
    return _recorded_answers(job_ids, is_new)


def _recorded_answers(job_ids: Sequence[int], is_new: Iterable[bool]) -> list[Recorded]:
    states = stored_states(set(job_ids))
    return [
        Recorded(job_id, states[job_id], is_changed)
        for job_id, is_changed in zip(job_ids, is_new, strict=True)
    ]


def _cluster_ids(names: Sequence[str], at: datetime) -> dict[str, int]:
    ids_by_name = {fact.name: cluster_id for cluster_id, fact in clusters().items()}
    for name in names:
        if name not in ids_by_name:
            ids_by_name[name] = open_cluster(name=name, at=at)
    return ids_by_name
