"""The job that a usage key means at a moment, to the minute."""

from collections import defaultdict
from collections.abc import Iterable

from apps.economics.node_hour.facts import MINUTE_MS, KeyFact


class HolderNames:
    """Keys to jobs. A key may pass from one job to the next: a requeued attempt keeps its id."""

    __slots__ = ("_facts", "_jobs")

    def __init__(self, keys: Iterable[KeyFact]) -> None:
        """Order the facts, so that their order of arrival never matters."""
        self._facts: dict[int, list[KeyFact]] = defaultdict(list)
        self._jobs: dict[int, set[int]] = defaultdict(set)
        for fact in sorted(keys, key=lambda fact: (fact.start_ms, fact.end_ms, fact.job_id)):
            self._facts[fact.holder_id].append(fact)
            self._jobs[fact.holder_id].add(fact.job_id)

    def is_of(self, holder_id: int, job_id: int) -> bool:
        """Whether the key is ever this job's, within the hour."""
        return holder_id in self._jobs and job_id in self._jobs[holder_id]

    def is_of_any(self, holder_id: int, job_ids: Iterable[int]) -> bool:
        """Whether the key is ever one of these jobs'."""
        return holder_id in self._jobs and not self._jobs[holder_id].isdisjoint(job_ids)

    def job_at(self, holder_id: int, start_ms: int, end_ms: int) -> int | None:
        """The job that the key means in a span; a job's first and last minutes count whole."""
        for fact in self._facts.get(holder_id, ()):
            first = fact.start_ms // MINUTE_MS * MINUTE_MS
            last = -(-fact.end_ms // MINUTE_MS) * MINUTE_MS
            if first < end_ms and start_ms < last:
                return fact.job_id
        return None
