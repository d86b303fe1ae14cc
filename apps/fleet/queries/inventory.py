"""Clusters, pools, nodes and devices as facts of a span of time."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from django.db import connection
from django.db.models import F, Min, Q, Value
from django.db.models.functions import Greatest, Least, NullIf

from apps.accounts.queries.facts import columns_of, fact_of, facts_of, field_names
from apps.accounts.queries.reading import once
from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.fleet.models import (
    Agent,
    CapacityUnit,
    Cluster,
    Device,
    Node,
    NodeCapacity,
    Outage,
    Pool,
    SharePolicy,
)
from apps.fleet.queries.pool_facts import PoolFact

# Asked with every batch that names new GPUs, where making SQL of a queryset costs more than the answer.
LIVING_DEVICES = """
SELECT id FROM fleet_device WHERE id = ANY(%s) AND upper(period) IS NULL AND NOT isempty(period)
"""


@dataclass(frozen=True, slots=True)
class ClusterFact:
    """One scheduler's domain."""

    id: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class CapacitySpan:
    """How many units a node has in `[starts_at, ends_at)`."""

    starts_at: datetime
    ends_at: datetime
    units: int


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A node for as long as it lived inside the span asked for; `units` are those at the end."""

    id: int
    name: str
    pool_id: int
    kind: str
    lived_from: datetime
    lived_to: datetime
    units: int
    capacity_spans: tuple[CapacitySpan, ...]


@dataclass(frozen=True, slots=True)
class BillableNode:
    """A node by all its names, with its life; `ends_at` is None while it lives."""

    id: int
    name: str
    provider_id: str
    pool_id: int
    provider: str
    instance_type: str
    cluster_id: int | None
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """A GPU or MIG slice, and how large it is."""

    uuid: str
    model: str = ""
    kind: str = "gpu"
    compute_slices: int | None = None
    memory_slices: int | None = None
    replicas: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedDevice(DeviceTraits):
    """A device as its agent lists it."""

    index: int | None = None
    profile: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFact(DeviceTraits):
    """A GPU or MIG slice for as long as it lived inside the span asked for."""

    id: int
    node_id: int
    parent_id: int | None
    lived_from: datetime
    lived_to: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDevice(DescribedDevice):
    """A living device as an agent would describe it; `parent` is a slice's GPU by UUID."""

    id: int
    parent: str | None
    began_at: datetime


@dataclass(frozen=True, slots=True)
class OutageFact:
    """When a node, or one device of it, could not be used, inside the span asked for."""

    node_id: int
    device_id: int | None
    kind: str
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class PolicyFact:
    """How slices count in a pool, and what a core counts against a GPU (0: nothing)."""

    version: int
    rule: str
    cores_per_node: int = 0
    core_weight: Fraction = Fraction(0)


@once
def clusters() -> dict[int, ClusterFact]:
    """Every cluster by id."""
    rows = Cluster.objects.order_by("id").values_list("id", "name", "kind")
    return {row[0]: ClusterFact(*row) for row in rows}


@once
def pools() -> dict[int, PoolFact]:
    """Every pool by id."""
    return {pool.id: pool for pool in facts_of(PoolFact, Pool.objects.order_by("id"))}


def pools_by_name() -> list[PoolFact]:
    """Every pool in the order of their names, as lists and choices name them."""
    return sorted(pools().values(), key=lambda pool: (pool.name.casefold(), pool.id))


def core_pool_ids() -> list[int]:
    """The pools measured in cores, whose time is no GPU time."""
    return list(Pool.objects.filter(unit=CapacityUnit.CORE).values_list("id", flat=True))


def nodes_alive_between(
    starts_at: datetime, ends_at: datetime, node_ids: Collection[int] | None = None
) -> list[NodeFact]:
    """The nodes that lived in `[starts_at, ends_at)` (None: all), by id."""
    nodes = Node.objects.filter(period__overlap=(starts_at, ends_at))
    if node_ids is not None:
        nodes = nodes.filter(id__in=node_ids)
    clipped = nodes.annotate(begins=_begins_later(starts_at), ends=_ends_sooner(ends_at))
    rows = clipped.order_by("id").values_list("id", "name", "pool_id", "kind", "begins", "ends")
    spans = _capacities_by_node(starts_at, ends_at, node_ids)
    return [
        _with_spans(
            NodeFact(id_, name, pool_id, kind, begins or starts_at, ends or ends_at, 0, ()),
            spans.get(id_, ()),
        )
        for id_, name, pool_id, kind, begins, ends in rows
    ]


