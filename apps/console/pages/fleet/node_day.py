"""A day of one node, hour by hour and GPU by GPU, and its tables as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.request import EVERYONE, request_context, shown_to
from apps.console.pages.fleet.bottlenecks import bottlenecks, hours_of_span
from apps.console.pages.fleet.tables import HAPPENINGS, NODE_HOURS
from apps.console.pages.fleet.timeline import timeline, timeline_rows
from apps.console.pages.fleet.timeline_days import day_asked
from apps.console.pages.fleet.timeline_values import DayPage, Timeline
from apps.console.pages.fleet.views import on_record
from apps.show.amounts import counted


@require_safe
@shown_to(EVERYONE)
def node_day(request: HttpRequest, node_id: int) -> HttpResponse:
    """The day that the address names, else the last 24 hours."""
    row, who = on_record(node_id), request_context(request, "fleet")
    asked = day_asked(request.GET, who)
    line = timeline(node_id, asked, who)
    page = DayPage(
        frame=who.frame,
        finding=_finding(row["name"], line),
        zone=who.zone,
        name=row["name"],
        node_href=reverse("node", args=[node_id]),
        here=reverse("node-day", args=[node_id]),
        timeline=line,
        bottlenecks=bottlenecks(node_id, asked, who),
    )
    return render(request, "fleet/day.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def node_timeline_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """What happened on a node's GPUs in the span that the address asks for."""
    on_record(node_id)
    who = request_context(request, "fleet")
    rows = timeline_rows(node_id, day_asked(request.GET, who), who)
    return HAPPENINGS.csv(rows, who, f"timeline of node {node_id}")


@require_safe
@shown_to(EVERYONE)
def node_bottlenecks_csv(request: HttpRequest, node_id: int) -> HttpResponse:
    """The hours of a node beside its GPUs in the same span."""
    on_record(node_id)
    who = request_context(request, "fleet")
    hours = hours_of_span(node_id, day_asked(request.GET, who).span)
    return NODE_HOURS.csv(hours, who, f"network and stalls of node {node_id}")


def _finding(name: str, line: Timeline) -> str:
    when = f"in {line.when}" if line.latest is None else f"on {line.when}"
    if not line.gpus:
        return f"No agent named a GPU of {name} {when}."
    return f"{counted(line.gpus, 'GPU')} of {name} {when}: {line.finding}."
