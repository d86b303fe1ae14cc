"""Hardware of one's own and its tables as CSV, for finance and platform."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.cells import hours_cell, moment_cell, money_cell, text_cell
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.listed import Asked, listed
from apps.console.pages.owned.rows import (
    ENDED,
    PLAN_COLUMNS,
    cost_rows,
    month_rows,
    plain,
    plan_row,
    plan_rows,
    tariff_rows,
)
from apps.console.pages.owned.values import OwnedPage, PlanPage, PlanRow
from apps.ledger.queries.owned_plans import PlanStanding, plan_standings
from apps.pricing.queries.owned import OwnedPlanFact
from apps.show.amounts import counted
from apps.show.money import quoted_amount, unit_cost, whole_amount

PLANS_HEADER = (
    *("plan", "pool", "nodes", "purchase", "written_off", "left", "loaded_per_gpu_hour"),
    *("marginal_per_gpu_hour", "currency", "power_measured", "standing", "starts_at", "ends_at"),
)
MONTHS_HEADER = (
    *("month", "depreciation", "monthly_costs", "power", "no_node_carries", "fully_loaded"),
    *("gpu_hours", "loaded_per_gpu_hour", "marginal_per_gpu_hour", "currency"),
)
EMPTY = EmptyState(
    title="No hardware was entered yet",
    sentence="Nodes that were bought cost what their plan says: the purchase less its salvage over "
    "its life, monthly costs, and power by meter and tariff. Each node-hour is then charged fully "
    "loaded, with its marginal cost beside it.",
    steps=(
        Step("Make a pool that is owned, with its nodes:", command="manage.py add_pool --help"),
        Step(
            "Enter what its nodes cost, on the page or from a file (docs/owned.md):",
            command="manage.py add_owned_plan FILE.toml",
        ),
    ),
)


@require_safe
@shown_to(SEES_EVERYTHING)
def owned_hardware(request: HttpRequest) -> HttpResponse:
    """Every plan: what is written off, what is left, and what a GPU-hour costs."""
    who = request_context(request, "owned-hardware")
    rows = plan_rows(who)
    asked = Asked(request.GET, reverse("owned-hardware"), part="plans", noun=("plan", "plans"))
    page = OwnedPage(
        frame=who.frame,
        finding=_finding(rows, who),
        currency=who.organisation.currency,
        month=f"{who.at.astimezone(who.zone):%B %Y}",
        plans=listed(rows, PLAN_COLUMNS, asked) if rows else None,
        new=Link("Enter a plan", reverse("add-owned-plan")),
        empty=None if rows else EMPTY,
    )
    return render(request, "owned/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def owned_csv(request: HttpRequest) -> HttpResponse:
    """Every plan."""
    who = request_context(request, "owned-hardware")
    currency = who.organisation.currency
    cells = [
        [
            *(text_cell(row.name), text_cell(row.pool), str(row.nodes)),
            *(money_cell(row.purchase_micros, currency),),
            *(money_cell(row.written_off_micros, currency), money_cell(row.left_micros, currency)),
            *(money_cell(row.loaded_micros, currency), money_cell(row.marginal_micros, currency)),
            *(currency, row.measured, row.standing),
            *(moment_cell(row.starts_at), moment_cell(row.ends_at)),
        ]
        for row in plan_rows(who)
    ]
    return csv_answer("owned hardware", PLANS_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def plan(request: HttpRequest, owned_plan_id: int) -> HttpResponse:
    """One plan: its terms, its months, its costs and tariffs."""
    who = request_context(request, "owned-hardware")
    standing = _found(owned_plan_id, who)
    row = plan_row(standing, who)
    page = PlanPage(
        frame=who.frame,
        finding=_about(row, who.organisation.currency),
        currency=standing.plan.currency,
        zone=who.zone,
        row=row,
        terms=_terms(standing.plan, row),
        months=tuple(month_rows(standing.plan, who)),
        costs=tuple(cost_rows(standing.plan)),
        tariffs=tuple(tariff_rows(standing.plan)),
        changes=_changes(row),
    )
    return render(request, "owned/plan.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def months_csv(request: HttpRequest, owned_plan_id: int) -> HttpResponse:
    """The months of one plan."""
    who = request_context(request, "owned-hardware")
    standing = _found(owned_plan_id, who)
    currency = standing.plan.currency
    cells = [
        [
            f"{row.month:%Y-%m}",
            *(
                money_cell(micros, currency)
                for micros in (
                    row.depreciation_micros,
                    row.running_micros,
                    row.power_micros,
                    row.unused_micros,
                    row.loaded_micros,
                )
            ),
            hours_cell(row.unit_milliseconds),
            money_cell(row.loaded_per_gpu_hour, currency),
            money_cell(row.marginal_per_gpu_hour, currency),
            currency,
        ]
        for row in month_rows(standing.plan, who)
    ]
    return csv_answer(f"owned plan {owned_plan_id} by month", MONTHS_HEADER, cells)


def _found(plan_id: int, who: Context) -> PlanStanding:
    for each in plan_standings(who.at):
        if each.plan.id == plan_id:
            return each
    raise Http404


def _finding(rows: list[PlanRow], who: Context) -> str:
    held = [row for row in rows if row.standing != ENDED]
    if not held:
        return "No hardware of your own is in service."
    left = whole_amount(sum(row.left_micros for row in held), who.organisation.currency)
    nodes = counted(sum(row.nodes for row in held), "node")
    return f"{nodes} of your own, of which {left} is not written off yet."


def _about(row: PlanRow, currency: str) -> str:
    if row.loaded_micros is None or row.marginal_micros is None:
        return f"{row.name}: no GPU of it lived this month"
    loaded = unit_cost(row.loaded_micros, currency)
    marginal = unit_cost(row.marginal_micros, currency)
    return f"{row.name}: {loaded} a GPU-hour fully loaded this month, {marginal} of it power"


def _terms(plan: OwnedPlanFact, row: PlanRow) -> tuple[tuple[str, str], ...]:
    return (
        ("Pool", row.pool),
        ("Nodes", str(plan.nodes)),
        ("Purchase", quoted_amount(plan.purchase, plan.currency)),
        ("Salvage", quoted_amount(plan.salvage, plan.currency)),
        ("Life", f"{plan.life_months} months, straight line"),
        ("A node draws", f"{plan.watts:,} W by its plate"),
        ("PUE", plain(plan.pue)),
        ("Power measured", row.measured),
    )


def _changes(row: PlanRow) -> tuple[Link, ...]:
    if row.standing == ENDED:
        return ()
    return (
        Link("Change costs or tariff", reverse("change-owned-plan", args=[row.id])),
        Link("End this plan", reverse("end-owned-plan", args=[row.id])),
    )