def nodes_alive_by_hour(hours: Collection[datetime]) -> dict[datetime, list[NodeFact]]:
    """The nodes that lived in each of these hours, as `nodes_alive_between` answers it, in two statements."""
    if not hours:
        return {}
    nodes = nodes_alive_between(min(hours), max(hours) + HOUR)
    return {hour: list(_nodes_within(nodes, hour, hour + HOUR)) for hour in hours}


def _nodes_within(
    nodes: Iterable[NodeFact], starts_at: datetime, ends_at: datetime
) -> Iterator[NodeFact]:
    """Of nodes of a longer span those that lived in this one, as long as they did in it."""
    for node in nodes:
        begins, ends = max(node.lived_from, starts_at), min(node.lived_to, ends_at)
        if begins < ends:
            yield _with_spans(replace(node, lived_from=begins, lived_to=ends), node.capacity_spans)


def pools_with_nodes() -> frozenset[int]:
    """Pools that have a node on record, whenever it lived."""
    nodes = Node.objects.exclude(period__isempty=True)
    return frozenset(nodes.values_list("pool_id", flat=True).distinct())


def nodes_without_end(pool_id: int, at: datetime) -> list[int]:
    """The nodes of a pool that began before `at` and that nothing has ended, by id."""
    nodes = Node.objects.filter(
        pool_id=pool_id, period__startswith__lt=at, period__endswith=None, period__isempty=False
    )
    return list(nodes.order_by("id").values_list("id", flat=True))


def billable_nodes(starts_at: datetime, ends_at: datetime) -> list[BillableNode]:
    """The nodes that lived in `[starts_at, ends_at)`, by id, as a provider's bill may name them."""
    nodes = Node.objects.filter(period__overlap=(starts_at, ends_at)).order_by("id")
    columns = (
        *("id", "name", "provider_id", "pool_id", "pool__provider", "pool__instance_type"),
        *("cluster_id", "period__startswith", "period__endswith"),
    )
    return [BillableNode(*row) for row in nodes.values_list(*columns)]


def namesakes(node_ids: Collection[int]) -> dict[int, tuple[int | None, str]]:
    """The cluster and the name of each of these nodes, living or not."""
    rows = Node.objects.filter(id__in=node_ids).values_list("id", "cluster_id", "name")
    return {node_id: (cluster_id, name) for node_id, cluster_id, name in rows}


@once
def first_node_started_at() -> datetime | None:
    """When the first node began to live; before that nothing can be charged."""
    first: datetime | None = Node.objects.aggregate(first=Min("period__startswith"))["first"]
    return first


def node_lifetime_spans(
    pool_ids: Collection[int] | None = None,
) -> list[tuple[datetime, datetime | None]]:
    """The spans, in order and apart, in which any node (of these pools) lived; one that still does has no end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lower(span), upper(span) FROM unnest(("
            "SELECT range_agg(period) FROM fleet_node WHERE %(pools)s IS NULL"
            " OR pool_id = ANY(%(pools)s::int8[]))) AS span ORDER BY span",
            {"pools": None if pool_ids is None else list(pool_ids)},
        )
        return list(cursor.fetchall())


OF_DEVICES = [name for name in field_names(DeviceFact) if name not in ("lived_from", "lived_to")]


def devices_alive_between(
    node_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[DeviceFact]:
    """The devices of these nodes that lived in `[starts_at, ends_at)`, by node, then id."""
    devices = Device.objects.filter(node_id__in=node_ids, period__overlap=(starts_at, ends_at))
    rows = devices.annotate(begins=_begins_later(starts_at), ends=_ends_sooner(ends_at)).order_by(
        "node_id", "id"
    )
    return [
        DeviceFact(
            **dict(zip(OF_DEVICES, fields, strict=True)),
            lived_from=begins or starts_at,
            lived_to=ends or ends_at,
        )
        for *fields, begins, ends in rows.values_list(*OF_DEVICES, "begins", "ends")
    ]


def devices_not_ended(device_ids: Collection[int]) -> set[int]:
    """Those of these devices whose life has no end yet."""
    with connection.cursor() as cursor:
        cursor.execute(LIVING_DEVICES, [list(device_ids)])
        return {device_id for (device_id,) in cursor.fetchall()}


def devices_by_agent(limit: int) -> dict[int, list[AgentDevice]]:
    """The living devices of each agent's node, by agent; of the newest `limit` devices."""
    devices = Device.objects.filter(period__endswith=None, period__isempty=False)
    own_names = {"parent": "parent__uuid", "began_at": "period__startswith"}
    of_node: dict[int, list[AgentDevice]] = {}
    columns = ("node_id", *columns_of(AgentDevice, **own_names))
    for row in devices.order_by("-id").values(*columns)[:limit]:
        of_node.setdefault(row["node_id"], []).append(fact_of(AgentDevice, row, **own_names))
    agents = Agent.objects.filter(node_id__in=of_node).values_list("id", "node_id")
    return {agent_id: of_node[node_id] for agent_id, node_id in agents}


