"""The inventory as lists and single things, for whoever asks over the wire."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeAlias

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.fleet.models import (
    Agent,
    Cluster,
    Device,
    Node,
    NodeCapacity,
    Outage,
    Pool,
    SharePolicy,
)
from apps.fleet.queries.histories import CapacityStep
from apps.show.entries import Entry


@dataclass(frozen=True, slots=True)
class NodesWanted:
    """The nodes that are asked for; None: any. `alive_at` is a moment at which they lived."""

    pool: Annotated[str | None, Entry(help="the name of a pool")] = None
    cluster: Annotated[str | None, Entry(help="the name of a cluster")] = None
    name: str | None = None
    alive_at: Annotated[datetime | None, Entry(help="only nodes that lived at this moment")] = None


@dataclass(frozen=True, slots=True)
class DevicesWanted:
    """The devices that are asked for; None: any."""

    node_id: int | None = None
    uuid: str | None = None
    is_confirmed: bool | None = None
    alive_at: Annotated[datetime | None, Entry(help="only devices that lived at this moment")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class OutagesWanted:
    """The outages that are asked for; None: any. `during` is a moment at which they lasted."""

    node_id: int | None = None
    during: Annotated[datetime | None, Entry(help="only outages that lasted at this moment")] = None


def cluster_page(page_request: PageRequest) -> Page[dict[str, Any]]:
    """Clusters by name."""
    return page_of(Cluster.objects.values(*CLUSTER), page_request, "name")


def cluster_row(cluster_id: int) -> dict[str, Any]:
    """One cluster; refuses Cluster.DoesNotExist."""
    return _one_row(Cluster.objects.values(*CLUSTER), cluster_id)


def cluster_named(name: str) -> int | None:
    """The cluster of this name."""
    return Cluster.objects.filter(name=name).values_list("id", flat=True).first()


def pool_page(page_request: PageRequest, cluster: str | None = None) -> Page[dict[str, Any]]:
    """Pools by name (of one cluster)."""
    rows = _pool_rows() if cluster is None else _pool_rows().filter(cluster__name=cluster)
    return page_of(rows, page_request, "name")


def pool_row(pool_id: int) -> dict[str, Any]:
    """One pool; refuses Pool.DoesNotExist."""
    return _one_row(_pool_rows(), pool_id)


def pool_named(name: str) -> int | None:
    """The pool of this name."""
    return Pool.objects.filter(name=name).values_list("id", flat=True).first()


def node_page(wanted: NodesWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Nodes by name, then id."""
    chosen = {
        "pool__name": wanted.pool,
        "cluster__name": wanted.cluster,
        "name": wanted.name,
        "period__contains": wanted.alive_at,
    }
    return page_of(_node_rows().filter(equality_conditions(chosen)), page_request, "name", "id")


def node_row(node_id: int) -> dict[str, Any]:
    """One node; refuses Node.DoesNotExist."""
    return _one_row(_node_rows(), node_id)


def node_if_on_record(node_id: int) -> dict[str, Any] | None:
    """One node, with `capacities`, its CapacitySteps, the newest first; None: none of this id."""
    steps = NodeCapacity.objects.filter(node_id=OuterRef("id"), period__isempty=False)
    in_order = steps.order_by("-period", "id")
    row: dict[str, Any] | None = (
        _node_rows()
        .filter(id=node_id)
        .annotate(
            step_units=ArraySubquery(in_order.values("units")),
            step_periods=ArraySubquery(in_order.values("period")),
        )
        .values(*NODE, "step_units", "step_periods")
        .first()
    )
    if row is None:
        return None
    capacity_steps = zip(row.pop("step_units"), row.pop("step_periods"), strict=True)
    return row | {
        "capacities": [
            CapacityStep(units, span.lower, span.upper) for units, span in capacity_steps
        ]
    }


def node_begun(cluster_id: int | None, name: str, started_at: datetime) -> int | None:
    """The node of this name in this cluster that began at this very moment."""
    of_cluster = Q(cluster=None) if cluster_id is None else Q(cluster_id=cluster_id)
    begun = Node.objects.filter(of_cluster, name=name, period__startswith=started_at)
    return begun.values_list("id", flat=True).first()


