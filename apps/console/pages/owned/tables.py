"""The tables of hardware of one's own: plans, the months of one, its monthly costs and tariffs."""

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    FIGURE,
    GPU_HOURS,
    MONEY,
    UNIT_COST,
    WRAPPED,
)
from apps.console.kit.table import Table
from apps.ledger.queries.owned_plans import PlanMonth, PlanStatus
from apps.pricing.queries.owned import OwnedCostFact, OwnedPlanFact, TariffFact, clock_of
from apps.show.amounts import per_cent
from apps.show.money import quoted_amount
from apps.tables.column import CURRENCY_COLUMN, Column

MICROS = 1_000_000
IN_SERVICE, TO_COME, ENDED = "in service", "to come", "ended"
NONE = "–"


def plan_status(plan: OwnedPlanFact, at: datetime) -> str:
    """Whether its hardware is in service at `at`."""
    if plan.holds(at):
        return IN_SERVICE
    return TO_COME if at < plan.starts_at else ENDED


def power_measured(plan_summary: PlanStatus) -> str:
    """Of how many node-hours of the last day meters told the power."""
    if not plan_summary.node_hours:
        return "no node in the last 24 h"
    return (
        f"{per_cent(Fraction(plan_summary.measured_hours, plan_summary.node_hours))} of node-hours"
    )


def rounded_micros(micros: Fraction | None) -> int | None:
    """Micro-units as amounts are shown."""
    return None if micros is None else round(micros)


def plans_table(at: datetime) -> Table[PlanStatus]:
    """Every plan, as it stands at `at`."""
    return Table[PlanStatus](
        "plans",
        "Plans",
        (
            Column("name", "Plan", lambda row: row.plan.name, WRAPPED,
                   href=lambda row: reverse("owned-plan", args=[row.plan.id])),
            Column("pool", "Pool", lambda row: row.pool),
            Column("nodes", "Nodes", lambda row: row.plan.nodes, COUNT),
            Column("purchase", "Purchase", lambda row: int(row.plan.purchase * MICROS), MONEY),
            Column("off", "Amortised", lambda row: row.written_off_micros, MONEY,
                   csv="written_off"),
            Column("left", "Book value", lambda row: row.left_micros, MONEY),
            Column("loaded", "Fully loaded per GPU-hour",
                   lambda row: rounded_micros(row.this_month.loaded_per_gpu_hour), UNIT_COST,
                   csv="loaded_per_gpu_hour", missing=NONE),
            Column("marginal", "Marginal per GPU-hour",
                   lambda row: rounded_micros(row.this_month.marginal_per_gpu_hour), UNIT_COST,
                   csv="marginal_per_gpu_hour", missing=NONE),
            CURRENCY_COLUMN,
            Column("measured", "Power measured", power_measured, csv="power_measured"),
            Column("standing", "Plan status", lambda row: plan_status(row.plan, at)),
            Column("starts_at", "", lambda row: row.plan.starts_at, DAY_OR_INSTANT),
            Column("ends_at", "", lambda row: row.plan.ends_at, DAY_OR_INSTANT),
        ),
        noun=("plan", "plans"),
        sort="sort",
    )  # fmt: skip


def _month_amount(key: str, text: str, micros: Callable[[PlanMonth], int]) -> Column[PlanMonth]:
    return Column(key, text, micros, MONEY)


MONTHS = Table[PlanMonth](
    "months",
    "Month by month",
    (
        Column("month", "Month", lambda row: f"{row.month:%B %Y}",
               written=lambda row, _: f"{row.month:%Y-%m}"),
        _month_amount("depreciation", "Depreciation", lambda row: row.owed.depreciation_micros),
        _month_amount("monthly_costs", "Monthly costs", lambda row: row.owed.running_micros),
        _month_amount("power", "Power", lambda row: row.marginal_micros),
        _month_amount("fully_loaded", "Fully loaded", lambda row: row.loaded_micros),
        _month_amount("no_node_carries", "Not tied to a node", lambda row: row.unused_micros),
        Column("gpu_hours", "GPU-hours", lambda row: row.unit_ms, GPU_HOURS),
        Column("loaded_per_gpu_hour", "Fully loaded per GPU-hour",
               lambda row: rounded_micros(row.loaded_per_gpu_hour), UNIT_COST, missing=NONE),
        Column("marginal_per_gpu_hour", "Marginal per GPU-hour",
               lambda row: rounded_micros(row.marginal_per_gpu_hour), UNIT_COST, missing=NONE),
        CURRENCY_COLUMN,
    ),
    about="as far as charged; fully loaded is depreciation, monthly costs and power",
    empty="It is not in service yet.",
    csv_first=("month", "depreciation", "monthly_costs", "power", "no_node_carries"),
)  # fmt: skip
COSTS = Table[OwnedCostFact](
    "costs",
    "Monthly costs",
    (
        Column("name", "Cost", lambda row: row.name, WRAPPED),
        Column("amount", "A month", lambda row: row.monthly, FIGURE,
               shown=lambda row, locale: quoted_amount(row.monthly, locale.currency)),
        Column("starts_at", "From", lambda row: row.starts_at, DAY_OR_INSTANT),
        Column("ends_at", "Until", lambda row: row.ends_at, DAY_OR_INSTANT, missing=NONE),
    ),
    about="owed whether or not a node runs",
    empty="None beside the purchase and its power.",
)  # fmt: skip
TARIFFS = Table[TariffFact](
    "tariffs",
    "Power",
    (
        Column("minute", "Time of day", lambda row: f"from {clock_of(row.minute)}", WRAPPED),
        Column("amount", "A kilowatt-hour", lambda row: row.amount, FIGURE,
               shown=lambda row, locale: quoted_amount(row.amount, locale.currency)),
        Column("starts_at", "From", lambda row: row.starts_at, DAY_OR_INSTANT),
        Column("ends_at", "Until", lambda row: row.ends_at, DAY_OR_INSTANT, missing=NONE),
    ),
    about="a kilowatt-hour by the local time of day, until the next one",
)  # fmt: skip
