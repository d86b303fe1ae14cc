"""What a node's agent tells of jobs, held against what others told: decision 0228."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from apps.economics.job_voices import NodeWord, word_of_node
from apps.economics.jobs import JobStatement
from apps.fleet.actions import TrustMatter, raise_trust_incident
from apps.fleet.queries import AgentFact, TrustKind, node_names
from apps.workloads.actions.job_rows import Key, kept_events, kept_jobs


class NodeWords:
    """An agent's statements about jobs of these keys, which are locked, one after the other."""

    def __init__(self, agent: AgentFact, keys: Iterable[Key]) -> None:
        self.agent = agent
        self.kept = _kept_statements(keys)
        self.problems: list[str] = []

    def hear(self, key: Key, statement: JobStatement) -> NodeWord:
        """Return what counts of a statement; it is kept in mind for those that follow."""
        own = replace(statement, node=self.agent.node_name)
        kept = self.kept.setdefault(key, [])
        word = word_of_node(own, kept)
        if word.refusal or word.contradicted:
            said = word.refusal.format(job=key[1]) or f"reports otherwise of job {key[1]}"
            fields = f" ({', '.join(word.contradicted)})" if word.contradicted else ""
            self.problems.append(f"{said}{fields}")
        if word.statement is not None and word.statement not in kept:
            kept.append(word.statement)
        return word

    def note_problems(self, at: datetime) -> None:
        """Count what was refused or left out, as a problem of the node that told it."""
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
