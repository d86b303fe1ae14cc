"""Hardware of one's own and its tables as CSV, for finance and platform."""

from collections.abc import Sequence
from decimal import Decimal

from django.urls import path, reverse

from apps.console.kit.cells import DAY_OR_INSTANT
from apps.console.kit.entries import amount_entered
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.owned import changes
from apps.console.pages.owned.tables import (
    COSTS,
    ENDED,
    MONTHS,
    TARIFFS,
    plan_status,
    plans_table,
    power_measured,
    rounded_micros,
)
from apps.ledger.queries.owned_plans import PlanStatus, plan_months, plan_standings
from apps.show.amounts import counted
from apps.show.money import full_amount, quoted_amount, rounded_amount, unit_cost


@shown(SEES_EVERYTHING, "owned-hardware")
def owned_hardware(context: Context) -> ConsolePage:
    """Every plan: what is written off, what is left, and what a GPU-hour costs."""
    standings = plan_standings(context.at)
    plans = plans_table(context.at)
    return ConsolePage(
        context=context,
        finding=_plans_finding(standings, context),
        under=(
            f"Amounts in {context.currency}; a GPU-hour is what it came to so far in "
            f"{context.at.astimezone(context.zone):%B %Y}: fully loaded with all that is owed, "
            "marginal with its power alone; power is measured as far as meters reported in the "
            "last 24 hours.",
        ),
        actions=(Link("Enter a plan", reverse("add-owned-plan")),),
        sections=(plans.section(standings, context, csv_name="owned hardware"),),
        empty=None if standings else _no_hardware(context),
    )


@shown(SEES_EVERYTHING, "owned-hardware")
def owned_plan(context: Context, owned_plan_id: int) -> ConsolePage:
    """One plan: its terms, its months, its costs and tariffs."""
    plan_summary = _get_plan_status_or_404(owned_plan_id, context)
    plan = plan_summary.plan
    return ConsolePage(
        context=context,
        finding=_plan_finding(plan_summary, context.currency),
        under=(f"Amounts in {context.currency}",),
        back=Link("All hardware of your own", reverse("owned-hardware")),
        actions=() if plan_status(plan, context.at) == ENDED else _plan_changes(plan.id),
        sections=(
            FactList(_plan_terms(plan_summary, context)),
            MONTHS.section(
                plan_months(plan, context.at),
                context,
                csv_name=f"owned plan {owned_plan_id} by month",
            ),
            COSTS.section(plan.costs, context),
            TARIFFS.section(plan.tariffs, context),
        ),
    )


def _no_hardware(context: Context) -> EmptyState:
    return EmptyState(
        title="No hardware was entered yet",
        sentence="Nodes that were bought cost what their plan says: the purchase less its salvage "
        "over its life, monthly costs, and power by meter and tariff. Each node-hour is then "
        "charged fully loaded, with its marginal cost beside it.",
        steps=(
            changes.owned_pool_step(context),
            Step(
                "Enter what its nodes cost.", link=Link("Enter a plan", reverse("add-owned-plan"))
            ),
        ),
    )


def _get_plan_status_or_404(plan_id: int, context: Context) -> PlanStatus:
    standings = plan_standings(context.at)
    return value_or_404(
        next(
            (plan_standing for plan_standing in standings if plan_standing.plan.id == plan_id), None
        )
    )


def _plans_finding(standings: Sequence[PlanStatus], context: Context) -> str:
    in_service = [
        plan_summary
        for plan_summary in standings
        if plan_status(plan_summary.plan, context.at) != ENDED
    ]
    if not in_service:
        return "No hardware of your own is in service."
    left = rounded_amount(
        sum(plan_summary.left_micros for plan_summary in in_service), context.currency
    )
    nodes = counted(sum(plan_summary.plan.nodes for plan_summary in in_service), "node")
    return f"{nodes} of your own, of which {left} is not written off yet."


def _plan_finding(plan_summary: PlanStatus, currency: str) -> str:
    month, name = plan_summary.this_month, plan_summary.plan.name
    if month.loaded_per_gpu_hour is None:
        return f"{name}: no GPU of it lived this month"
    loaded = unit_cost(rounded_micros(month.loaded_per_gpu_hour), currency)
    marginal = unit_cost(rounded_micros(month.marginal_per_gpu_hour), currency)
    return f"{name}: {loaded} a GPU-hour fully loaded this month, {marginal} of it power"


def _plan_terms(plan_summary: PlanStatus, context: Context) -> tuple[tuple[str, str], ...]:
    plan, currency = plan_summary.plan, context.currency
    until = plan.ends_at
    return (
        ("Pool", plan_summary.pool),
        ("Nodes", str(plan.nodes)),
        ("Purchase", quoted_amount(plan.purchase, currency)),
        ("Salvage", quoted_amount(plan.salvage, currency)),
        ("Life", f"{plan.life_months} months, straight line"),
        ("A node draws", f"{plan.watts:,} W by its plate"),
        ("PUE", amount_entered(Decimal(plan.pue))),
        ("Power measured", power_measured(plan_summary)),
        ("Amortised so far", full_amount(plan_summary.written_off_micros, currency)),
        ("Book value", full_amount(plan_summary.left_micros, currency)),
        ("In service from", DAY_OR_INSTANT.shown(plan.starts_at, context.locale)),
        ("To", DAY_OR_INSTANT.shown(until, context.locale) if until else "open-ended"),
    )


def _plan_changes(plan_id: int) -> tuple[Link, ...]:
    return (
        Link("Change costs or tariff", reverse("change-owned-plan", args=[plan_id])),
        Link("End this plan", reverse("end-owned-plan", args=[plan_id])),
    )


urlpatterns = [
    path("owned", owned_hardware, name="owned-hardware"),
    path("owned/new", changes.add_plan, name="add-owned-plan"),
    path("owned/<int:owned_plan_id>", owned_plan, name="owned-plan"),
    path("owned/<int:owned_plan_id>/change", changes.change_plan, name="change-owned-plan"),
    *changes.END.urlpatterns,
]
