"""What a node's agent tells of jobs, held against what others told: decision 0228."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.conf import settings

from apps.economics.job_voices import NodeWord, word_of_node
from apps.economics.jobs import JobStatement
from apps.fleet.actions import TrustMatter, raise_trust_incident
from apps.fleet.queries import AgentFact, TrustKind, approved_ceilings, node_names
from apps.workloads.actions.job_rows import Key, kept_events, kept_jobs


class NodeWords:
    """An agent's statements about jobs of these keys, which are locked, one after the other."""

    def __init__(self, agent: AgentFact, keys: Iterable[Key]) -> None:
        self.agent = agent
        self.kept = _kept_statements(keys)
        self.problems: list[str] = []
        self.labels_reported = 0

    def hear(self, key: Key, statement: JobStatement) -> NodeWord:
        """Return what counts of a statement; it is kept in mind for those that follow."""
        own = replace(statement, node=self.agent.node_name)
        kept = self.kept.setdefault(key, [])
        word = word_of_node(self._with_possible_labels(own, kept), kept)
        if word.refusal or word.contradicted:
            said = word.refusal.format(job=key[1]) or f"reports otherwise of job {key[1]}"
            fields = f" ({', '.join(word.contradicted)})" if word.contradicted else ""
            self.problems.append(f"{said}{fields}")
        if word.statement is not None and word.statement not in kept:
            kept.append(word.statement)
        return word

    def _with_possible_labels(
        self, told: JobStatement, kept: Iterable[JobStatement]
    ) -> JobStatement:
        """Without labels beyond those that agents may give a job; those given before stay."""
        given = {name for each in kept for name, _ in each.labels}
        new = [name for name, _ in told.labels if name not in given]
        if len(given) + len(new) <= settings.MOST_LABELS_PER_JOB:
            return told
        room = max(0, self.most_labels() - len(given))
        if len(new) <= room:
            return told
        self.labels_reported = max(self.labels_reported, len(given) + len(new))
        beyond = set(new[room:])
        left = tuple(pair for pair in told.labels if pair[0] not in beyond)
        return replace(told, labels=left)

    def most_labels(self) -> int:
        """As many as settings say, or a person approved."""
        approved = approved_ceilings(self.agent.node_id).get(TrustKind.LABELS, 0)
        return max(int(settings.MOST_LABELS_PER_JOB), approved)

    def note_problems(self, at: datetime) -> None:
        """Count what was refused or left out, as a problem of the node that told it."""
        if self.labels_reported:
            matter = TrustMatter(
                TrustKind.LABELS,
                "labels of a job wait",
                node_id=self.agent.node_id,
                ceiling=self.most_labels(),
                reported=self.labels_reported,
            )
            raise_trust_incident(matter=matter, at=at)
        if self.problems:
            raise_trust_incident(
                matter=TrustMatter(
                    TrustKind.JOB,
                    self.problems[-1],
                    node_id=self.agent.node_id,
                    count=len(self.problems),
                ),
                at=at,
            )


def _kept_statements(keys: Iterable[Key]) -> dict[Key, list[JobStatement]]:
    """All that was told of these raw ids as it came, with the node of the agent that told it."""
    rows = kept_jobs(keys)
    key_of = {row.job.job_id: key for key, found in rows.items() for row in found}
    events = [event for found in kept_events(list(key_of)).values() for event in found]
    names = node_names({event.agent_node_id for event in events if event.agent_node_id is not None})
    kept: dict[Key, list[JobStatement]] = {}
    for event in sorted(events, key=lambda one: one.event_id):
        node = names.get(event.agent_node_id or 0, event.statement.node)
        kept.setdefault(key_of[event.job_id], []).append(replace(event.statement, node=node))
    return kept
