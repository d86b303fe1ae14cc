"""Nodes and GPUs and their tables as CSV: parse the address, ask, answer."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.pages.access import EVERYONE, shown_to
from apps.console.pages.csv_table import csv_answer
from apps.console.pages.fleet import sheets
from apps.console.pages.fleet.asking import asking
from apps.console.pages.fleet.device import device_heat, device_page
from apps.console.pages.fleet.hours import HOUR, SHOWN_HOURS, shown_from
from apps.console.pages.fleet.node import node_page
from apps.console.pages.fleet.nodes import fleet_facts, fleet_page, matching, node_rows, ordered
from apps.console.pages.fleet.question import fleet_question
from apps.fleet import queries as fleet_queries
from apps.ledger.queries import hours_of_node


@require_safe
@shown_to(EVERYONE)
def fleet(request: HttpRequest) -> HttpResponse:
    """Clusters, pools and nodes; whoever signed in may see them, never whose work is on them."""
    who = asking(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    page = fleet_page(asked, who, facts)
    return render(request, "fleet/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def nodes_csv(request: HttpRequest) -> HttpResponse:
    """Every node that the address asks for."""
    who = asking(request, "fleet")
    facts = fleet_facts(who.at)
    asked = fleet_question(request.GET, {pool.name: pool.id for pool in facts.pools.values()})
    rows = node_rows(ordered(matching(facts, asked), facts, asked), facts)
    return csv_answer("nodes", sheets.NODE_HEADER, sheets.node_cells(rows))


@require_safe
@shown_to(EVERYONE)
def node(request: HttpRequest, node_id: int) -> HttpResponse:
    """One node."""
    row = fleet_queries.node_if_on_record(node_id)
    if row is None:
        raise Http404
    page = node_page(row, asking(request, "fleet"))
    return render(request, "fleet/node.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def node_hours_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The last 48 hours of a node by state, as far as they are settled."""
    who = asking(request, "fleet")
    row = fleet_queries.node_if_on_record(node_id)
    if row is None:
        raise Http404
    first = shown_from(who.at)
    hours = hours_of_node(node_id, first, first + SHOWN_HOURS * HOUR)
    return csv_answer(f"hours of node {node_id}", sheets.HOUR_HEADER, sheets.hour_cells(hours))


@require_safe
@shown_to(EVERYONE)
def node_devices_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The devices of a node, with who holds them as far as the viewer may know."""
    row = fleet_queries.node_if_on_record(node_id)
    if row is None:
        raise Http404
    page = node_page(row, asking(request, "fleet"))
    name = f"devices of node {node_id}"
    return csv_answer(name, sheets.DEVICE_HEADER, sheets.device_cells(page.devices))


@require_safe
@shown_to(EVERYONE)
def device(request: HttpRequest, device_id: int) -> HttpResponse:
    """One device."""
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    page = device_page(life, asking(request, "fleet"))
    return render(request, "fleet/device.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def device_hours_csv(request: HttpRequest, device_id: int) -> HttpResponse:
    """The last 48 hours of a device."""
    life = fleet_queries.device_life(device_id)
    if life is None:
        raise Http404
    heat = device_heat(life, asking(request, "fleet"))
    return csv_answer(f"hours of device {device_id}", sheets.HEAT_HEADER, sheets.heat_cells(heat))