def outages(node_ids: Collection[int], starts_at: datetime, ends_at: datetime) -> list[OutageFact]:
    """The outages of these nodes in `[starts_at, ends_at)`; they may overlap."""
    overlapping = Outage.objects.filter(node_id__in=node_ids, period__overlap=(starts_at, ends_at))
    spans = overlapping.annotate(begins=_begins_later(starts_at), ends=_ends_sooner(ends_at))
    columns = ("node_id", "device_id", "kind", "begins", "ends")
    rows = spans.order_by("node_id", "period", "id").values_list(*columns)
    return [
        OutageFact(node, device, kind, begins or starts_at, ends or ends_at)
        for node, device, kind, begins, ends in rows
    ]


def share_policies(pool_ids: Collection[int], at: datetime) -> dict[int, PolicyFact]:
    """The policy in force at `at`, by pool."""
    rows = SharePolicy.objects.filter(pool_id__in=pool_ids, period__contains=at)
    return {
        pool_id: PolicyFact(version, rule, cores, Fraction(weight))
        for pool_id, version, rule, cores, weight in rows.values_list(
            "pool_id", "version", "rule", "cores_per_node", "core_weight"
        )
    }


def nodes_named(
    cluster_id: int | None, names: Collection[str]
) -> dict[str, list[tuple[int, datetime, datetime | None]]]:
    """Who bore each name in this cluster: (node, from, to; None: still lives), in order of time."""
    bearers: dict[str, list[tuple[int, datetime, datetime | None]]] = {}
    of_cluster = Q(cluster=None) if cluster_id is None else Q(cluster_id=cluster_id)
    rows = Node.objects.filter(of_cluster, name__in=names, period__isempty=False)
    for name, node_id, began_at, ended_at in rows.order_by("name", "period").values_list(
        "name", "id", "period__startswith", "period__endswith"
    ):
        bearers.setdefault(name, []).append((node_id, began_at, ended_at))
    return bearers


def node_names(node_ids: Collection[int]) -> dict[int, str]:
    """Names by id."""
    return dict(Node.objects.filter(id__in=node_ids).values_list("id", "name"))


def node_ids_named(names: Collection[str]) -> dict[str, list[int]]:
    """Every node that ever bore each of these names, whatever its cluster."""
    ids_by_name: dict[str, list[int]] = {}
    rows = Node.objects.filter(name__in=names).order_by("id").values_list("name", "id")
    for name, node_id in rows:
        ids_by_name.setdefault(name, []).append(node_id)
    return ids_by_name


def nodes_owned(node_ids: Collection[int]) -> set[int]:
    """Those of these nodes whose pool is hardware of one's own."""
    owned = Node.objects.filter(id__in=node_ids, pool__purchase_option=PurchaseOption.OWNED)
    return set(owned.values_list("id", flat=True))


def _begins_later(starts_at: datetime) -> NullIf:
    # Most periods cover the whole hour. A null costs nothing to read, a time of day as much as a
    # whole row of integers: of 10,000 devices that is a fifth of a second.
    return NullIf(Greatest(F("period__startswith"), Value(starts_at)), Value(starts_at))


def _ends_sooner(ends_at: datetime) -> NullIf:
    # Postgres' least() leaves out nulls, so a period without an end ends with the span.
    return NullIf(Least(F("period__endswith"), Value(ends_at)), Value(ends_at))


def _capacities_by_node(
    starts_at: datetime, ends_at: datetime, node_ids: Collection[int] | None
) -> dict[int, list[CapacitySpan]]:
    capacities = NodeCapacity.objects.filter(period__overlap=(starts_at, ends_at))
    if node_ids is not None:
        capacities = capacities.filter(node_id__in=node_ids)
    rows = capacities.annotate(
        begins=_begins_later(starts_at), ends=_ends_sooner(ends_at)
    ).order_by("node_id", "period")
    spans: dict[int, list[CapacitySpan]] = {}
    for node_id, begins, ends, units in rows.values_list("node_id", "begins", "ends", "units"):
        span = CapacitySpan(begins or starts_at, ends or ends_at, units)
        spans.setdefault(node_id, []).append(span)
    return spans


def _with_spans(node: NodeFact, spans: Iterable[CapacitySpan]) -> NodeFact:
    begins, ends = node.lived_from, node.lived_to
    clipped = tuple(
        CapacitySpan(max(span.starts_at, begins), min(span.ends_at, ends), span.units)
        for span in spans
        if span.starts_at < ends and span.ends_at > begins
    )
    return replace(node, units=clipped[-1].units if clipped else 0, capacity_spans=clipped)
