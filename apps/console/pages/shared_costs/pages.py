"""Shared costs and what of them is allocated to teams, for finance and platform."""

from collections.abc import Sequence

from django.urls import path, reverse

from apps.console.kit.cells import linked
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.shared_costs import changes
from apps.console.pages.shared_costs.tables import (
    COSTS,
    ENDED,
    IN_FORCE,
    TEAMS,
    AllocatedCost,
    AllocatedShare,
    allocated_costs,
    shown_months,
)
from apps.show.amounts import counted
from apps.show.money import rounded_amount
from apps.show.time import month as month_words


@shown(SEES_EVERYTHING, "shared-costs")
def shared_costs(context: Context) -> ConsolePage:
    """Show what is shared, how, and to whom it was allocated last month and this month."""
    costs, teams = allocated_costs(context)
    page_href, shows_ended = reverse("shared-costs"), context.query.get("show") == "all"
    last, this = map(month_words, shown_months(context))
    when = f"in {last} and so far in {this}"
    other = linked("Without ended ones", page_href)
    if not shows_ended:
        other = linked("With ended ones", context.onward(f"{page_href}?show=all"))
    return ConsolePage(
        context=context,
        finding=_shared_finding(costs, teams, context.currency),
        under=(
            f"effective cost, in {context.currency}; each line says by what it was really allocated",
            other,
        ),
        actions=(
            Link("Add a shared cost", reverse("add-shared-cost")),
            Link("Share fees of bills", reverse("add-bill-rule")),
        ),
        sections=(
            COSTS.section(
                [row for row in costs if shows_ended or row.status != ENDED],
                context,
                about=f"{{said}}; allocated {when}",
                csv_name="shared costs",
                csv_rows=lambda: costs,
            ),
            TEAMS.section(
                teams,
                context,
                about=f"{{said}}; {when}",
                csv_name="shared costs by team",
                is_shown=bool(teams),
            ),
        ),
        main_table=COSTS.name,
    )


def _shared_finding(
    costs: Sequence[AllocatedCost], teams: Sequence[AllocatedShare], currency: str
) -> str:
    running = [row for row in costs if row.status == IN_FORCE]
    of_bills = [row for row in teams if row.is_of_bills]
    if not running and not of_bills:
        return "No shared cost is in force."
    shared: Sequence[AllocatedCost | AllocatedShare] = running or of_bills
    micros = [row.this_micros for row in shared if row.this_micros is not None]
    sentence = f"{counted(len(running), 'cost')} {'is' if len(running) == 1 else 'are'} shared"
    if not running:
        sentence = "Fees of bills are shared"
    if not micros:
        return f"{sentence}; nothing of this month is charged yet."
    return f"{sentence}: {rounded_amount(sum(micros), currency)} so far this month."


urlpatterns = [
    path("shared-costs", shared_costs, name="shared-costs"),
    path("shared-costs/new", changes.add_cost, name="add-shared-cost"),
    *changes.END.urlpatterns,
    path(
        "shared-costs/<int:shared_cost_id>/weights",
        changes.change_weights,
        name="change-shared-weights",
    ),
]
