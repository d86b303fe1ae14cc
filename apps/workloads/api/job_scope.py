"""The jobs that a token may tell of: its own cluster's, and an agent's those of its own node."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_framework.request import Request

from apps.economics.jobs import JobEventIn, JobSource
from apps.fleet.queries import AgentFact, agent_of_token, cluster_of_token, clusters
from apps.workloads.api.wire import Fault


@dataclass(frozen=True, slots=True)
class JobTeller:
    """The reach of a token that tells of jobs: the one cluster and the one node it is bound to; None: any."""

    cluster: str | None
    agent: AgentFact | None

    def faults(self, events: Mapping[int, JobEventIn]) -> dict[int, Fault]:
        """Why it may not tell these, by row; those it may are left out.

        What an agent says of a job that others told of is judged as it is recorded.
        """
        faults = {row: self._fault_of(event, row) for row, event in events.items()}
        return {row: fault for row, fault in faults.items() if fault is not None}

    def refusal(self, event: JobEventIn, reason: str, row: int | None = None) -> Fault:
        """Why an agent's word about a job was not kept."""
        node = "" if self.agent is None else self.agent.node_name
        message = f"this token is of node {node}, and {reason.format(job=event.raw_id)}"
        return Fault("raw_id", message, row)

    def _fault_of(self, event: JobEventIn, row: int) -> Fault | None:
        if self.cluster is not None and event.cluster != self.cluster:
            message = f"this token writes cluster {self.cluster}, not {event.cluster}"
            return Fault("cluster", message, row)
        if self.agent is None:
            return None
        if event.statement.source is not JobSource.AGENT:
            return Fault("source", "this token is an agent's: it tells as source 'agent'", row)
        for place, allocation in enumerate(event.statement.allocations or ()):
            if not self.agent.is_node(allocation.node):
                message = f"this token is of node {self.agent.node_name}, not {allocation.node}"
                return Fault(f"allocations[{place}].node", message, row)
        return None


def job_teller(request: Request) -> JobTeller:
    """Who asks, as a teller of jobs."""
    token_id = getattr(request.auth, "id", None)
    if token_id is None:
        return JobTeller(None, None)
    agent, cluster_id = agent_of_token(token_id), cluster_of_token(token_id)
    if cluster_id is None and agent is not None:
        cluster_id = agent.cluster_id
    return JobTeller(None if cluster_id is None else clusters()[cluster_id].name, agent)
