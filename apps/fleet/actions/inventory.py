"""Clusters, pools and nodes: what comes, changes and goes."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Max

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.economics.hours import hour_of
from apps.economics.machines import name_fault
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.fleet.actions.lives import ChangedLife, lock_lifetimes_exclusive, notify_lifetime_change
from apps.fleet.models import (
    CapacityUnit,
    Cluster,
    Device,
    IdleSharing,
    Node,
    NodeCapacity,
    Outage,
    Pool,
    SharePolicy,
)
from apps.fleet.queries.histories import NewOutage
from apps.fleet.queries.inventory import nodes_named, nodes_owned
from apps.fleet.queries.listing import cluster_named
from apps.fleet.queries.pool_facts import EnteredPool
from apps.logs.changes import items_of, logged_change
from apps.marks.actions import ORGANISATION, mark_names, mark_span
from apps.marks.queries import Pass


class ClusterNameOdd(Refusal):
    """A name with markup, with characters that are not seen, or without any."""


class ClusterNameTaken(Refusal):
    """Names of nodes and jobs are told apart by their cluster's name."""


class PoolNameTaken(Refusal):
    """Two pools of one name could not be told apart in a report."""


class NodeNameTaken(Refusal):
    """A node of this name lives in this cluster during that time."""


class NodeAlreadyEnded(Refusal):
    """A node ends once."""


class NodeEndsBeforeItStarts(Refusal):
    """Nothing would be left to charge."""


class NodeNotAliveThen(Refusal):
    """The node did not live at that moment."""


class CoresAreNotWeighed(Refusal):
    """A weight of cores that says nothing: negative, of no cores, or in a pool of cores."""


class OutageEndsBeforeItStarts(Refusal):
    """An outage takes time."""


class DeviceOfAnotherNode(Refusal):
    """A node's outage names a device that is not in it."""


@dataclass(frozen=True, slots=True)
class NewNode:
    """A machine, or with kind `pool` a pool counted as a whole; `units` are GPUs or cores.

    `ended_at` None: it still lives, or nobody knows its end yet.
    """

    name: str
    pool_id: int
    started_at: datetime
    units: int
    cluster_id: int | None = None
    kind: str = "machine"
    provider_id: str = ""
    ended_at: datetime | None = None
    end_reason: str = ""


@logged_change()
def add_cluster(*, name: str, kind: str = "other", at: datetime) -> int:
    """Add a scheduler's domain; answers its id. Refuses ClusterNameOdd and ClusterNameTaken."""
    fault = "is empty" if not name.strip() else name_fault(name)
    if fault:
        raise ClusterNameOdd("name", f"the name of a cluster {fault}")
    taken = ClusterNameTaken("name", f"there is a cluster named {name!r} already")
    with refusing({"fleet_cluster_name_key": taken}):
        return Cluster.objects.create(name=name, kind=kind, created_at=at).id


def open_cluster(*, name: str, at: datetime) -> int:
    """The cluster of this name, added where there is none; its id."""
    cluster_id = cluster_named(name)
    if cluster_id is None:
        try:
            return add_cluster(name=name, at=at)
        except ClusterNameTaken:  # somebody opened it a moment ago
            return open_cluster(name=name, at=at)
    return cluster_id


@logged_change()
@transaction.atomic
def add_pool(*, pool: EnteredPool, at: datetime) -> int:
    """Add a pool with version 1 of its share policy, for all time; answers its id.

    Refuses PoolNameTaken.
    """
    columns = asdict(pool) | {
        "unit": CapacityUnit(pool.unit),
        "purchase_option": PurchaseOption(pool.purchase_option),
        "idle_sharing": IdleSharing(pool.idle_sharing),
    }
    rule = columns.pop("share_rule")
    taken = PoolNameTaken("name", f"there is a pool named {pool.name!r} already")
    with refusing({"fleet_pool_name_key": taken}):
        row = Pool.objects.create(**columns, created_at=at)
    SharePolicy.objects.create(pool=row, version=1, rule=rule, period=(None, None))
    return row.id


