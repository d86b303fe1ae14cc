"""Workloads and ownership, the list of what nobody owns, and their tables as CSV."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import Viewer
from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.frame import Frame
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.listed import Asked, listed
from apps.console.pages.ownership.lists import (
    RULE_ASKS,
    RULE_COLUMNS,
    UNOWNED_COLUMNS,
    WORKLOAD_COLUMNS,
    rule_rows,
    unowned_rows,
    unowned_total,
    workload_rows,
    workload_total,
)
from apps.console.pages.ownership.names import Names, names
from apps.console.pages.ownership.period import Period, period_asked
from apps.console.pages.ownership.values import (
    Option,
    OwnershipPage,
    UnownedPage,
    UnownedRow,
    WorkloadRow,
)
from apps.economics.money import sum_of_known
from apps.ledger.queries import standing
from apps.show.amounts import counted, per_cent, share
from apps.show.amounts import gpu_hours as hours_of
from apps.show.money import whole_amount

KINDS = ("training", "serving", "batch", "notebook", "other")
MOST_UNOWNED = 10


@require_safe
@shown_to(EVERYONE)
def ownership(request: HttpRequest) -> HttpResponse:
    """Workloads by team with their cost, the rules, and the first of what nobody owns."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    asked = period_asked(request.GET, at)
    page = ownership_page(request.GET, asked, viewer, frame(request, asked, viewer, at), at)
    return render(request, "ownership/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def unowned(request: HttpRequest) -> HttpResponse:
    """Everything that nobody owns in the period."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    asked = period_asked(request.GET, at)
    known = standing(asked.window, at)
    rows = unowned_rows(asked.window, names(viewer))
    shown = Asked(request.GET, reverse("unowned"))
    page = UnownedPage(
        frame=frame(request, asked, viewer, at),
        finding=_unowned_finding(rows, asked),
        period=asked.words.days,
        currency=asked.organisation.currency,
        zone=ZoneInfo(asked.organisation.zone),
        filters=asked.filters,
        problems=asked.problems,
        settled_to=known.as_of,
        pending_hours=known.pending_hours,
        rows=listed(rows, UNOWNED_COLUMNS, shown),
        total=unowned_total(rows),
        may_manage=viewer.may_manage,
        csv_query=asked.query,
        sort=shown.sort,
    )
    return render(request, "ownership/unowned.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def workloads_csv(request: HttpRequest) -> HttpResponse:
    """The table of workloads: a row for each, with every micro-unit."""
    viewer = viewer_of_request(request)
    asked = period_asked(request.GET, timezone.now())
    currency = asked.organisation.currency
    header = ("team", "workload", "kind", "cost", "currency", "gpu_hours", "unpriced_gpu_hours")
    rows = [
        (
            text_cell(row.team),
            text_cell(row.name),
            row.kind,
            money_cell(row.cost_micros, currency),
            currency,
            hours_cell(row.gpu_milliseconds),
            hours_cell(row.unpriced_milliseconds),
        )
        for row in workload_rows(asked.window, viewer, names(viewer))
    ]
    return csv_answer("workloads", header, rows)


@require_safe
@shown_to(EVERYONE)
def rules_csv(request: HttpRequest) -> HttpResponse:
    """The table of rules."""
    viewer = viewer_of_request(request)
    header = ("priority", "asks", "team", "workload", "from", "to", "said_by", "said_at")
    rows = [
        (
            str(row.priority),
            text_cell(row.asks),
            text_cell(row.team),
            text_cell(row.workload),
            *(moment.isoformat() if moment else "" for moment in (row.starts_at, row.ends_at)),
            text_cell(row.said_by),
            row.said_at.isoformat() if row.said_at else "",
        )
        for row in rule_rows(viewer, names(viewer), timezone.now())
    ]
    return csv_answer("ownership rules", header, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def unowned_csv(request: HttpRequest) -> HttpResponse:
    """The table of what nobody owns."""
    viewer = viewer_of_request(request)
    asked = period_asked(request.GET, timezone.now())
    currency = asked.organisation.currency
    header = ("cluster", *RULE_ASKS, "jobs", "cost", "currency", "gpu_hours", "unpriced_gpu_hours")
    rows = [
        (
            text_cell(row.cluster),
            *(text_cell(getattr(row, name)) for name in RULE_ASKS),
            str(row.jobs),
            money_cell(row.cost_micros, currency),
            currency,
            hours_cell(row.gpu_milliseconds),
            hours_cell(row.unpriced_milliseconds),
        )
        for row in unowned_rows(asked.window, names(viewer))
    ]
    return csv_answer("unowned", header, rows)


def frame(request: HttpRequest, asked: Period, viewer: Viewer, at: datetime) -> Frame:
    """The frame; what waits in Setup concerns only those who see everything."""
    waiting = questions_waiting(at) if viewer.sees_everything else 0
    return frame_of(request, asked.organisation, "ownership", waiting)


def ownership_page(
    given: QueryDict, asked: Period, viewer: Viewer, framed: Frame, at: datetime
) -> OwnershipPage:
    """The page as this viewer may see it."""
    here = reverse("ownership")
    of_workloads = Asked(given, here, part="workloads")
    of_unowned = Asked(given, here, name="unowned", part="unowned", per_page=MOST_UNOWNED)
    called = names(viewer)
    rows = workload_rows(asked.window, viewer, called)
    nobodys = unowned_rows(asked.window, called) if viewer.sees_everything else ()
    known = standing(asked.window, at)
    teams = sorted(called.teams.values(), key=lambda team: team.name)
    return OwnershipPage(
        frame=framed,
        finding=_finding(rows, nobodys, viewer, asked),
        period=asked.words.days,
        currency=asked.organisation.currency,
        zone=ZoneInfo(asked.organisation.zone),
        filters=asked.filters,
        problems=asked.problems,
        settled_to=known.as_of,
        pending_hours=known.pending_hours,
        workloads=listed(rows, WORKLOAD_COLUMNS, of_workloads),
        total=workload_total(rows),
        rules=listed(
            rule_rows(viewer, called, at), RULE_COLUMNS, Asked(given, here, "rules", "rules")
        ),
        sees_everything=viewer.sees_everything,
        may_manage=viewer.may_manage,
        has_provisional=any(row.is_provisional for row in rows),
        unowned=listed(nobodys, UNOWNED_COLUMNS, of_unowned) if nobodys else None,
        teams=_team_options(called) if teams else (),
        kinds=tuple(Option(kind, kind, is_chosen=kind == "training") for kind in KINDS),
        csv_query=asked.query,
        sort=of_workloads.sort,
    )


def _team_options(called: Names) -> tuple[Option, ...]:
    own = [team for team in called.teams.values() if team.kind == "team"]
    ordered = sorted(own, key=lambda team: team.name)
    return tuple(Option(str(team.id), team.name, is_chosen=False) for team in ordered)


def _finding(
    rows: tuple[WorkloadRow, ...], nobodys: tuple[UnownedRow, ...], viewer: Viewer, asked: Period
) -> str:
    named = [row for row in rows if row.name]
    if not rows:
        whose = "Nobody" if viewer.sees_everything else "None of your teams"
        return f"{whose} has a workload or any cost yet."
    whole = sum_of_known(row.cost_micros for row in rows)
    if whole is None:
        return (
            f"{counted(len(named), 'workload')}; what they cost {asked.words.within} is not known."
        )
    spent = sum_of_known(row.cost_micros for row in named) or 0
    said = f"No workload cost anything {asked.words.within}"
    if spent:
        amount = whole_amount(spent, _currency(asked))
        said = f"{counted(len(named), 'workload')} cost {amount} {asked.words.within}"
    if not viewer.sees_everything:
        return f"{said}, of {whole_amount(whole, _currency(asked))} that your teams’ GPU time cost."
    unowned_micros = sum_of_known(row.cost_micros for row in nobodys)
    if not nobodys:
        return f"{said}, and every job has an owner."
    if unowned_micros is None:
        return f"{said}; jobs without an owner held GPUs that have no price."
    part = per_cent(share(unowned_micros, whole))
    return f"{said}; {whole_amount(unowned_micros, _currency(asked))}, {part} of all, has no owner."


def _unowned_finding(rows: tuple[UnownedRow, ...], asked: Period) -> str:
    if not rows:
        return f"Every job {asked.words.within} has an owner."
    micros = sum_of_known(row.cost_micros for row in rows)
    jobs = counted(sum(row.jobs for row in rows), "job")
    if micros is None:
        hours = hours_of(sum(row.gpu_milliseconds for row in rows))
        return f"{jobs} without an owner held {hours} GPU-hours {asked.words.within}."
    amount = whole_amount(micros, _currency(asked))
    return f"{jobs} without an owner cost {amount} {asked.words.within}."


def _currency(asked: Period) -> str:
    return asked.organisation.currency
