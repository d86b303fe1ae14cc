"""The list of incidents: what happened, how long, what it means, what it cost, what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.cells import moment_cell, money_cell, text_cell
from apps.console.kit.request import EVERYONE, Context, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.fleet.incident_costs import (
    NODE,
    cost_together,
    costs_of,
    is_silent,
    known_until,
)
from apps.console.pages.fleet.incident_question import IncidentQuestion, incident_question
from apps.console.pages.fleet.incident_values import IncidentRow, IncidentsPage
from apps.console.pages.fleet.values import PlainFigure, Standing
from apps.console.pages.listed import Asked, By, listed, ordered
from apps.show.amounts import count, counted
from apps.show.incidents import UNUSABLE, incident_advice, incident_label
from apps.show.money import short_amount
from apps.show.time import duration
from apps.telemetry.queries import (
    IncidentFact,
    incident_facts,
    incident_kinds,
    incident_nodes,
)

MOST = 2_000
MOST_NODES = 300
ENDED_WITH_NODE = "Until the node ended"
HEADER = (
    *("started_at", "ended_at", "standing", "last_told_at", "node", "gpu", "kind", "code"),
    *("what", "detail", "count", "what_to_do"),
)
COLUMNS: Mapping[str, By[IncidentRow]] = {
    "when": By("Started", lambda row: row.started_at),
    "what": By("Incident", lambda row: row.label),
    "lasted": By("Duration", lambda row: row.lasted_seconds),
    "cost": By("Cost of lost GPU time", lambda row: row.cost_micros),
    "node": By("Node", lambda row: row.node),
    "gpu": By("GPU", lambda row: row.gpu or None),
    "todo": By("What to do"),
}


@require_safe
@shown_to(EVERYONE)
def incidents(request: HttpRequest) -> HttpResponse:
    """What happened to nodes and GPUs; what it cost is for those who may know prices."""
    who = request_context(request, "incidents")
    question, facts = _asked(request, who)
    asked = Asked(request.GET, reverse("incidents"), part="incidents", noun=("incident", ""))
    rows = incident_rows(facts, who)
    shows_costs = who.viewer.sees_prices
    by = COLUMNS if shows_costs else {key: COLUMNS[key] for key in COLUMNS if key != "cost"}
    page = IncidentsPage(
        frame=who.frame,
        finding=finding(facts, who.at),
        zone=who.zone,
        currency=who.organisation.currency,
        filters=question.filters,
        problems=(*question.problems, *_cut(facts)),
        sort=asked.sort,
        shows_costs=shows_costs,
        incidents=listed(rows, by, asked),
        csv_href=question.href("incidents-csv", sort=asked.sort),
        figures=figures(facts, who, question),
    )
    return render(request, "fleet/incidents.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def incidents_csv(request: HttpRequest) -> HttpResponse:
    """The incidents that the address asks for."""
    who = request_context(request, "incidents")
    rows = incident_rows(_asked(request, who)[1], who)
    sort = request.GET.get("sort", "")
    if sort.removeprefix("-") in COLUMNS:
        rows = ordered(rows, COLUMNS, sort)
    if not who.viewer.sees_prices:
        return csv_answer("incidents", HEADER, map(_cells, rows))
    currency = who.organisation.currency
    return csv_answer(
        "incidents",
        (*HEADER, f"lost_{currency.lower()}"),
        ([*_cells(row), money_cell(row.cost_micros, currency)] for row in rows),
    )


def incident_rows(facts: Sequence[IncidentFact], who: Context) -> list[IncidentRow]:
    """Each as the page tells it; costs only to those who may know prices."""
    costs = costs_of(facts, who.at) if who.viewer.sees_prices else {}
    return [_row(fact, costs.get(fact.id), who.at) for fact in facts]


def finding(facts: Sequence[IncidentFact], at: datetime) -> str:
    """How many last, in a sentence."""
    if not facts:
        return "No incidents reported."
    lasting = [fact for fact in facts if fact.ended_at is None]
    if not lasting:
        return f"{counted(len(facts), 'incident')}; none is open."
    deaf = sum(is_silent(fact, at) for fact in lasting)
    verb = "is" if len(lasting) == 1 else "are"
    said = f"{len(lasting):,} of {counted(len(facts), 'incident')} {verb} open"
    return f"{said}; of {deaf:,} of them the agent is silent." if deaf else f"{said}."


def figures(
    facts: Sequence[IncidentFact], who: Context, question: IncidentQuestion
) -> tuple[PlainFigure, ...]:
    """How many there were and last, on how many nodes, and what they cost together."""
    lasting = sum(fact.ended_at is None for fact in facts)
    nodes = len({fact.node_id for fact in facts})
    made = [
        PlainFigure("Incidents", count(len(facts)), f"on {counted(nodes, 'node')}"),
        PlainFigure(
            "Open", count(lasting), "have not ended", href=question.href("incidents", open="yes")
        ),
    ]
    if who.viewer.sees_prices:
        micros = cost_together(facts, who.at)
        made.append(
            PlainFigure(
                "Cost of lost GPU time",
                short_amount(micros, who.organisation.currency),
                "of GPUs that could not be used; overlapping incidents once",
                is_unknown=micros is None,
                href=question.href("incidents", sort="-cost"),
            )
        )
    return tuple(made)


def _asked(request: HttpRequest, who: Context) -> tuple[IncidentQuestion, list[IncidentFact]]:
    kinds, nodes = incident_kinds(), incident_nodes(MOST_NODES)
    question = incident_question(request.GET, kinds, nodes, (who.at, who.zone))
    return question, incident_facts(question.wanted, MOST)


def _row(fact: IncidentFact, micros: int | None, at: datetime) -> IncidentRow:
    lasted = known_until(fact, at) - fact.started_at
    is_moment = fact.ended_at is not None and not lasted
    return IncidentRow(
        id=fact.id,
        started_at=fact.started_at,
        last_at=fact.last_at,
        ended_at=fact.ended_at,
        lasted_seconds=lasted.total_seconds(),
        lasted="a moment" if is_moment else duration(_rounded(lasted)),
        standing=_standing(fact, at),
        node=fact.node_name,
        node_href=reverse("node", args=[fact.node_id]),
        gpu=fact.uuid,
        gpu_href=reverse("device", args=[fact.device_id]) if fact.device_id else "",
        kind=fact.kind,
        label=incident_label(fact.kind, fact.code),
        code=fact.code,
        detail=fact.detail,
        advice=incident_advice(fact.kind, fact.code),
        count=fact.count,
        cost_micros=micros,
        cost_note=_cost_note(fact, micros),
    )


def _standing(fact: IncidentFact, at: datetime) -> Standing:
    """Whether it lasts, as far as anybody can know."""
    if fact.ended_at is not None:
        is_cut = fact.node_ended_at is not None and fact.ended_at >= fact.node_ended_at
        return Standing(ENDED_WITH_NODE if is_cut else "Over", "quiet")
    if not is_silent(fact, at):
        return Standing("Open", "warn")
    if fact.heard_at is None:
        return Standing("Open; no agent is heard", "warn")
    ago = duration(_rounded(at - fact.heard_at))
    return Standing(f"Open when the agent was last heard, {ago} ago", "warn")


def _cost_note(fact: IncidentFact, micros: int | None) -> str:
    """Why its cost is not known."""
    if micros is not None:
        return ""
    if fact.kind == "xid":
        return "an XID is a moment; what it led to has its own line"
    if fact.kind not in UNUSABLE:
        return "took no GPU away"
    if fact.uuid == NODE and fact.kind == "gpu_missing":
        return "which GPU is not reported"
    return "not settled yet, or without a price"


def _cut(facts: Sequence[IncidentFact]) -> tuple[str, ...]:
    if len(facts) < MOST:
        return ()
    return (f"Only the latest {MOST:,} are shown and summed; choose a kind, a node or less time.",)


def _rounded(span: timedelta) -> timedelta:
    minute = timedelta(minutes=1)
    return span - span % minute if span >= minute else span


def _cells(row: IncidentRow) -> list[str]:
    return [
        moment_cell(row.started_at),
        moment_cell(row.ended_at),
        text_cell(row.standing.text),
        moment_cell(row.last_at),
        text_cell(row.node),
        text_cell(row.gpu),
        text_cell(row.kind),
        "" if row.code is None else str(row.code),
        text_cell(row.label),
        text_cell(row.detail),
        str(row.count),
        text_cell(row.advice),
    ]
