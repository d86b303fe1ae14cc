"""The page of headroom: each policy with the GPUs it needs over its lead time, and those there."""

from collections.abc import Sequence

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import COUNT, FIGURE, PROSE, RATIO, WRAPPED, Locale, linked
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import CURRENCY_COLUMN, Table
from apps.console.pages.forecasts.words import describe_spans
from apps.console.pages.headroom import changes
from apps.console.pages.headroom.switch import MOST_NAMED, headroom_tabs
from apps.economics.gates import failure_of, labelled_gates
from apps.planning.queries.headroom import HeadroomFigures, headroom_of, headroom_policies
from apps.show.amounts import counted, per_cent
from apps.show.money import quoted_amount
from apps.show.words import joined
from apps.tables.column import Column

MOST_LISTED = 20
"""Of so many policies every gate is a line of the page: those that lack most; of all of them in the CSV and REST."""
DIMENSIONS = {"pool": "pool", "gpu_model": "GPU model", "workload_class": "class"}


def _ways_to_change(row: HeadroomFigures, _: Locale) -> str:
    policy_id = row.policy.id
    change = linked("Change", reverse("change-headroom-policy", args=[policy_id]))
    remove = linked("Remove", reverse("remove-headroom-policy", args=[policy_id]))
    return format_html("{} {}", change, remove)


def _costs_of(row: HeadroomFigures, locale: Locale) -> str:
    """`$6.00 / $2.00`."""
    short, idle = (
        quoted_amount(cost, locale.currency)
        for cost in (row.policy.short_cost, row.policy.idle_cost)
    )
    return f"{short} / {idle}"


def _demand_from(row: HeadroomFigures, locale: Locale) -> str:
    return describe_spans(row.spans, locale.zone)


def _waits_too_long(row: HeadroomFigures) -> bool | str:
    most = row.policy.most_waiting
    is_over = most is not None and row.waiting is not None and row.waiting > most
    return is_over and f"More than the {per_cent(most)} that may wait"


POLICIES = Table[HeadroomFigures](
    "policies",
    "Policies against the forecast",
    (
        Column("name", "Policy", lambda row: row.policy.name, PROSE,
               note=lambda row: f"{DIMENSIONS[row.policy.dimension]} {row.policy.of}"),
        Column("dimension", "", lambda row: row.policy.dimension),
        Column("of", "", lambda row: row.policy.of),
        Column("short_cost", "", lambda row: row.policy.short_cost),
        Column("idle_cost", "", lambda row: row.policy.idle_cost),
        Column("costs", "Short / idle, an hour", lambda row: row.policy.level, FIGURE, csv="",
               shown=_costs_of, sorts=False),
        Column("lead", "Lead time", lambda row: row.policy.lead_days, FIGURE, csv="lead_days",
               shown=lambda row, _: counted(row.policy.lead_days, "day")),
        Column("demand", "Demand forecast", lambda row: row.spans or None, WRAPPED, csv="demand_from",
               shown=_demand_from, written=_demand_from, sorts=False),
        Column("level", "Service level", lambda row: row.policy.level, RATIO, csv="service_level_ratio"),
        Column("for_cost", "Needed (cost)", lambda row: row.for_cost, COUNT,
               csv="needed_for_cost_gpus"),
        Column("for_waiting", "Needed (queue)", lambda row: row.for_waiting, COUNT,
               csv="needed_for_waiting_gpus",
               missing="–",
               note=lambda row: "" if row.policy.most_waiting is None
               else f"≤ {per_cent(row.policy.most_waiting)}"),
        Column("there", "There", lambda row: row.there, COUNT, csv="there_gpus"),
        Column("shortfall", "Shortfall", lambda row: row.shortfall, COUNT, csv="shortfall_gpus",
               warns=lambda row: (row.shortfall or 0) > 0),
        Column("waiting", "P(wait)", lambda row: row.waiting, RATIO, csv="waiting_ratio", missing="–",
               warns=_waits_too_long),
        Column("busiest", "", lambda row: row.busiest and round(row.busiest, 6), csv="busiest_gpus"),
        Column("gpus_per_job", "", lambda row: row.policy.gpus_per_job),
        Column("note", "", lambda row: row.policy.note),
        Column("gates", "", lambda row: failure_of(row.gates), csv="not_passed"),
        Column("change", "Change", lambda row: "", csv="", shown=_ways_to_change, sorts=False),
        CURRENCY_COLUMN,
    ),
    noun=("policy", "policies"),
    about="{said}; in GPUs, from the newest forecasts of demand over the lead time",
    sort="sort",
)  # fmt: skip


@shown(SEES_EVERYTHING, "headroom")
def headroom_list(context: Context) -> ConsolePage:
    """Every policy, those that lack most first."""
    as_listed = headroom_of(headroom_policies(), context.at)
    policies = sorted(as_listed, key=lambda row: -(row.shortfall or 0))
    return ConsolePage(
        context=context,
        finding=_finding(policies),
        under=(
            "Service level: the share of hours in which the GPUs suffice, from what being short costs "
            "against what idling costs. P(wait): the share of jobs that would wait in the busiest hour.",
        )
        if policies
        else (),
        tabs=headroom_tabs("headroom"),
        actions=(Link("Add a policy", reverse("add-headroom-policy")),),
        notes=tuple(
            note
            for row in policies
            for note in gate_notes(labelled_gates(row.policy.name, row.gates))
        ),
        sections=(
            POLICIES.section(
                policies,
                context,
                csv_name="headroom",
                csv_rows=lambda: as_listed,
            ),
            *(
                gate_list(row.gates, row.policy.name, f"gates-{row.policy.id}")
                for row in policies[:MOST_LISTED]
            ),
        ),
        empty=None if policies else _no_policy(),
    )


def _finding(policies: Sequence[HeadroomFigures]) -> str:
    if not policies:
        return "No headroom policy yet"
    short = [row for row in policies if (row.shortfall or 0) > 0]
    if short:
        named = [f"{row.policy.name} by {counted(row.shortfall or 0, 'GPU')}" for row in short]
        more = [f"{len(short) - MOST_NAMED} more"] if len(short) > MOST_NAMED else []
        return f"Capacity shortfall against policy: {joined([*named[:MOST_NAMED], *more])}"
    unknown = sum(row.shortfall is None for row in policies)
    met = len(policies) - unknown
    sentence = (
        f"{counted(met, 'policy', 'policies')} of {len(policies)} {'is' if met == 1 else 'are'} met"
    )
    return (
        f"{sentence}; of {unknown} there is no forecast with an interval" if unknown else sentence
    )


def _no_policy() -> EmptyState:
    return EmptyState(
        title="No headroom policy yet",
        sentence="How many GPUs to have ready follows from what it costs to be short of one, what an idle one "
        "costs, and how long more take to come. A policy says these three for a pool, a GPU model or a "
        "class of work; the forecast is then held against it.",
        steps=(
            Step(
                "It needs two costs of a GPU-hour and a lead time.",
                link=Link("Add a policy", reverse("add-headroom-policy")),
            ),
        ),
    )


urlpatterns = [
    path("headroom", headroom_list, name="headroom"),
    *changes.CHANGES.urlpatterns,
]
