"""The rows of plans and of their months."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from django.urls import reverse

from apps.console.kit.request import Context
from apps.console.pages.listed import By
from apps.console.pages.owned.values import HeldRow, MonthRow, PlanRow
from apps.ledger.queries.owned_plans import PlanMonth, PlanStanding, plan_months, plan_standings
from apps.pricing.queries.owned import OwnedPlanFact, clock_of
from apps.show.amounts import per_cent
from apps.show.money import quoted_amount

MICROS = 1_000_000
IN_SERVICE, TO_COME, ENDED = "in service", "to come", "ended"
PLAN_COLUMNS: Mapping[str, By[PlanRow]] = {
    "name": By("Plan", lambda row: row.name),
    "pool": By("Pool", lambda row: row.pool),
    "nodes": By("Nodes", lambda row: row.nodes, is_number=True),
    "purchase": By("Purchase", lambda row: row.purchase_micros, is_number=True),
    "off": By("Amortised", lambda row: row.written_off_micros, is_number=True),
    "left": By("Book value", lambda row: row.left_micros, is_number=True),
    "loaded": By("Fully loaded per GPU-hour", lambda row: row.loaded_micros, is_number=True),
    "marginal": By("Marginal per GPU-hour", lambda row: row.marginal_micros, is_number=True),
    "measured": By("Power measured", lambda row: row.measured),
    "standing": By("Plan status", lambda row: row.standing),
}


def plan_rows(who: Context) -> list[PlanRow]:
    """Every plan, by name."""
    return [plan_row(each, who) for each in plan_standings(who.at)]


def plan_row(standing: PlanStanding, who: Context) -> PlanRow:
    """One of them."""
    plan, month = standing.plan, standing.this_month
    return PlanRow(
        id=plan.id,
        name=plan.name,
        href=reverse("owned-plan", args=[plan.id]),
        pool=standing.pool,
        nodes=plan.nodes,
        purchase_micros=int(plan.purchase * MICROS),
        written_off_micros=standing.written_off_micros,
        left_micros=standing.left_micros,
        loaded_micros=_whole(month.loaded_per_gpu_hour),
        marginal_micros=_whole(month.marginal_per_gpu_hour),
        measured=_measured(standing),
        standing=_standing(plan, who),
        starts_at=plan.starts_at,
        ends_at=plan.ends_at,
    )


def month_rows(plan: OwnedPlanFact, who: Context) -> list[MonthRow]:
    """The last months of a plan, the newest first."""
    return [_month(each) for each in plan_months(plan, who.at)]


def cost_rows(plan: OwnedPlanFact) -> list[HeldRow]:
    """Monthly costs by name, then since when."""
    return [
        HeldRow(each.name, quoted_amount(each.monthly, plan.currency), each.starts_at, each.ends_at)
        for each in plan.costs
    ]


def tariff_rows(plan: OwnedPlanFact) -> list[HeldRow]:
    """Prices of a kilowatt-hour by since when, then by time of day."""
    return [
        HeldRow(
            f"from {clock_of(each.minute)}",
            quoted_amount(each.amount, plan.currency),
            each.starts_at,
            each.ends_at,
        )
        for each in plan.tariffs
    ]


def plain(amount: Decimal) -> str:
    """All its digits, and no more."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _month(month: PlanMonth) -> MonthRow:
    return MonthRow(
        month=month.month,
        depreciation_micros=month.owed.depreciation_micros,
        running_micros=month.owed.running_micros,
        power_micros=month.marginal_micros,
        unused_micros=month.unused_micros,
        loaded_micros=month.loaded_micros,
        unit_milliseconds=month.unit_ms,
        loaded_per_gpu_hour=_whole(month.loaded_per_gpu_hour),
        marginal_per_gpu_hour=_whole(month.marginal_per_gpu_hour),
    )


def _measured(standing: PlanStanding) -> str:
    if not standing.node_hours:
        return "no node in the last 24 h"
    return f"{per_cent(Fraction(standing.measured_hours, standing.node_hours))} of node-hours"


def _standing(plan: OwnedPlanFact, who: Context) -> str:
    if plan.holds(who.at):
        return IN_SERVICE
    return TO_COME if who.at < plan.starts_at else ENDED


def _whole(micros: Fraction | None) -> int | None:
    return None if micros is None else round(micros)
