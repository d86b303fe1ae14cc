"""The page of headroom: each policy with the GPUs it needs over its lead time, and those there."""

from collections.abc import Sequence

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import Locale, linked
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.headroom import changes
from apps.console.pages.headroom.switch import MOST_NAMED, headroom_tabs
from apps.economics.gates import labelled_gates
from apps.planning.queries.headroom import HeadroomFigures, headroom_of, headroom_policies
from apps.planning.tables.headroom_policies import HEADROOM_POLICIES
from apps.show.amounts import counted
from apps.show.words import joined
from apps.tables.column import Column

MOST_LISTED = 20
"""Of so many policies every gate is a line of the page: those that lack most; of all of them in the CSV and REST."""


def _ways_to_change(row: HeadroomFigures, _: Locale) -> str:
    policy_id = row.policy.id
    change = linked("Change", reverse("change-headroom-policy", args=[policy_id]))
    remove = linked("Remove", reverse("remove-headroom-policy", args=[policy_id]))
    return format_html("{} {}", change, remove)


POLICIES = Table.of(
    HEADROOM_POLICIES, Column("change", "Change", csv="", shown=_ways_to_change, sorts=False)
)


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
