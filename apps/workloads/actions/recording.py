"""What sources say about jobs, taken in whatever order and however often it comes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.economics.jobs import JobEventIn
from apps.fleet.actions import open_cluster
from apps.fleet.queries import clusters
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.folding import fold_jobs
from apps.workloads.actions.job_rows import Key, kept_digests, kept_states, lock_keys
from apps.workloads.actions.statements import ArrivedStatement, told
from apps.workloads.actions.user_names import with_pseudonyms


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a statement came to; unchanged where it had been made before."""

    job_id: int
    state: str
    is_changed: bool


@logged_change()
def record_event(*, event: JobEventIn, at: datetime, agent_node_id: int | None = None) -> Recorded:
    """Take one statement about a job; the same one again changes nothing."""
    return record_events(events=[event], at=at, agent_node_id=agent_node_id)[0]


@logged_change(count=answered)
@transaction.atomic
def record_events(
    *, events: Sequence[JobEventIn], at: datetime, agent_node_id: int | None = None
) -> list[Recorded]:
    """Take statements about jobs, all or none, and answer one by one.

    Each job is folded from all that was ever said about it, so order and repetition are moot. An
    unknown cluster is opened. `agent_node_id` is the node of the agent that makes them. Every past node-hour whose facts changed is marked for the split.
    """
    events = with_pseudonyms(events)
    ids = _cluster_ids(sorted({event.cluster for event in events}), at)
    keyed = [
        ((ids[event.cluster], event.raw_id), told(event.statement, agent_node_id))
        for event in events
    ]
    keys = {key for key, _ in keyed}
    if not keys:
        return []
    lock_keys(keys)
    job_of = kept_digests(keys, [each.digest for _, each in keyed])
    arrived: dict[Key, list[ArrivedStatement]] = {}
    is_new = []
    seen = set(job_of)
    for key, each in keyed:
        is_new.append((key, each.digest) not in seen)
        if is_new[-1]:
            seen.add((key, each.digest))
            arrived.setdefault(key, []).append(each)
    for key, jobs in fold_jobs(arrived, at).items():
        job_of |= {(key, digest): job.job_id for job in jobs for digest in job.digests}
    job_ids = [job_of[key, each.digest] for key, each in keyed]
    return _recorded_answers(job_ids, is_new)


def _recorded_answers(job_ids: Sequence[int], is_new: Iterable[bool]) -> list[Recorded]:
    states = kept_states(set(job_ids))
    return [
        Recorded(job_id, states[job_id], is_changed)
        for job_id, is_changed in zip(job_ids, is_new, strict=True)
    ]


def _cluster_ids(names: Sequence[str], at: datetime) -> dict[str, int]:
    known = {fact.name: cluster_id for cluster_id, fact in clusters().items()}
    for name in names:
        if name not in known:
            known[name] = open_cluster(name=name, at=at)
    return known
