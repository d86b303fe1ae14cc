"""Facts of owned hardware that the charge pass reads: plans of an hour, and what nodes drew."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from apps.economics.hours import HOUR
from apps.economics.node_power import Meter
from apps.economics.owned_time import TariffSpan, tariffs_of_hour
from apps.economics.usage import UsageRow
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import milliseconds_into
from apps.pricing.queries.owned import OwnedPlanFact, fixed_hour, owned_plans_in, pue_of
from apps.telemetry import queries as telemetry

MS_PER_QUARTER = 250


@dataclass(frozen=True, slots=True)
class PlanHour:
    """A plan in an hour: what all of it owes then, and what a kilowatt-hour costs when."""

    id: int
    name: str
    pool_id: int
    nodes: int
    watts: int
    pue: Fraction
    fixed_micros: int
    tariffs: tuple[TariffSpan, ...]


@dataclass(frozen=True, slots=True)
class NodeDrew:
    """Readings of the meters of a node's GPUs in an hour, and when in it the node was out of use."""

    meters: tuple[Meter, ...]
    outages: tuple[tuple[int, int], ...]


NOTHING = NodeDrew((), ())


def plans_of_hour(hour: datetime, zone: str) -> dict[int, PlanHour]:
    """The plan of each pool that is in service in the hour, by pool.

    None before the organisation's first node: what was written off then is in nobody's books here.
    """
    plans = owned_plans_in(hour, hour + HOUR)
    since = fleet.first_node_started_at() if plans else None
    if since is None or hour + HOUR <= since:
        return {}
    return {plan.pool_id: _plan_hour(plan, hour, zone) for plan in plans}


def node_draws(
    hour: datetime, through: datetime, nodes: Sequence[fleet.NodeFact]
) -> dict[int, NodeDrew]:
    """Return what is known of these nodes' draw and outages in `[hour, through)`, by node."""
    ids = [node.id for node in nodes]
    devices = fleet.devices_alive_between(ids, hour, through)
    gpus = [device.id for device in devices if device.parent_id is None]
    usage = telemetry.usage_rows(hour, gpus)
    return _draws_of_nodes(hour, ids, devices, usage, fleet.outages(ids, hour, through))


def node_draws_by_hour(
    nodes_by_hour: Mapping[datetime, Sequence[fleet.NodeFact]],
) -> dict[datetime, dict[int, NodeDrew]]:
    """Return what is known of nodes' draw and outages in several whole hours, each with its nodes, in three statements."""
    if not nodes_by_hour:
        return {}
    ids = sorted({node.id for nodes in nodes_by_hour.values() for node in nodes})
    span = min(nodes_by_hour), max(nodes_by_hour) + HOUR
    devices, outages = fleet.devices_alive_between(ids, *span), fleet.outages(ids, *span)
    gpus = [device.id for device in devices if device.parent_id is None]
    usage = telemetry.usage_rows_of_hours(list(nodes_by_hour), gpus)
    return {
        hour: _draws_of_nodes(
            hour,
            [node.id for node in nodes],
            [
                device
                for device in devices
                if device.lived_from < hour + HOUR and device.lived_to > hour
            ],
            usage[hour],
            [
                replace(
                    outage,
                    starts_at=max(outage.starts_at, hour),
                    ends_at=min(outage.ends_at, hour + HOUR),
                )
                for outage in outages
                if outage.starts_at < hour + HOUR and outage.ends_at > hour
            ],
        )
        for hour, nodes in nodes_by_hour.items()
    }


def _draws_of_nodes(
    hour: datetime,
    node_ids: Collection[int],
    devices: Iterable[fleet.DeviceFact],
    usage: Iterable[UsageRow],
    outages: Iterable[fleet.OutageFact],
) -> dict[int, NodeDrew]:
    meters = _meters_of_nodes(devices, usage)
    spans: dict[int, list[tuple[int, int]]] = {}
    for outage in outages:
        if outage.device_id is None:
            span = (
                milliseconds_into(hour, outage.starts_at),
                milliseconds_into(hour, outage.ends_at),
            )
            spans.setdefault(outage.node_id, []).append(span)
    return {
        node_id: NodeDrew(tuple(meters.get(node_id, ())), tuple(spans.get(node_id, ())))
        for node_id in node_ids
    }


def _plan_hour(plan: OwnedPlanFact, hour: datetime, zone: str) -> PlanHour:
    return PlanHour(
        id=plan.id,
        name=plan.name,
        pool_id=plan.pool_id,
        nodes=plan.nodes,
        watts=plan.watts,
        pue=pue_of(plan),
        fixed_micros=fixed_hour(plan, hour, zone).micros,
        tariffs=tariffs_of_hour(plan.tariffs_at(hour), hour, zone),
    )


def _meters_of_nodes(
    devices: Iterable[fleet.DeviceFact], usage: Iterable[UsageRow]
) -> Mapping[int, list[Meter]]:
    """Only GPUs have meters; their slices' joules are theirs."""
    node_of = {device.id: device.node_id for device in devices if device.parent_id is None}
    meters_by_node: dict[int, list[Meter]] = {}
    for row in usage:
        if row.energy_joules is not None and row.device_id in node_of:
            meter = Meter(sum(row.observed) * MS_PER_QUARTER, Fraction(row.energy_joules))
            meters_by_node.setdefault(node_of[row.device_id], []).append(meter)
    return meters_by_node
