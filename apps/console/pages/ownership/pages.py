"""Workloads and ownership, the list of what nobody owns, one rule, and their tables as CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries import teams
from apps.console.kit.cells import INSTANT
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.filters import period_filter, requested_window
from apps.console.kit.form import FormSection
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import PeriodWords, period_words
from apps.console.kit.request import EVERYONE, MANAGES, SEES_EVERYTHING, Context
from apps.console.kit.table import TableSection
from apps.console.pages.ownership import rules
from apps.console.pages.ownership.names import OwnerNames, names
from apps.console.pages.ownership.tables import (
    RULES,
    WORKLOADS,
    WorkloadCost,
    stated_rules,
    sum_costs,
    unowned_table,
    unowned_total,
    workload_costs,
)
from apps.economics.money import sum_of_known
from apps.economics.refusal import Refusal
from apps.ledger import queries as ledger
from apps.ledger.queries import UnownedWork
from apps.show.amounts import counted, gpu_hours, per_cent, share
from apps.show.money import rounded_amount
from apps.workloads.actions import workloads

KINDS = {kind: kind for kind in ("training", "serving", "batch", "notebook", "other")}
MOST_UNOWNED = 10
A_WORKLOAD = (
    "A workload is the stable thing that jobs are done for: a training programme, a service, a "
    "notebook fleet. {}"
)
NO_TEAM = EmptyState(
    "A workload is of a team",
    "Add the first team:",
    (Step("Teams stand beside people.", link=Link("Add a team", "/people/teams")),),
)


class WorkloadForm(ChangeForm):
    """A workload of a team, to which rules can then give jobs."""

    name = TextField("Name")
    team = PickField("Team")
    kind = PickField("Kind", KINDS, initial="training")


@shown(EVERYONE, "ownership")
def ownership(context: Context) -> ConsolePage:
    """Workloads by team with their cost, the rules, and the first of what nobody owns."""
    return _ownership_page(context)


@shown(SEES_EVERYTHING, "ownership")
def unowned(context: Context) -> ConsolePage:
    """Everything that nobody owns in the period."""
    window, reading = requested_window(context)
    period_text = period_words(window, context.calendar.today)
    called = names(context.viewer)
    rows = ledger.unowned_work(window, called.unowned_id)
    jobs = _unowned_jobs_href(window, called)
    table = unowned_table("sort", jobs, may_manage=context.viewer.may_manage)
    return ConsolePage(
        context=context,
        finding=_unowned_finding(rows, period_text, context.currency),
        under=_settled_words(window, period_text, context),
        filters=(period_filter(reading.texts, period_text),),
        problems=tuple(reading.problems),
        back=Link("Workloads and ownership", reverse("ownership")),
        sections=(
            table.section(
                rows,
                context,
                about="jobs without an owner: no ownership rule matches, by what a rule for them "
                "would ask",
                total=unowned_total(rows),
                csv_name="unowned",
            ),
        ),
    )


@acting(MANAGES, "ownership")
def add_workload(context: Context) -> Act:
    """A workload of a team, to which rules can then give jobs."""
    picks = _team_picks()

    def apply(entered: Mapping[str, Any]) -> Done:
        name, team, kind = entered["name"], entered["team"], entered["kind"]
        if not name:
            raise Refusal("name", "a workload needs a name")
        workloads.add_workload(name=name, team_id=int(team), kind=kind)
        return f"{name} is a workload of {picks[team]}. A rule gives it its jobs.", ("ownership",)

    form = WorkloadForm(context.sent, context, {"team": picks}, is_sent=True)
    return Act(form=form, apply=apply, page=lambda sent: _ownership_page(context, sent))


def _ownership_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The page as this viewer may see it, with what came of the form on it."""
    context, viewer = replace(context, path=reverse("ownership")), context.viewer
    window, reading = requested_window(context)
    period_text, called = period_words(window, context.calendar.today), names(viewer)
    costs = workload_costs(window, viewer, called)
    rows = [row._replace(href=context.onward(row.href)) for row in costs]
    nobodys = ledger.unowned_work(window, called.unowned_id) if viewer.sees_everything else []
    adds = (
        "Add the first below." if viewer.may_manage else "Somebody of the role platform adds them."
    )
    nobody = "anybody, so every job reads Unowned" if viewer.sees_everything else "your teams"
    is_provisional = any(row.is_provisional for row in rows)
    return ConsolePage(
        context=context,
        finding=_ownership_finding(rows, nobodys, period_text, context),
        under=(
            *_settled_words(window, period_text, context),
            *(["hours of the last two are provisional"] if is_provisional else []),
        ),
        filters=(period_filter(reading.texts, period_text),),
        problems=tuple(reading.problems),
        actions=(Link("Add a rule…", reverse("new-rule")),) if viewer.may_manage else (),
        sections=(
            _unowned_section(nobodys, _unowned_jobs_href(window, called), context)
            if viewer.sees_everything
            else None,
            WORKLOADS.section(
                rows,
                context,
                total=WorkloadCost("Total", "", "", *sum_costs(rows)),
                empty=A_WORKLOAD.format(adds),
                csv_name="workloads",
                csv_rows=lambda: costs,
            ),
            _workload_form(context, sent) if viewer.may_manage else None,
            RULES.section(
                stated_rules(viewer, called, context.at),
                context,
                empty=f"No rule assigns jobs to {nobody}.",
                csv_name="ownership rules",
            ),
        ),
    )


