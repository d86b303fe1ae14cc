"""Statements of a node's agent about jobs, held against what others told: decision 0228."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.conf import settings

from apps.economics.job_voices import NodeWord, word_of_node
from apps.economics.jobs import JobStatement
from apps.fleet.actions import TrustMatter, raise_trust_incident
from apps.fleet.queries import AgentFact, TrustKind, approved_ceilings, node_names
from apps.workloads.actions.job_rows import Key, stored_events, stored_jobs


class NodeWords:
    """An agent's statements about jobs of these keys, which are locked, one after the other."""

    def __init__(self, agent: AgentFact, keys: Iterable[Key]) -> None:
        self.agent = agent
        self.kept = _stored_statements(keys)
        self.problems: list[str] = []
        self.labels_reported = 0

    def hear(self, key: Key, statement: JobStatement) -> NodeWord:
        """Return what counts of a statement; it is kept in mind for those that follow."""
        own_statement = replace(statement, node=self.agent.node_name)
        earlier = self.kept.setdefault(key, [])
        word = word_of_node(self._with_possible_labels(own_statement, earlier), earlier)
        if word.refusal or word.contradicted:
            problem = word.refusal.format(job=key[1]) or f"reports otherwise of job {key[1]}"
            fields = f" ({', '.join(word.contradicted)})" if word.contradicted else ""
            self.problems.append(f"{problem}{fields}")
        if word.statement is not None and word.statement not in earlier:
            earlier.append(word.statement)
        return word

    def _with_possible_labels(
        self, new_statement: JobStatement, earlier: Iterable[JobStatement]
    ) -> JobStatement:
        """Without labels beyond those that agents may give a job; those given before stay."""
        earlier_labels = {name for statement in earlier for name, _ in statement.labels}
        new = [name for name, _ in new_statement.labels if name not in earlier_labels]
        if len(earlier_labels) + len(new) <= settings.MOST_LABELS_PER_JOB:
            return new_statement
        room = max(0, self.most_labels() - len(earlier_labels))
        if len(new) <= room:
            return new_statement
        self.labels_reported = max(self.labels_reported, len(earlier_labels) + len(new))
        beyond = set(new[room:])
        left = tuple(pair for pair in new_statement.labels if pair[0] not in beyond)
        return replace(new_statement, labels=left)

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


def _stored_statements(keys: Iterable[Key]) -> dict[Key, list[JobStatement]]:
    """All that was told of these raw ids as it came, with the node of the agent that told it."""
    rows = stored_jobs(keys)
    key_of = {row.job.job_id: key for key, job in rows.items() for row in job}
    events = [event for job_events in stored_events(list(key_of)).values() for event in job_events]
    names = node_names({event.agent_node_id for event in events if event.agent_node_id is not None})
    statements_by_key: dict[Key, list[JobStatement]] = {}
    for event in sorted(events, key=lambda one: one.event_id):
        node = names.get(event.agent_node_id or 0, event.statement.node)
        statements_by_key.setdefault(key_of[event.job_id], []).append(
            replace(event.statement, node=node)
        )
    return statements_by_key
