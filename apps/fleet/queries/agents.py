"""Who reports for which node, and who has gone quiet."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max
from django.db.models.functions import Coalesce

from apps.economics.machines import is_same_machine
from apps.fleet.models import Agent, CapacityUnit, ClusterToken, Node
from apps.fleet.queries.node_status import SILENT_AFTER


@dataclass(frozen=True, slots=True)
class AgentFact:
    """The agent a token belongs to; it may write only `node_id`."""

    agent_id: int
    node_id: int
    source: str
    node_name: str
    cluster_id: int | None = None

    def is_node(self, name: str) -> bool:
        """Whether a machine of this name is its node; one of the two may leave its domain out."""
        return is_same_machine(name, self.node_name)


AGENT_COLUMNS = ("id", "node_id", "source", "node__name", "node__cluster_id")


@dataclass(frozen=True, slots=True)
class SilentAgentNode:
    """A node that lives and is charged, but whose agents have not been heard of."""

    node_id: int
    node_name: str
    pool_id: int
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class AgentlessNode:
    """A machine that nothing reports for; `cluster` None: of no scheduler."""

    id: int
    name: str
    cluster: str | None
    pool: str


def agent_of_token(token_id: int) -> AgentFact | None:
    """The agent that comes with this token; None for a token of anything else."""
    row = Agent.objects.filter(token_id=token_id).values_list(*AGENT_COLUMNS).first()
    return None if row is None else AgentFact(*row)


def agents_by_token(token_ids: Collection[int] | None = None) -> dict[int, AgentFact]:
    """Every agent, or those that come with these tokens, by the id of its token."""
    wanted_agents = (
        Agent.objects.all() if token_ids is None else Agent.objects.filter(token_id__in=token_ids)
    )
    rows = wanted_agents.values_list("token_id", *AGENT_COLUMNS)
    return {token_id: AgentFact(*agent) for token_id, *agent in rows}


def cluster_of_token(token_id: int) -> int | None:
    """The one cluster this job token may write; None where it is bound to none."""
    bound = ClusterToken.objects.filter(token_id=token_id)
    return bound.values_list("cluster_id", flat=True).first()


def agentless_nodes(at: datetime, limit: int) -> list[AgentlessNode]:
    """Living machines with GPUs that no agent was let in for, by name, then id.

    In a pool of cores there is nothing that an agent would measure.
    """
    rows = Node.objects.filter(period__contains=at, kind="machine", agents=None).exclude(
        pool__unit=CapacityUnit.CORE
    )
    named = rows.order_by("name", "id").values_list("id", "name", "cluster__name", "pool__name")
    return [AgentlessNode(*row) for row in named[:limit]]


def count_live_machines(at: datetime) -> int:
    """How many machines live at `at`."""
    return Node.objects.filter(period__contains=at, kind="machine").count()


def agents() -> dict[int, AgentFact]:
    """Every agent by id."""
    rows = Agent.objects.order_by("id").values_list(*AGENT_COLUMNS)
    return {row[0]: AgentFact(*row) for row in rows}


def silent_agents(at: datetime) -> list[SilentAgentNode]:
    """Nodes that live at `at` and whose last word, or enrolment, is at least six hours ago."""
    heard = (
        Agent.objects.filter(node__period__contains=at)
        .values("node_id", "node__name", "node__pool_id")
        .annotate(heard_at=Max(Coalesce("last_seen_at", "enrolled_at")))
        .filter(heard_at__lte=at - SILENT_AFTER)
        .order_by("node__name", "node_id")
    )
    return [
        SilentAgentNode(row["node_id"], row["node__name"], row["node__pool_id"], row["heard_at"])
        for row in heard
    ]


@dataclass(frozen=True, slots=True)
class AgentsHeard:
    """How many agents are on record, how many were ever heard, and when the last one was."""

    agents: int
    heard: int
    last_seen_at: datetime | None


def agents_heard() -> AgentsHeard:
    """Return the activity of all agents, in one row."""
    sums = Agent.objects.aggregate(
        agents=Count("id"), heard=Count("last_seen_at"), last=Max("last_seen_at")
    )
    return AgentsHeard(sums["agents"], sums["heard"], sums["last"])