def _unowned_jobs_href(window: ledger.Window, called: OwnerNames) -> str:
    jobs = reverse("costs-team-jobs", args=[called.unowned_id])
    return f"{jobs}?{urlencode({'window': window.text})}"


def _unowned_section(rows: Sequence[UnownedWork], jobs_href: str, context: Context) -> TableSection:
    """The first of them; more are on the page of all."""
    table = unowned_table(
        "unowned", jobs_href, may_manage=context.viewer.may_manage, per_page=MOST_UNOWNED
    )
    every = Link(f"All {len(rows):,}", context.href(reverse("unowned")))
    return table.section(
        rows,
        context,
        about="jobs without an owner: no ownership rule matches, the highest cost first",
        links=(every,) if len(rows) > MOST_UNOWNED else (),
        csv=unowned_table("sort", jobs_href, may_manage=False).file(
            "unowned", context, lambda: rows
        ),
        is_shown=bool(rows),
    )


def _workload_form(context: Context, sent: ChangeForm | None) -> FormSection | EmptyState:
    picks = _team_picks()
    if not picks:
        return NO_TEAM
    form = WorkloadForm.opened(sent, context, picks={"team": picks})
    return form.section("workload", reverse("add-workload"), "Add", title="Add a workload")


def _team_picks() -> dict[str, str]:
    own_teams = sorted(
        (team for team in teams() if team.kind == "team"), key=lambda team: team.name
    )
    return {str(team.id): team.name for team in own_teams}


def _settled_words(
    window: ledger.Window, period_text: PeriodWords, context: Context
) -> tuple[str, ...]:
    """Of what the figures are, and how far they are settled."""
    settlement = ledger.settlement_status(window, context.at)
    settled = "nothing settled yet"
    if settlement.as_of is not None:
        settled = format_html("settled to {}", INSTANT.shown(settlement.as_of, context.locale))
    if settlement.pending_hours:
        settled = format_html("{}, {} pending", settled, counted(settlement.pending_hours, "hour"))
    return (f"Effective cost in {context.currency}", period_text.days, settled)


def _ownership_finding(
    rows: Sequence[WorkloadCost],
    nobodys: Sequence[UnownedWork],
    period: PeriodWords,
    context: Context,
) -> str:
    named, currency = [row for row in rows if row.name], context.currency
    sees_everything = context.viewer.sees_everything
    if not rows:
        subject = "Nobody" if sees_everything else "None of your teams"
        return f"{subject} has a workload or any cost yet."
    total_micros = sum_of_known(row.micros for row in rows)
    if total_micros is None:
        return f"{counted(len(named), 'workload')}; what they cost {period.within} is not known."
    spent = sum_of_known(row.micros for row in named) or 0
    sentence = f"No workload cost anything {period.within}"
    if spent:
        amount = rounded_amount(spent, currency)
        sentence = f"{counted(len(named), 'workload')} cost {amount} {period.within}"
    if not sees_everything:
        return f"{sentence}, of {rounded_amount(total_micros, currency)} that your teams’ GPU time cost."
    unowned_micros = sum_of_known(row.micros for row in nobodys)
    if not nobodys:
        return f"{sentence}, and every job has an owner."
    if unowned_micros is None:
        return f"{sentence}; jobs without an owner held GPUs that have no price."
    part = per_cent(share(unowned_micros, total_micros))
    return f"{sentence}; {rounded_amount(unowned_micros, currency)}, {part} of all, has no owner."


def _unowned_finding(rows: Sequence[UnownedWork], period: PeriodWords, currency: str) -> str:
    if not rows:
        return f"Every job {period.within} has an owner."
    micros, milliseconds, _ = sum_costs(rows)
    jobs = counted(sum(row.jobs for row in rows), "job")
    if micros is None:
        return f"{jobs} without an owner held {gpu_hours(milliseconds)} GPU-hours {period.within}."
    return f"{jobs} without an owner cost {rounded_amount(micros, currency)} {period.within}."


urlpatterns = [
    path("ownership", ownership, name="ownership"),
    path("ownership/workloads", add_workload, name="add-workload"),
    path("ownership/unowned", unowned, name="unowned"),
    *rules.urlpatterns,
]
