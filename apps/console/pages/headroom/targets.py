"""Targets of activity: their table, and setting and removing one after a look."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import GPU_HOURS, MONEY, PROSE, RATIO, linked
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import AmountField, PickField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import CURRENCY_COLUMN, Column, Table
from apps.console.pages.headroom.switch import MOST_NAMED, headroom_tabs
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.targets import (
    ACTIVE,
    CLUSTER,
    POOL,
    SM_ACTIVE,
    TEAM,
    ActivityTargetFact,
    TargetFigures,
    activity_targets,
    target_figures,
)
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.words import joined

MEASURES = {ACTIVE: "active", SM_ACTIVE: "SM active"}
HUNDRED = Decimal(100)

TARGETS = Table[TargetFigures](
    "targets",
    "Targets of activity",
    (
        Column("of", "Of", lambda row: row.target.of, PROSE, note=lambda row: row.target.scope),
        Column("scope", "", lambda row: row.target.scope),
        Column("measure", "Share", lambda row: MEASURES[row.target.measure]),
        Column("target", "Target", lambda row: row.target.target, RATIO),
        Column("actual", "Actual", lambda row: row.actual, RATIO,
               warns=lambda row: (row.gap or 0) > 0 and "Below its target"),
        Column("held", "Held", lambda row: row.held_milliseconds, GPU_HOURS, csv="held_gpu_hours"),
        Column("gap", "Gap, GPU-hours", lambda row: row.gap_milliseconds, GPU_HOURS,
               csv="gap_gpu_hours"),
        Column("cost", "Gap, cost", lambda row: row.gap_micros, MONEY, csv="gap_cost"),
        Column("change", "Change", lambda row: "", csv="", sorts=False,
               shown=lambda row, _: linked(
                   "Remove", reverse("remove-activity-target", args=[row.target.id]))),
        CURRENCY_COLUMN,
    ),
    noun=("target", "targets"),
    about="{said}; of the GPU time that jobs held and somebody observed, in the last four whole weeks",
    empty="A target says which share of the GPU time that a cluster, a pool or a team holds is to be active, or SM "
    "active; the gap is what is lacking to it, in GPU-hours and money.",
    sort="targets",
)  # fmt: skip


@shown(SEES_EVERYTHING, "headroom")
def target_list(context: Context) -> ConsolePage:
    """Every target with what came."""
    targets = target_figures(activity_targets(), context.at)
    return ConsolePage(
        context=context,
        finding=_targets_finding(targets),
        tabs=headroom_tabs("activity-targets"),
        actions=(Link("Set a target", reverse("set-activity-target")),),
        sections=(TARGETS.section(targets, context, csv_href=reverse("activity-targets-csv")),),
    )


def _targets_finding(targets: Sequence[TargetFigures]) -> str:
    if not targets:
        return "No target of activity yet"
    missed = [row for row in targets if (row.gap or 0) > 0]
    if not missed:
        return f"{counted(len(targets), 'target')}, none of them missed"
    named = joined(
        [f"{row.target.of} ({MEASURES[row.target.measure]})" for row in missed[:MOST_NAMED]]
    )
    return f"{len(missed)} of {counted(len(targets), 'target')} missed: {named}"


@shown(SEES_EVERYTHING, "headroom")
def targets_csv(context: Context) -> HttpResponse:
    """Every target with what came."""
    return TARGETS.csv(target_figures(activity_targets(), context.at), context, "activity-targets")


class TargetForm(ChangeForm):
    """Of what, which share, and how much of it."""

    of = PickField("Of")
    measure = PickField("Share", {ACTIVE: "Active", SM_ACTIVE: "SM active"}, initial=ACTIVE)
    target = AmountField("Target, in per cent", example="70", is_needed=True)


@changing(SEES_EVERYTHING, "headroom")
def set_target(context: Context) -> Change[actions.NewActivityTarget]:
    """Says what came lately, then sets it."""

    def read(entered: Mapping[str, Any]) -> actions.NewActivityTarget:
        scope, _, key = entered["of"].partition(":")
        share = entered["target"] / HUNDRED
        thought = actions.NewActivityTarget(scope, int(key), entered["measure"], share)
        actions.check_activity_target(thought)
        return thought

    def apply(thought: actions.NewActivityTarget) -> Done:
        actions.set_activity_target(target=thought, at=context.at)
        return "The target is set.", ("activity-targets",)

    return Change(
        finding="Set a target of activity",
        explanation="One of each share: another takes its place.",
        back=_back(),
        form=TargetForm,
        confirm="Set this target",
        read=read,
        effects=lambda thought: _preview(thought, context),
        apply=apply,
        picks={"of": _scopes()},
    )


@changing(SEES_EVERYTHING, "headroom")
def remove_target(context: Context, target_id: int) -> Change[ActivityTargetFact]:
    """Says what is held against it no more, then removes it."""
    fact = value_or_404(
        next(
            (
                activity_target
                for activity_target in activity_targets()
                if activity_target.id == target_id
            ),
            None,
        )
    )

    def apply(_: ActivityTargetFact) -> Done:
        actions.remove_activity_target(target_id=fact.id)
        return "The target is removed.", ("activity-targets",)

    return Change(
        finding=f"Remove the target of {fact.scope} {fact.of}",
        explanation="The audit trail keeps what it was.",
        back=_back(),
        form=ChangeForm,
        confirm="Remove this target",
        read=lambda _: fact,
        effects=lambda _: (
            f"{per_cent(fact.target)} {MEASURES[fact.measure]} is asked of it no more.",
        ),
        apply=apply,
    )


def _back() -> Link:
    return Link("Back to targets", reverse("activity-targets"))


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


def _preview(thought: actions.NewActivityTarget, context: Context) -> ChangePreview:
    fact = ActivityTargetFact(
        0, thought.scope, thought.key, thought.measure, thought.target, context.at
    )
    (figures,) = target_figures([fact], context.at)
    stated = f"{per_cent(fact.target)} of what {fact.scope} {fact.of} holds is to be {MEASURES[fact.measure]}."
    if figures.actual is None:
        return ChangePreview((stated, "In the last four whole weeks nothing of it was observed."))
    actual_text = (
        f"In the last four whole weeks it was {per_cent(figures.actual)} of "
        f"{gpu_hours(figures.held_milliseconds)} GPU-hours."
    )
    return ChangePreview((stated, actual_text), same=(stated,))


urlpatterns = [
    path("headroom/targets", target_list, name="activity-targets"),
    path("headroom/targets.csv", targets_csv, name="activity-targets-csv"),
    path("headroom/targets/new", set_target, name="set-activity-target"),
    path("headroom/targets/<int:target_id>/remove", remove_target, name="remove-activity-target"),
]
