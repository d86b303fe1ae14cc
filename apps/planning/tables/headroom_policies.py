"""The table of headroom policies against the forecast."""

from apps.economics.gates import failure_of
from apps.planning.queries.ahead_words import describe_spans
from apps.planning.queries.headroom import HeadroomFigures
from apps.show.amounts import counted, per_cent
from apps.show.cell_formats import FIGURE, PROSE, WRAPPED, CellLocale
from apps.show.money import quoted_amount
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table

DIMENSIONS = {"pool": "pool", "gpu_model": "GPU model", "workload_class": "class"}


def _costs_of(row: HeadroomFigures, locale: CellLocale) -> str:
    """`$6.00 / $2.00`."""
    short, idle = (
        quoted_amount(cost, locale.currency)
        for cost in (row.policy.short_cost, row.policy.idle_cost)
    )
    return f"{short} / {idle}"


def _demand_from(row: HeadroomFigures, locale: CellLocale) -> str:
    return describe_spans(row.spans, locale.zone)


def _most_waiting_note(row: HeadroomFigures) -> str:
    most = row.policy.most_waiting
    return "" if most is None else f"≤ {per_cent(most)}"


def _waits_too_long(row: HeadroomFigures) -> bool | str:
    most = row.policy.most_waiting
    is_over = most is not None and row.waiting is not None and row.waiting > most
    return is_over and f"More than the {per_cent(most)} that may wait"


HEADROOM_POLICIES = Table[HeadroomFigures](
    "policies",
    "Policies against the forecast",
    (
        Column("name", "Policy", field("policy.name"), PROSE,
               note=lambda row: f"{DIMENSIONS[row.policy.dimension]} {row.policy.of}"),
        Column("dimension", "", field("policy.dimension")),
        Column("of", "", field("policy.of")),
        Column("short_cost", "", field("policy.short_cost")),
        Column("idle_cost", "", field("policy.idle_cost")),
        Column("costs", "Short / idle, an hour", field("policy.level"), FIGURE, csv="",
               shown=_costs_of, sorts=False),
        Column("lead_days", "Lead time", field("policy.lead_days"), FIGURE, formerly=("lead",),
               shown=lambda row, _: counted(row.policy.lead_days, "day")),
        Column("demand_from", "Demand forecast", lambda row: row.spans or None, WRAPPED,
               shown=_demand_from, written=_demand_from, sorts=False),
        Column("service_level_ratio", "Service level", field("policy.level"), formerly=("level",),
               definition="of hours in which the GPUs are to suffice"),
        Column("needed_for_cost_gpus", "Needed (cost)", field("for_cost"), formerly=("for_cost",)),
        Column("needed_for_waiting_gpus", "Needed (queue)", field("for_waiting"), missing="–",
               note=_most_waiting_note, formerly=("for_waiting",)),
        Column("there_gpus", "There", field("there"), formerly=("there",)),
        Column("shortfall_gpus", "Shortfall", field("shortfall"), formerly=("shortfall",),
               definition="below 0: to spare", warns=lambda row: (row.shortfall or 0) > 0),
        Column("waiting_ratio", "P(wait)", field("waiting"), missing="–", formerly=("waiting",),
               definition="of jobs in the busiest hour expected", warns=_waits_too_long),
        Column("busiest_gpus", "", lambda row: row.busiest and round(row.busiest, 6)),
        Column("gpus_per_job", "", field("policy.gpus_per_job")),
        Column("note", "", field("policy.note")),
        Column("not_passed", "", lambda row: failure_of(row.gates)),
        CURRENCY_COLUMN,
        Column("id", "", field("policy.id")),
        Column("key", "", field("policy.key")),
        Column("most_waiting_ratio", "", field("policy.most_waiting_ratio"),
               definition="of jobs; null: nothing is promised"),
    ),
    noun=("policy", "policies"),
    about="{said}; in GPUs, from the newest forecasts of demand over the lead time",
    sort="sort",
    row=HeadroomFigures,
    unique=lambda row: (row.policy.name,),
)  # fmt: skip