@logged_change()
@transaction.atomic
def weigh_cores(
    *, pool_id: int, cores_per_node: int, weight: Decimal, from_at: datetime, at: datetime
) -> int:
    """From the hour of `from_at` on, a core counts `weight` GPUs; answers the policy's version.

    Weight 0: the GPUs carry all of a node's cost again. What was said of later hours is replaced.
    Marks split for the pool's nodes since then. Refuses CoresAreNotWeighed.
    """
    pool = Pool.objects.select_for_update(no_key=True).get(pk=pool_id)
    if pool.unit == CapacityUnit.CORE:
        raise CoresAreNotWeighed(
            "pool", f"{pool.name} is measured in cores: they carry all of its cost"
        )
    if weight < 0 or (weight and cores_per_node <= 0):
        raise CoresAreNotWeighed(
            "weight", "give a weight of 0 or more, and how many cores a node has"
        )
    from_at = hour_of(from_at)
    policies = SharePolicy.objects.filter(pool_id=pool_id)
    version = 1 + (policies.aggregate(last=Max("version"))["last"] or 0)
    policies.filter(period__startswith__gte=from_at).delete()
    current_policy = policies.get(period__contains=from_at)
    current_policy.period = (current_policy.period.lower, from_at)
    current_policy.save(update_fields=["period"])
    SharePolicy.objects.create(
        pool=pool,
        version=version,
        rule=current_policy.rule,
        cores_per_node=cores_per_node,
        core_weight=weight,
        period=(from_at, None),
    )
    nodes = Node.objects.filter(pool_id=pool_id, period__overlap=(from_at, max(at, from_at)))
    mark_span(
        pass_=Pass.SPLIT,
        units=nodes.values_list("id", flat=True),
        starts_at=from_at,
        ends_at=at,
    )
    return version


@logged_change()
@transaction.atomic
def add_node(*, node: NewNode, at: datetime) -> int:
    """Add a node, charged from `started_at` to its end, or until something ends it; answers its id.

    Marks charge for the past hours that it lived. A name may have an earlier life before a later
    one, told with its end. Refuses NodeNameTaken and NodeEndsBeforeItStarts.
    """
    if node.ended_at is not None and node.ended_at <= node.started_at:
        raise NodeEndsBeforeItStarts(
            "ended_at",
            f"{node.name} would end at {node.ended_at:%Y-%m-%d %H:%M}Z and begin only at"
            f" {node.started_at:%Y-%m-%d %H:%M}Z",
        )
    lock_lifetimes_exclusive()
    hold_organisation()
    taken = NodeNameTaken("name", _name_taken(node))
    period = (node.started_at, node.ended_at)
    with refusing({"node_name_lives_once_at_a_time": taken}):
        row = Node.objects.create(
            name=node.name,
            cluster_id=node.cluster_id,
            pool_id=node.pool_id,
            kind=node.kind,
            provider_id=node.provider_id,
            period=period,
            end_reason=node.end_reason,
            created_at=at,
        )
    NodeCapacity.objects.create(node=row, units=node.units, period=period)
    _mark_lifetime(node.started_at, min(at, node.ended_at or at))
    if node.started_at <= at:
        mark_names(starts_at=node.started_at, ends_at=min(at, node.ended_at or at))
    _notify_followers(row, node.started_at, node.ended_at, at)
    return row.id


@logged_change()
@transaction.atomic
def end_node(*, node_id: int, ended_at: datetime, reason: str, at: datetime) -> None:
    """End a node and what is in it, as an inventory, a bill, a notice or a person says.

    Refuses NodeAlreadyEnded and NodeEndsBeforeItStarts.
    """
    lock_lifetimes_exclusive()
    node = Node.objects.select_for_update(no_key=True).get(pk=node_id)
    if node.period.upper is not None:
        raise NodeAlreadyEnded(
            "ended_at", f"{node.name} ended at {node.period.upper:%Y-%m-%d %H:%M}Z"
        )
    if ended_at <= node.period.lower:
        raise NodeEndsBeforeItStarts(
            "ended_at", f"{node.name} began only at {node.period.lower:%Y-%m-%d %H:%M}Z"
        )
    node.period = (node.period.lower, ended_at)
    node.end_reason = reason
    node.save(update_fields=["period", "end_reason"])
    for part in (Device, NodeCapacity, Outage):
        _end_parts(part, node_id, ended_at)
    _mark_lifetime(ended_at, at)
    mark_names(starts_at=ended_at, ends_at=at)
    _notify_followers(node, ended_at, None, at)


@logged_change(count=items_of("node_ids"))
@transaction.atomic
def end_nodes(*, node_ids: Collection[int], ended_at: datetime, reason: str, at: datetime) -> None:
    """End several nodes at one moment, all of them or none. Refuses as `end_node` does."""
    for node_id in sorted(node_ids):
        end_node(node_id=node_id, ended_at=ended_at, reason=reason, at=at)


