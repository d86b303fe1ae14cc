"""Nodes and GPUs and their tables as CSV: parse the address, ask, answer."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponse

from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.fleet.device import device_heat, device_page, heat_hours, life_rows
from apps.console.pages.fleet.facts import FleetFacts, fleet_facts
from apps.console.pages.fleet.heat_map import day_of, map_hours
from apps.console.pages.fleet.hours import SHOWN_HOURS, shown_from
from apps.console.pages.fleet.node import (
    devices_of_node,
    holders_of_node,
    node_page,
    outage_rows,
)
from apps.console.pages.fleet.nodes import fleet_page, matching, node_rows, with_time
from apps.console.pages.fleet.pools import pool_rows, spans_since_yesterday
from apps.console.pages.fleet.question import FleetQuestion, fleet_question
from apps.console.pages.fleet.tables import (
    AGENTS,
    CAPACITY,
    CORE_HOLDERS,
    DEVICE_HOURS,
    DEVICES,
    HOLDERS,
    LIVES,
    MAP,
    NODES,
    OUTAGES_TABLE,
    POOLS,
    STATE_HOURS,
)
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet_queries
from apps.fleet.queries import DeviceLife
from apps.ledger.queries import hours_of_node


@shown(EVERYONE, "fleet")
def fleet(context: Context) -> ConsolePage:
    """Clusters, pools and nodes; whoever signed in may see them, never whose work is on them."""
    asked, facts = _asked(context)
    return fleet_page(asked, context, facts)


@shown(EVERYONE, "fleet")
def nodes_csv(context: Context) -> HttpResponse:
    """Every node that the address asks for."""
    asked, facts = _asked(context)
    rows = with_time(node_rows(matching(facts, asked), facts), facts)
    return NODES.csv(rows, context, "nodes")


@shown(EVERYONE, "fleet")
def pools_csv(context: Context) -> HttpResponse:
    """Every pool that the address asks for."""
    asked, facts = _asked(context)
    rows = pool_rows(facts, spans_since_yesterday(context), asked, context)
    return POOLS.csv(rows, context, "pools")


@shown(EVERYONE, "fleet")
def fleet_hours_csv(context: Context) -> HttpResponse:
    """The last full hours of every node that the address asks for, measured or not."""
    asked, facts = _asked(context)
    day = day_of(matching(facts, asked), facts)
    return MAP.csv(map_hours(day, facts), context, "hours of nodes")


@shown(EVERYONE, "fleet")
def node(context: Context, node_id: int) -> ConsolePage:
    """One node."""
    return node_page(on_record(node_id), context)


@shown(EVERYONE, "fleet")
def node_hours_csv(context: Context, node_id: int) -> HttpResponse:
    """The last 48 hours of a node by state, as far as they are settled."""
    on_record(node_id)
    first = shown_from(context.at)
    hours = hours_of_node(node_id, first, first + SHOWN_HOURS * HOUR)
    return STATE_HOURS.csv(sorted(hours.items()), context, f"hours of node {node_id}")


@shown(EVERYONE, "fleet")
def node_devices_csv(context: Context, node_id: int) -> HttpResponse:
    """The devices of a node, with who holds them as far as the viewer may know."""
    on_record(node_id)
    rows = devices_of_node(node_id, context)
    return DEVICES.csv(rows, context, f"devices of node {node_id}")


@shown(EVERYONE, "fleet")
def node_holders_csv(context: Context, node_id: int) -> HttpResponse:
    """Who holds a node now, as far as the viewer may know."""
    in_cores = on_record(node_id)["unit"] == "core"
    rows = holders_of_node(node_id, context, in_cores=in_cores)
    table = CORE_HOLDERS if in_cores else HOLDERS
    return table.csv(rows, context, f"holders of node {node_id}")


@shown(EVERYONE, "fleet")
def node_outages_csv(context: Context, node_id: int) -> HttpResponse:
    """The outages of a node and of its devices."""
    on_record(node_id)
    rows = outage_rows(fleet_queries.outages_of_node(node_id), context)
    return OUTAGES_TABLE.csv(rows, context, f"outages of node {node_id}")


@shown(EVERYONE, "fleet")
def node_agents_csv(context: Context, node_id: int) -> HttpResponse:
    """The agents of a node."""
    on_record(node_id)
    rows = fleet_queries.agents_of_node(node_id)
    return AGENTS.csv(rows, context, f"agents of node {node_id}")


@shown(EVERYONE, "fleet")
def node_capacity_csv(context: Context, node_id: int) -> HttpResponse:
    """What was declared of a node."""
    on_record(node_id)
    rows = fleet_queries.capacities_of_node(node_id)
    return CAPACITY.csv(rows, context, f"capacity of node {node_id}")


@shown(EVERYONE, "fleet")
def device(context: Context, device_id: int) -> ConsolePage:
    """One device."""
    return device_page(_known_device(device_id), context)


@shown(EVERYONE, "fleet")
def device_hours_csv(context: Context, device_id: int) -> HttpResponse:
    """The last 48 hours of a device."""
    heat = device_heat(_known_device(device_id), context)
    return DEVICE_HOURS.csv(heat_hours(heat), context, f"hours of device {device_id}")


@shown(EVERYONE, "fleet")
def device_lives_csv(context: Context, device_id: int) -> HttpResponse:
    """Every life of a device."""
    rows = life_rows(_known_device(device_id).uuid)
    return LIVES.csv(rows, context, f"lives of device {device_id}")


def on_record(node_id: int) -> Mapping[str, Any]:
    """The node, or nothing found."""
    row = fleet_queries.node_if_on_record(node_id)
    if row is None:
        raise Http404
    return row


def _known_device(device_id: int) -> DeviceLife:
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    return life


def _asked(context: Context) -> tuple[FleetQuestion, FleetFacts]:
    """The question of the address, and what is known of the fleet now."""
    facts = fleet_facts(context.at)
    names = [pool.name for pool in facts.pools.values()]
    return fleet_question(context.query, names), facts
