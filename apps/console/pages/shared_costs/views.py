"""Shared costs and what teams carry of them, for finance and platform."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.cells import moment_cell, money_cell, text_cell
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.listed import Asked, listed
from apps.console.pages.shared_costs.rows import (
    COST_COLUMNS,
    ENDED,
    IN_FORCE,
    TEAM_COLUMNS,
    months_of,
    tables,
)
from apps.console.pages.shared_costs.values import CostRow, SharedCostsPage
from apps.show.amounts import counted
from apps.show.money import whole_amount

COSTS_HEADER = (
    *("shared_cost", "amount", "currency", "method", "weights", "starts_at", "ends_at"),
    *("standing", "last_month", "this_month", "carried_in"),
)
TEAMS_HEADER = ("shared_cost", "team", "last_month", "this_month", "currency")


@require_safe
@shown_to(SEES_EVERYTHING)
def shared_costs(request: HttpRequest) -> HttpResponse:
    """What is shared, how, and by whom it was carried last month and this month."""
    who = request_context(request, "shared-costs")
    costs, teams = tables(who)
    here, shows_ended = reverse("shared-costs"), request.GET.get("show") == "all"
    shown = [row for row in costs if shows_ended or row.standing != ENDED]
    last, this = months_of(who)
    page = SharedCostsPage(
        frame=who.frame,
        finding=_finding(costs, who),
        zone=who.zone,
        currency=who.organisation.currency,
        last_month=f"{last:%B %Y}",
        this_month=f"{this:%B %Y}",
        costs=listed(
            shown,
            COST_COLUMNS,
            Asked(request.GET, here, part="costs", noun=("shared cost", "shared costs")),
        ),
        teams=listed(teams, TEAM_COLUMNS, Asked(request.GET, here, name="teams", part="teams")),
        new=Link("Add a shared cost", reverse("add-shared-cost")),
        other=Link("Without ended ones", here)
        if shows_ended
        else Link("With ended ones", f"{here}?show=all"),
    )
    return render(request, "shared_costs/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def shared_costs_csv(request: HttpRequest) -> HttpResponse:
    """Every shared cost, ended ones too."""
    who = request_context(request, "shared-costs")
    currency = who.organisation.currency
    cells = [
        [
            *(text_cell(row.name), f"{row.number:f}", row.currency, row.method),
            *(text_cell(row.weights), moment_cell(row.starts_at), moment_cell(row.ends_at)),
            row.standing,
            *(money_cell(row.last_micros, currency), money_cell(row.this_micros, currency)),
            currency,
        ]
        for row in tables(who)[0]
    ]
    return csv_answer("shared costs", COSTS_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def teams_csv(request: HttpRequest) -> HttpResponse:
    """What each team carried."""
    who = request_context(request, "shared-costs")
    currency = who.organisation.currency
    cells = [
        [
            *(text_cell(row.cost), text_cell(row.team)),
            *(money_cell(row.last_micros, currency), money_cell(row.this_micros, currency)),
            currency,
        ]
        for row in tables(who)[1]
    ]
    return csv_answer("shared costs by team", TEAMS_HEADER, cells)


def _finding(costs: list[CostRow], who: Context) -> str:
    running = [row for row in costs if row.standing == IN_FORCE]
    if not running:
        return "No shared cost is in force."
    known = [row.this_micros for row in running if row.this_micros is not None]
    said = f"{counted(len(running), 'cost')} {'is' if len(running) == 1 else 'are'} shared"
    if not known:
        return f"{said}; nothing of this month is charged yet."
    return f"{said}: {whole_amount(sum(known), who.organisation.currency)} so far this month."