@logged_change()
@transaction.atomic
def set_capacity(*, node_id: int, units: int, from_at: datetime, at: datetime) -> None:
    """From `from_at` on a node has `units`, until its next change. Refuses NodeNotAliveThen."""
    Node.objects.select_for_update(no_key=True).get(pk=node_id)
    capacity = NodeCapacity.objects.filter(node_id=node_id, period__contains=from_at).first()
    if capacity is None:
        raise NodeNotAliveThen("from_at", f"the node did not live at {from_at:%Y-%m-%d %H:%M}Z")
    began_at, ended_at = capacity.period.lower, capacity.period.upper
    if began_at == from_at:
        capacity.units = units
        capacity.save(update_fields=["units"])
    else:
        capacity.period = (began_at, from_at)
        capacity.save(update_fields=["period"])
        NodeCapacity.objects.create(node_id=node_id, units=units, period=(from_at, ended_at))
    until = min(at, ended_at or at)
    _mark_lifetime(from_at, until)
    mark_span(pass_=Pass.SPLIT, units=[node_id], starts_at=from_at, ends_at=until)


@logged_change()
@transaction.atomic
def record_outage(*, outage: NewOutage, at: datetime) -> int:
    """Note that a node or device could not be used; answers the outage's id.

    Marks split for the past part. Refuses OutageEndsBeforeItStarts and DeviceOfAnotherNode.
    """
    if outage.ends_at is not None and outage.ends_at <= outage.starts_at:
        raise OutageEndsBeforeItStarts(
            "ends_at", f"{outage.ends_at} is not after {outage.starts_at}"
        )
    _refuse_foreign_device(outage)
    row = Outage.objects.create(
        node_id=outage.node_id,
        device_id=outage.device_id,
        kind=outage.kind,
        period=(outage.starts_at, outage.ends_at),
    )
    _mark_unusable(outage.node_id, outage.starts_at, min(at, outage.ends_at or at))
    return row.id


@logged_change()
@transaction.atomic
def end_outage(*, outage_id: int, ended_at: datetime, at: datetime) -> None:
    """The node or device works again since `ended_at`. Refuses OutageEndsBeforeItStarts."""
    outage = Outage.objects.select_for_update().get(pk=outage_id)
    began_at, until = outage.period.lower, outage.period.upper
    if ended_at <= began_at:
        raise OutageEndsBeforeItStarts("ended_at", f"{ended_at} is not after {began_at}")
    outage.period = (began_at, ended_at)
    outage.save(update_fields=["period"])
    changed_to = at if until is None else max(until, ended_at)
    _mark_unusable(outage.node_id, min(ended_at, until or ended_at), min(at, changed_to))


def _notify_followers(
    node: Node, starts_at: datetime, ends_at: datetime | None, at: datetime
) -> None:
    """Jobs are of clusters: what is in none holds nothing of theirs."""
    if node.cluster_id is not None:
        notify_lifetime_change(ChangedLife(node.cluster_id, node.name, starts_at, ends_at, at))


def _mark_lifetime(starts_at: datetime, ends_at: datetime) -> None:
    """The charge pass marks the split of every node-hour that comes, changes or goes thereby."""
    mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=ends_at)


def _name_taken(node: NewNode) -> str:
    """Who bears the name in that time, and what to do where that is a later life of the node."""
    lifetimes = [
        (began_at, ended_at)
        for _, began_at, ended_at in nodes_named(node.cluster_id, [node.name]).get(node.name, [])
        if (node.ended_at is None or began_at < node.ended_at)
        and (ended_at is None or node.started_at < ended_at)
    ]
    message = f"a node named {node.name!r} lives in this cluster at that time already"
    if not lifetimes:
        return message
    began_at, ended_at = lifetimes[0]
    until = "on" if ended_at is None else f"to {ended_at:%Y-%m-%d %H:%M}Z"
    message += f", from {began_at:%Y-%m-%d %H:%M}Z {until}"
    return message + ("; an earlier life needs an end by then" * (node.started_at < began_at))


def _mark_unusable(node_id: int, starts_at: datetime, ends_at: datetime) -> None:
    """Hardware of one's own costs less while it is out of service: it draws no power."""
    if nodes_owned([node_id]):
        mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=ends_at)
    mark_span(pass_=Pass.SPLIT, units=[node_id], starts_at=starts_at, ends_at=ends_at)


def _end_parts(
    part: type[Device] | type[NodeCapacity] | type[Outage], node_id: int, ended_at: datetime
) -> None:
    open_rows = part.objects.filter(node_id=node_id, period__contains=ended_at)
    for row in open_rows.select_for_update().order_by("id"):
        if row.period.lower < ended_at:
            row.period = (row.period.lower, ended_at)
            row.save(update_fields=["period"])


def _refuse_foreign_device(outage: NewOutage) -> None:
    if outage.device_id is None:
        return
    if not Device.objects.filter(id=outage.device_id, node_id=outage.node_id).exists():
        raise DeviceOfAnotherNode(
            "device_id", f"device {outage.device_id} is not in node {outage.node_id}"
        )
