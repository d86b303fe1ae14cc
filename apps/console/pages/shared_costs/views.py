"""Shared costs and what of them is allocated to teams, for finance and platform."""

from django.http import HttpResponse
from django.urls import reverse

from apps.console.kit.cells import linked
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.shared_costs.rows import COSTS, ENDED, IN_FORCE, TEAMS, months_of, tables
from apps.console.pages.shared_costs.values import CostRow
from apps.show.amounts import counted
from apps.show.money import whole_amount
from apps.show.time import month as month_words


@shown(SEES_EVERYTHING, "shared-costs")
def shared_costs(context: Context) -> ConsolePage:
    """What is shared, how, and to whom it was allocated last month and this month."""
    costs, teams = tables(context)
    here, shows_ended = reverse("shared-costs"), context.query.get("show") == "all"
    last, this = map(month_words, months_of(context))
    when = f"in {last} and so far in {this}"
    other = linked("Without ended ones", here)
    if not shows_ended:
        other = linked("With ended ones", f"{here}?show=all")
    shown_costs = [row for row in costs if shows_ended or row.standing != ENDED]
    return ConsolePage(
        context=context,
        finding=_finding(costs, context),
        under=(
            f"effective cost, in {context.currency}; each line says by what it was really allocated",
            other,
        ),
        actions=(Link("Add a shared cost", reverse("add-shared-cost")),),
        sections=(
            COSTS.section(
                shown_costs,
                context,
                about=f"{{said}}; allocated {when}",
                csv_href=reverse("shared-costs-csv"),
            ),
            TEAMS.section(
                teams, context, about=f"{{said}}; {when}", csv_href=reverse("shared-costs-teams")
            )
            if teams
            else None,
        ),
    )


@shown(SEES_EVERYTHING, "shared-costs")
def shared_costs_csv(context: Context) -> HttpResponse:
    """Every shared cost, ended ones too."""
    return COSTS.csv(tables(context)[0], context, "shared costs")


@shown(SEES_EVERYTHING, "shared-costs")
def teams_csv(context: Context) -> HttpResponse:
    """What was allocated to each team."""
    return TEAMS.csv(tables(context)[1], context, "shared costs by team")


def _finding(costs: list[CostRow], context: Context) -> str:
    running = [row for row in costs if row.standing == IN_FORCE]
    if not running:
        return "No shared cost is in force."
    known = [row.this_micros for row in running if row.this_micros is not None]
    said = f"{counted(len(running), 'cost')} {'is' if len(running) == 1 else 'are'} shared"
    if not known:
        return f"{said}; nothing of this month is charged yet."
    return f"{said}: {whole_amount(sum(known), context.currency)} so far this month."