def device_page(wanted: DevicesWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Devices by id."""
    chosen = {
        "node_id": wanted.node_id,
        "uuid": wanted.uuid,
        "confirmed_at__isnull": None if wanted.is_confirmed is None else not wanted.is_confirmed,
        "period__contains": wanted.alive_at,
    }
    return page_of(_device_rows().filter(equality_conditions(chosen)), page_request, "id")


def device_row(device_id: int) -> dict[str, Any]:
    """One device; refuses Device.DoesNotExist."""
    return _one_row(_device_rows(), device_id)


def agent_page(node_id: int | None, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Agents by id (of one node)."""
    return page_of(
        _agent_rows().filter(equality_conditions({"node_id": node_id})), page_request, "id"
    )


def agent_row(agent_id: int) -> dict[str, Any]:
    """One agent; refuses Agent.DoesNotExist."""
    return _one_row(_agent_rows(), agent_id)


def outage_page(wanted: OutagesWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Outages by id, the newest first."""
    chosen = {"node_id": wanted.node_id, "period__contains": wanted.during}
    return page_of(_outage_rows().filter(equality_conditions(chosen)), page_request, "-id")


def outage_row(outage_id: int) -> dict[str, Any]:
    """One outage; refuses Outage.DoesNotExist."""
    return _one_row(_outage_rows(), outage_id)


def outage_recorded(
    node_id: int,
    device_id: int | None,
    kind: str,
    starts_at: datetime,
    ends_at: datetime | None,
) -> int | None:
    """The outage that says exactly this."""
    of_device = Q(device=None) if device_id is None else Q(device_id=device_id)
    # By its ends: an end before the start is no range that could be asked for.
    lasted = Q(period__startswith=starts_at, period__endswith=ends_at)
    same = Outage.objects.filter(of_device, lasted, node_id=node_id, kind=kind)
    return same.order_by("id").values_list("id", flat=True).first()


Rows: TypeAlias = "QuerySet[Any, Any]"
CLUSTER = ("id", "name", "kind", "created_at")
LIFE = {"started_at": F("period__startswith"), "ended_at": F("period__endswith")}


def _one_row(rows: Rows, id_: int) -> dict[str, Any]:
    row: dict[str, Any] = rows.get(id=id_)
    return row


def _pool_rows() -> Rows:
    policies = SharePolicy.objects.filter(pool_id=OuterRef("id")).order_by("-version")
    rows: Rows = Pool.objects.annotate(
        cluster_name=F("cluster__name"),
        share_policy_version=Subquery(policies.values("version")[:1]),
        share_rule=Subquery(policies.values("rule")[:1]),
        cores_per_node=Subquery(policies.values("cores_per_node")[:1]),
        core_weight=Subquery(policies.values("core_weight")[:1]),
    ).values(
        *("id", "name", "cluster_id", "cluster_name", "provider", "region", "instance_type"),
        *("gpu_model", "gpus_per_node", "unit", "purchase_option", "owner_team_id"),
        *("idle_sharing", "share_policy_version", "share_rule", "created_at"),
        *("cores_per_node", "core_weight"),
    )
    return rows


NODE = (
    *("id", "name", "cluster_id", "cluster_name", "pool_id", "pool_name", "kind"),
    *("provider_id", "units", "unit", "started_at", "ended_at", "end_reason", "last_seen_at"),
)


def _node_rows() -> Rows:
    capacities = NodeCapacity.objects.filter(node_id=OuterRef("id"), period__isempty=False)
    heard = Agent.objects.filter(node_id=OuterRef("id"), last_seen_at__isnull=False).order_by(
        "-last_seen_at"
    )
    rows: Rows = (
        Node.objects.filter(period__isempty=False)
        .annotate(
            cluster_name=F("cluster__name"),
            pool_name=F("pool__name"),
            units=Subquery(capacities.order_by("-period").values("units")[:1]),
            unit=F("pool__unit"),
            last_seen_at=Subquery(heard.values("last_seen_at")[:1]),
            **LIFE,
        )
        .values(*NODE)
    )
    return rows


def _device_rows() -> Rows:
    rows: Rows = (
        Device.objects.filter(period__isempty=False)
        .annotate(node_name=F("node__name"), **LIFE)
        .values(
            *("id", "uuid", "node_id", "node_name", "kind", "parent_id", "model", "index"),
            *("profile", "compute_slices", "memory_slices", "replicas", "started_at"),
            *("ended_at", "confirmed_at"),
        )
    )
    return rows


def _agent_rows() -> Rows:
    rows: Rows = Agent.objects.annotate(node_name=F("node__name")).values(
        *("id", "node_id", "node_name", "source", "version", "enrolled_at", "last_seen_at"),
        *("clock_offset_ms", "status__at", "status__state", "status__spool_batches"),
        *("status__spool_bytes", "status__spool_oldest_at", "status__dropped_windows"),
        "status__problems",
    )
    return rows


def _outage_rows() -> Rows:
    rows: Rows = (
        Outage.objects.filter(period__isempty=False)
        .annotate(
            node_name=F("node__name"),
            starts_at=F("period__startswith"),
            ends_at=F("period__endswith"),
        )
        .values("id", "node_id", "node_name", "device_id", "kind", "starts_at", "ends_at")
    )
    return rows
