"""Targets of activity: their table, and setting and removing one after a look."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.console.kit.cells import linked
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import PickField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.headroom.switch import MOST_NAMED, headroom_tabs
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.targets import (
    CLUSTER,
    MEASURE_WORDS,
    POOL,
    TEAM,
    ActivityTargetFact,
    EnteredActivityTarget,
    TargetFigures,
    activity_targets,
    target_figures,
)
from apps.planning.tables.activity_targets import ACTIVITY_TARGETS
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.words import joined
from apps.tables.column import Column

HUNDRED = Decimal(100)

TARGETS = Table.of(
    ACTIVITY_TARGETS,
    Column("change", "Change", csv="", sorts=False,
           shown=lambda row, _: linked(
               "Remove", reverse("remove-activity-target", args=[row.target.id]))),
)  # fmt: skip


@shown(SEES_EVERYTHING, "headroom")
def target_list(context: Context) -> ConsolePage:
    """Every target with what came."""
    targets = target_figures(activity_targets(), context.at)
    return ConsolePage(
        context=context,
        finding=_targets_finding(targets),
        tabs=headroom_tabs("activity-targets"),
        actions=(Link("Set a target", reverse("add-activity-target")),),
        sections=(TARGETS.section(targets, context, csv_name="activity-targets"),),
    )


def _targets_finding(targets: Sequence[TargetFigures]) -> str:
    if not targets:
        return "No target of activity yet"
    missed = [row for row in targets if (row.gap or 0) > 0]
    if not missed:
        return f"{counted(len(targets), 'target')}, none of them missed"
    named = joined(
        [f"{row.target.of} ({MEASURE_WORDS[row.target.measure]})" for row in missed[:MOST_NAMED]]
    )
    return f"{len(missed)} of {counted(len(targets), 'target')} missed: {named}"


class TargetForm(FormOf[EnteredActivityTarget]):
    """Of what, which share, and how much of it."""

    of = PickField("Of")
    field_order = ("of", "measure", "target")


def _read(values: Mapping[str, Any], _: Context) -> EnteredActivityTarget:
    scope, _, key = values["of"].partition(":")
    return EnteredActivityTarget(scope, int(key), values["measure"], values["target"] / HUNDRED)


def _scopes() -> dict[str, str]:
    pools = [pool for pool in fleet.pools().values() if not pool.counts_cores]
    named = {
        CLUSTER: [(cluster.name, cluster.id) for cluster in fleet.clusters().values()],
        POOL: [(pool.name, pool.id) for pool in pools],
        TEAM: [(team.name, team.id) for team in accounts.teams()],
    }
    return {
        f"{scope}:{key}": f"{scope.title()} {name}"
        for scope, options in named.items()
        for name, key in sorted(options)
    }


def _preview(
    target: EnteredActivityTarget, context: Context, _: ActivityTargetFact | None
) -> ChangePreview:
    fact = ActivityTargetFact(**fields_of(target), id=0, created_at=context.at)
    (figures,) = target_figures([fact], context.at)
    stated = f"{per_cent(fact.target)} of what {fact.scope} {fact.of} holds is to be {MEASURE_WORDS[fact.measure]}."
    if figures.actual_ratio is None:
        return ChangePreview((stated, "In the last four whole weeks nothing of it was observed."))
    actual_text = (
        f"In the last four whole weeks it was {per_cent(figures.actual_ratio)} of "
        f"{gpu_hours(figures.held_milliseconds)} GPU-hours."
    )
    return ChangePreview((stated, actual_text), same=(stated,))


CHANGES = EnteredPages[EnteredActivityTarget, ActivityTargetFact](
    noun="a target of activity",
    name=lambda target: f"the target of {target.scope} {target.of}",
    explanation="One of each share: another takes its place.",
    back=("Back to targets", "activity-targets"),
    key="activity-target",
    address="headroom/targets",
    roles=SEES_EVERYTHING,
    active_entry="headroom",
    shape=EnteredActivityTarget,
    form=TargetForm,
    find=lambda _, target_id: next(
        (fact for fact in activity_targets() if fact.id == target_id), None
    ),
    check=lambda target, _: actions.check_activity_target(target),
    add=lambda target, context: actions.set_activity_target(target=target, at=context.at),
    remove=lambda target_id, _: actions.remove_activity_target(target_id=target_id),
    effects=_preview,
    effects_of_removal=lambda fact, _: (
        f"{per_cent(fact.target)} {MEASURE_WORDS[fact.measure]} is asked of it no more.",
    ),
    read=_read,
    picks=lambda _: {"of": _scopes()},
    verb="Set",
    is_entered="is set",
)

urlpatterns = [
    path("headroom/targets", target_list, name="activity-targets"),
    *CHANGES.urlpatterns,
]
