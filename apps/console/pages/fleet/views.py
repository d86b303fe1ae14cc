"""Nodes and GPUs and their tables as CSV: parse the address, ask, answer."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.kit.request import EVERYONE, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.fleet import sheets
from apps.console.pages.fleet.device import device_heat, device_page, life_rows
from apps.console.pages.fleet.facts import fleet_facts
from apps.console.pages.fleet.heat_map import day_of, map_hours
from apps.console.pages.fleet.hours import SHOWN_HOURS, shown_from
from apps.console.pages.fleet.node import holders_of_node, node_page, outage_rows
from apps.console.pages.fleet.nodes import fleet_page, matching, node_rows, ordered
from apps.console.pages.fleet.pools import pool_rows, spans_since_yesterday
from apps.console.pages.fleet.question import fleet_question
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet_queries
from apps.ledger.queries import hours_of_node


@require_safe
@shown_to(EVERYONE)
def fleet(request: HttpRequest) -> HttpResponse:
    """Clusters, pools and nodes; whoever signed in may see them, never whose work is on them."""
    who = request_context(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    page = fleet_page(asked, who, facts)
    return render(request, "fleet/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def nodes_csv(request: HttpRequest) -> HttpResponse:
    """Every node that the address asks for."""
    who = request_context(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    rows = node_rows(ordered(matching(facts, asked), facts, asked), facts)
    return csv_answer("nodes", sheets.NODE_HEADER, sheets.node_cells(rows))


@require_safe
@shown_to(EVERYONE)
def pools_csv(request: HttpRequest) -> HttpResponse:
    """Every pool that the address asks for."""
    who = request_context(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    rows = pool_rows(facts, spans_since_yesterday(who), asked, who)
    return csv_answer("pools", sheets.POOL_HEADER, sheets.pool_cells(rows))


@require_safe
@shown_to(EVERYONE)
def fleet_hours_csv(request: HttpRequest) -> HttpResponse:
    """The last full hours of every node that the address asks for, measured or not."""
    who = request_context(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    day = day_of(matching(facts, asked), facts)
    rows = sheets.map_cells(map_hours(day, facts))
    return csv_answer("hours of nodes", sheets.MAP_HEADER, rows)


@require_safe
@shown_to(EVERYONE)
def node(request: HttpRequest, node_id: int) -> HttpResponse:
    """One node."""
    page = node_page(on_record(node_id), request_context(request, "fleet"))
    return render(request, "fleet/node.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def node_hours_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The last 48 hours of a node by state, as far as they are settled."""
    who = request_context(request, "fleet")
    on_record(node_id)
    first = shown_from(who.at)
    hours = hours_of_node(node_id, first, first + SHOWN_HOURS * HOUR)
    return csv_answer(f"hours of node {node_id}", sheets.HOUR_HEADER, sheets.hour_cells(hours))


@require_safe
@shown_to(EVERYONE)
def node_devices_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The devices of a node, with who holds them as far as the viewer may know."""
    page = node_page(on_record(node_id), request_context(request, "fleet"))
    name = f"devices of node {node_id}"
    return csv_answer(name, sheets.DEVICE_HEADER, sheets.device_cells(page.devices))


@require_safe
@shown_to(EVERYONE)
def node_holders_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """Who holds a node now, as far as the viewer may know."""
    in_cores = on_record(node_id)["unit"] == "core"
    rows = holders_of_node(node_id, request_context(request, "fleet"), in_cores=in_cores)
    name = f"holders of node {node_id}"
    header = sheets.CORE_HOLDER_HEADER if in_cores else sheets.HOLDER_HEADER
    return csv_answer(name, header, sheets.holder_cells(rows))


@require_safe
@shown_to(EVERYONE)
def node_outages_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The outages of a node and of its devices."""
    on_record(node_id)
    rows = outage_rows(fleet_queries.outages_of_node(node_id), request_context(request, "fleet"))
    name = f"outages of node {node_id}"
    return csv_answer(name, sheets.OUTAGE_HEADER, sheets.outage_cells(rows))


@require_safe
@shown_to(EVERYONE)
def node_agents_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The agents of a node."""
    on_record(node_id)
    cells = sheets.agent_cells(fleet_queries.agents_of_node(node_id))
    return csv_answer(f"agents of node {node_id}", sheets.AGENT_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def node_capacity_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """What was declared of a node."""
    on_record(node_id)
    cells = sheets.capacity_cells(fleet_queries.capacities_of_node(node_id))
    return csv_answer(f"capacity of node {node_id}", sheets.CAPACITY_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def device(request: HttpRequest, device_id: int) -> HttpResponse:
    """One device."""
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    page = device_page(life, request_context(request, "fleet"))
    return render(request, "fleet/device.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def device_hours_csv(request: HttpRequest, device_id: int) -> HttpResponse:
    """The last 48 hours of a device."""
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    heat = device_heat(life, request_context(request, "fleet"))
    return csv_answer(f"hours of device {device_id}", sheets.HEAT_HEADER, sheets.heat_cells(heat))


@require_safe
@shown_to(EVERYONE)
def device_lives_csv(request: HttpRequest, device_id: int) -> HttpResponse:
    """Every life of a device."""
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    name = f"lives of device {device_id}"
    return csv_answer(name, sheets.LIFE_HEADER, sheets.life_cells(life_rows(life.uuid)))


def on_record(node_id: int) -> Mapping[str, Any]:
    """The node, or nothing found."""
    row = fleet_queries.node_if_on_record(node_id)
    if row is None:
        raise Http404
    return row
