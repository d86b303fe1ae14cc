"""What the charge pass reads of hardware of one's own: plans of an hour, and what nodes drew."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from apps.economics.hours import HOUR
from apps.economics.node_power import Meter
from apps.economics.owned_time import TariffSpan, tariffs_of_hour
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import milliseconds_into
from apps.pricing.queries.owned import OwnedPlanFact, fixed_hour, owned_plans_in, pue_of
from apps.telemetry import queries as telemetry

MS_PER_QUARTER = 250


@dataclass(frozen=True, slots=True)
class HeldPlan:
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
    """What the meters of a node's GPUs told of an hour, and when in it the node was out of use."""

    meters: tuple[Meter, ...]
    outages: tuple[tuple[int, int], ...]


NOTHING = NodeDrew((), ())


def plans_of_hour(hour: datetime, zone: str) -> dict[int, HeldPlan]:
    """The plan of each pool that is in service in the hour, by pool.

    None before the organisation's first node: what was written off then is in nobody's books here.
    """
    found = owned_plans_in(hour, hour + HOUR)
    since = fleet.lived_since() if found else None
    if since is None or hour + HOUR <= since:
        return {}
    return {plan.pool_id: _held_plan(plan, hour, zone) for plan in found}


def known_draws(
    hour: datetime, through: datetime, nodes: Sequence[fleet.NodeFact]
) -> dict[int, NodeDrew]:
    """What is known of these nodes in `[hour, through)`, by node."""
    ids = [node.id for node in nodes]
    meters = _meters_of_nodes(hour, through, ids)
    outages: dict[int, list[tuple[int, int]]] = {}
    for each in fleet.outages(ids, hour, through):
        if each.device_id is None:
            span = (milliseconds_into(hour, each.starts_at), milliseconds_into(hour, each.ends_at))
            outages.setdefault(each.node_id, []).append(span)
    return {
        node_id: NodeDrew(tuple(meters.get(node_id, ())), tuple(outages.get(node_id, ())))
        for node_id in ids
    }


def _held_plan(plan: OwnedPlanFact, hour: datetime, zone: str) -> HeldPlan:
    return HeldPlan(
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
    hour: datetime, through: datetime, node_ids: Collection[int]
) -> Mapping[int, list[Meter]]:
    """Only GPUs have meters; their slices' joules are theirs."""
    devices = {
        device.id: device
        for device in fleet.devices_lived(node_ids, hour, through)
        if device.parent_id is None
    }
    found: dict[int, list[Meter]] = {}
    for row in telemetry.usage_rows(hour, list(devices)):
        if row.energy_joules is not None:
            meter = Meter(sum(row.observed) * MS_PER_QUARTER, Fraction(row.energy_joules))
            found.setdefault(devices[row.device_id].node_id, []).append(meter)
    return found
