"""What a token may tell of jobs: its own cluster's, and an agent's those of its own node."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_framework.request import Request

from apps.economics.jobs import JobEventIn, JobSource
from apps.fleet.queries import AgentFact, agent_of_token, cluster_of_token, clusters
from apps.workloads import queries
from apps.workloads.api.wire import Fault


@dataclass(frozen=True, slots=True)
class JobTeller:
    """What a token may tell of: the one cluster and the one node it is bound to; None: any."""

    cluster: str | None
    agent: AgentFact | None

    @property
    def agent_node_id(self) -> int | None:
        """The node of the agent that tells; None: it is no agent."""
        return None if self.agent is None else self.agent.node_id

    def faults(self, events: Mapping[int, JobEventIn]) -> dict[int, Fault]:
        """Why it may not tell these, by row; those it may are left out."""
        faults = {row: self._fault_of(event, row) for row, event in events.items()}
        found = {row: fault for row, fault in faults.items() if fault is not None}
        if self.agent is not None:
            fine = {row: event for row, event in events.items() if row not in found}
            found |= _faults_of_others_jobs(fine, self.agent)
        return found

    def _fault_of(self, event: JobEventIn, row: int) -> Fault | None:
        if self.cluster is not None and event.cluster != self.cluster:
            said = f"this token writes cluster {self.cluster}, not {event.cluster}"
            return Fault("cluster", said, row)
        if self.agent is None:
            return None
        if event.statement.source is not JobSource.AGENT:
            return Fault("source", "this token is an agent's: it tells as source 'agent'", row)
        for place, held in enumerate(event.statement.allocations or ()):
            if not self.agent.is_node(held.node):
                said = f"this token is of node {self.agent.node_name}, not {held.node}"
                return Fault(f"allocations[{place}].node", said, row)
        return None


def job_teller(request: Request) -> JobTeller:
    """Who asks, as a teller of jobs."""
    token_id = getattr(request.auth, "id", None)
    if token_id is None:
        return JobTeller(None, None)
    cluster_id = cluster_of_token(token_id)
    cluster = None if cluster_id is None else clusters()[cluster_id].name
    return JobTeller(cluster, agent_of_token(token_id))


def _faults_of_others_jobs(events: Mapping[int, JobEventIn], agent: AgentFact) -> dict[int, Fault]:
    """Events that place nothing on the agent's node and are of a job that is not there either.

    What the same bulk places there counts.
    """
    names = {row: (event.cluster, event.raw_id) for row, event in events.items()}
    placed = {names[row] for row, event in events.items() if event.statement.allocations}
    told = queries.told_so_far(set(names.values()) - placed, agent.node_id)
    others = {name for name, so_far in told.items() if not _may_tell(so_far, agent)}
    said = f"this token is of node {agent.node_name}, and nothing places job"
    return {
        row: Fault("raw_id", f"{said} {name[1]} there", row)
        for row, name in names.items()
        if name in others
    }


def _may_tell(so_far: queries.ToldSoFar, agent: AgentFact) -> bool:
    if so_far.is_placed or any(agent.is_node(name) for name in so_far.node_names):
        return True
    # A job without GPUs is told without a node, its end as its start: by the same node's agent.
    is_its_own = not so_far.agent_node_ids or agent.node_id in so_far.agent_node_ids
    return so_far.is_of_agents_alone and not so_far.node_names and is_its_own
