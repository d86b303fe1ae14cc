"""One node or device with its past: what it held, who spoke for it, when it could not be used."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.accounts.queries.facts import facts_of
from apps.fleet.models import Agent, Device, Outage
from apps.fleet.queries.inventory import DescribedDevice


@dataclass(frozen=True, slots=True)
class NodeAgent:
    """An agent that reports for a node; the offset is server time less the agent's."""

    id: int
    source: str
    version: str
    enrolled_at: datetime
    last_seen_at: datetime | None
    clock_offset_ms: int


@dataclass(frozen=True, slots=True)
class CapacityStep:
    """How many units a node had from when to when; None: from ever, until further notice."""

    units: int
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewOutage:
    """When a node (or one device) could not be used; `ends_at` is None while it lasts."""

    node_id: int
    kind: str
    starts_at: datetime
    ends_at: datetime | None = None
    device_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageOnRecord(NewOutage):
    """A time in which a node, or the device named, could not be used, as it is on record."""

    id: int
    device_uuid: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLife(DescribedDevice):
    """One life of a device on one node; a slice made again is another life."""

    id: int
    node_id: int
    node_name: str
    parent_id: int | None
    starts_at: datetime
    ends_at: datetime | None
    confirmed_at: datetime | None


def agents_of_node(node_id: int) -> list[NodeAgent]:
    """The agents of a node, the one heard last first."""
    rows = Agent.objects.filter(node_id=node_id).order_by("-last_seen_at", "id")
    return [NodeAgent(*row) for row in rows.values_list(*NodeAgent.__slots__)]


def outages_of_node(node_id: int) -> list[OutageOnRecord]:
    """The outages of a node and of its devices, the newest first."""
    return _outages_on_record(Q(node_id=node_id))


def outages_between(starts_at: datetime, ends_at: datetime) -> list[OutageOnRecord]:
    """The outages of every node in `[starts_at, ends_at)`, whole, the newest first; they may overlap."""
    return _outages_on_record(Q(period__overlap=(starts_at, ends_at)))


def outage_on_record(outage_id: int) -> OutageOnRecord | None:
    """One outage."""
    return next(iter(_outages_on_record(Q(id=outage_id))), None)


def devices_of_node(node_id: int, since: datetime) -> list[DeviceLife]:
    """The devices of a node that lived after `since`: GPUs by index, slices after them."""
    return _device_lifetimes(
        Q(node_id=node_id, period__overlap=(since, None)), "kind", "index", "period"
    )


def lifetimes_of_uuid(uuid: str) -> list[DeviceLife]:
    """Every life of a device, the newest first."""
    return _device_lifetimes(Q(uuid=uuid), "-period")


def device_life(device_id: int) -> DeviceLife | None:
    """One life of a device."""
    return next(iter(_device_lifetimes(Q(id=device_id), "id")), None)


def _outages_on_record(wanted: Q) -> list[OutageOnRecord]:
    rows = Outage.objects.filter(wanted, period__isempty=False).order_by("-period", "id")
    return list(
        facts_of(
            OutageOnRecord,
            rows,
            device_uuid="device__uuid",
            starts_at="period__startswith",
            ends_at="period__endswith",
        )
    )


def _device_lifetimes(wanted: Q, *order: str) -> list[DeviceLife]:
    rows = Device.objects.filter(wanted, period__isempty=False).order_by(*order, "id")
    return list(
        facts_of(
            DeviceLife,
            rows,
            node_name="node__name",
            starts_at="period__startswith",
            ends_at="period__endswith",
        )
    )
