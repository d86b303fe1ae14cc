"""Reports of agents on themselves and their nodes, and where they differ from what is on record."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.accounts.queries.facts import field_names
from apps.economics.machine_ids import machine_keys
from apps.fleet.models import Agent, Device

DISAGREEMENTS = """
SELECT DISTINCT node.id, node.name, pool.id, pool.name, said.field, said.told, said.recorded
FROM fleet_agentstatus AS status
JOIN fleet_agent AS agent ON agent.id = status.agent_id
JOIN fleet_node AS node ON node.id = agent.node_id
JOIN fleet_pool AS pool ON pool.id = node.pool_id,
LATERAL (VALUES
    ('purchase_option', status.purchase_option, pool.purchase_option),
    ('instance_type', status.instance_type, pool.instance_type),
    ('region', status.region, pool.region),
    ('provider_id', status.provider_id, node.provider_id)
) AS said (field, told, recorded)
WHERE said.told <> '' AND said.recorded <> '' AND said.told <> said.recorded
  AND upper(node.period) IS NULL
ORDER BY node.name, node.id, said.field
"""


@dataclass(frozen=True, slots=True)
class AgentCondition:
    """How an agent says it is; None and "" are not told."""

    state: str = ""
    expected_gpus: int | None = None
    seen_gpus: int | None = None
    missing: tuple[str, ...] = ()
    spool_batches: int | None = None
    spool_bytes: int | None = None
    spool_oldest_at: datetime | None = None
    dropped_windows: int | None = None
    cpu_seconds: float | None = None
    pss_bytes: int | None = None
    calls_per_second: float | None = None
    driver: str = ""


COLUMN_OF_FIELD = {
    "agent_id": "id",
    "node_id": "node_id",
    "node_name": "node__name",
    "source": "source",
    "version": "version",
    "last_seen_at": "last_seen_at",
    **{name: f"status__{name}" for name in (*field_names(AgentCondition), "at", "problems")},
    "enrolled_at": "enrolled_at",
    "clock_offset_ms": "clock_offset_ms",
    "boot": "status__boot",
    "node_ended_at": "node__period__endswith",
}
"""Each field of an agent's state, and where it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState(AgentCondition):
    """How an agent is, by its own last word; `state` is "" and `at` None before its first report.

    `last_seen_at` is when it last spoke at all. None is what it never told. `boot` is when it was
    started, in milliseconds since 1970; `clock_offset_ms` the server's clock less its own.
    """

    agent_id: int
    node_id: int
    node_name: str
    source: str
    version: str
    last_seen_at: datetime | None
    at: datetime | None
    problems: tuple[tuple[str, str], ...]
    enrolled_at: datetime
    clock_offset_ms: int
    boot: int | None
    node_ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A difference between what an agent says of its node and what is on record, by which it is priced."""

    node_id: int
    node_name: str
    pool_id: int
    pool_name: str
    field: str
    told: str
    recorded: str


@dataclass(frozen=True, slots=True)
class Life:
    """A device under its UUID, from when."""

    id: int
    uuid: str
    began_at: datetime


def agent_states(node_ids: Collection[int] | None = None) -> list[AgentState]:
    """Every agent (of these nodes), by node name, then id."""
    agents = Agent.objects.all() if node_ids is None else Agent.objects.filter(node_id__in=node_ids)
    rows = agents.order_by("node__name", "id").values_list(*COLUMN_OF_FIELD.values())
    return [_agent_state(row) for row in rows]


def disagreements() -> list[Disagreement]:
    """By node and field; what either side leaves open is no disagreement."""
    with connection.cursor() as cursor:
        cursor.execute(DISAGREEMENTS)
        rows = [Disagreement(*row) for row in cursor.fetchall()]
    return [disagreement for disagreement in rows if not _is_one_machine(disagreement)]


def _is_one_machine(disagreement: Disagreement) -> bool:
    """Whether only the spelling of the machine's id differs."""
    if disagreement.field != "provider_id":
        return False
    return not set(machine_keys(disagreement.told)).isdisjoint(machine_keys(disagreement.recorded))


def lifetimes_on_node(node_id: int, uuids: Collection[str]) -> list[Life]:
    """Every life of these devices on this node, the earliest first."""
    rows = Device.objects.filter(node_id=node_id, uuid__in=uuids, period__isempty=False)
    columns = ("id", "uuid", "period__startswith")
    return [Life(*row) for row in rows.order_by("period", "id").values_list(*columns)]


def _agent_state(row: tuple[Any, ...]) -> AgentState:
    fields = dict(zip(COLUMN_OF_FIELD, row, strict=True))
    fields["state"], fields["driver"] = fields["state"] or "", fields["driver"] or ""
    fields["missing"] = tuple(fields["missing"] or ())
    fields["problems"] = tuple(
        (problem["code"], problem["detail"]) for problem in fields["problems"] or ()
    )
    return AgentState(**fields)
