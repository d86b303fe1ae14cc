"""A rule to be made, with what it would move; a rule that is kept, with what its end would move."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import OrganisationFact, Viewer, organisation
from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.request import EVERYONE, MANAGES, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.ownership.names import Names, names
from apps.console.pages.ownership.previews import gain_preview, loss_preview
from apps.console.pages.ownership.rule_form import (
    RuleForm,
    asks_fields,
    cluster_options,
    field,
    owner_groups,
    read_form,
)
from apps.console.pages.ownership.values import KeptRulePage, Preview, RulePage
from apps.economics.hours import first_hour
from apps.show.amounts import counted, gpu_hours
from apps.show.money import whole_amount
from apps.workloads import queries as workloads

MOVES_HEADER = (*("from", "to", "jobs", "gpu_hours", "unpriced_gpu_hours", "cost", "currency"),)


@require_safe
@shown_to(MANAGES)
def new_rule(request: HttpRequest) -> HttpResponse:
    """The form, and below it what the rule would move, once it says whose the jobs are."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    chosen, called = organisation(), names(viewer)
    form = read_form(request.GET, called, chosen)
    return render(
        request, "ownership/new_rule.html", {"page": rule_page(request, form, called, at)}
    )


def rule_page(
    request: HttpRequest, form: RuleForm, called: Names, at: datetime, refusal: str = ""
) -> RulePage:
    """The page of a rule to be made; `refusal` is why it was not kept."""
    chosen = organisation()
    preview = None
    if form.rule is not None and form.is_asked and not refusal:
        moved = workloads.preview_rule(form.rule, at)
        preview = gain_preview(form.rule.rule, moved, called, form.first_day)
    said = form.problems if form.is_asked else {}
    problems = (*said.items(), *([("", refusal)] if refusal else []))
    return RulePage(
        frame=frame_of(request, chosen, "ownership", questions_waiting(at)),
        finding=_finding(form, called, preview, chosen),
        currency=chosen.currency,
        zone=ZoneInfo(chosen.zone),
        owners=owner_groups(called, form.given["owner"]),
        clusters=cluster_options(called, form.given["cluster"]),
        asks=asks_fields(form),
        priority=field(form, "priority", "Priority", "the lowest number is tried first"),
        first_day=field(form, "from", "From", "the first day; empty: since ever"),
        end_day=field(form, "to", "Until", "the day after the last; empty: open-ended"),
        problems=problems,
        kept=tuple((name, text) for name, text in form.given.items() if text),
        preview=preview,
        moves_href=f"{reverse('rule-moves')}?{request.GET.urlencode()}",
    )


@require_safe
@shown_to(MANAGES)
def rule_moves_csv(request: HttpRequest) -> HttpResponse:
    """What the rule that the address describes would move."""
    at = timezone.now()
    called = names(viewer_of_request(request))
    form = read_form(request.GET, called, organisation())
    if form.rule is None:
        raise Http404
    moved = workloads.preview_rule(form.rule, at)
    preview = gain_preview(form.rule.rule, moved, called, form.first_day)
    return csv_answer("what the rule would move", MOVES_HEADER, _move_cells(preview))


@require_safe
@shown_to(MANAGES)
def end_moves_csv(request: HttpRequest, rule_id: int) -> HttpResponse:
    """What the end of a rule, on the day in the address, would move."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    fact, called = visible_rule(rule_id, viewer), names(viewer)
    day, problem = end_day(request.GET.get("end", ""))
    if problem:
        raise Http404
    moved = workloads.preview_end(fact, ended_at(day, organisation(), at), at)
    preview = loss_preview(fact.rule, moved, called, day)
    return csv_answer(f"what ending rule {rule_id} moves", MOVES_HEADER, _move_cells(preview))


@require_safe
@shown_to(EVERYONE)
def rule_changes_csv(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Every change of a rule; who made it, for those who may know."""
    viewer = viewer_of_request(request)
    fact, called = visible_rule(rule_id, viewer), names(viewer)
    rows = [
        (each.at.isoformat(), "added" if each.is_new else "changed", text_cell(called.who(each)))
        for each in workloads.rule_changes([fact.rule.id])[fact.rule.id]
    ]
    return csv_answer(f"changes of rule {rule_id}", ("at", "what", "who"), rows)


def _move_cells(preview: Preview) -> Iterator[Sequence[str]]:
    currency = organisation().currency
    for row in preview.moves:
        yield (
            text_cell(row.from_owner),
            text_cell(row.to_owner),
            str(row.jobs),
            hours_cell(row.gpu_milliseconds),
            hours_cell(row.unpriced_milliseconds),
            money_cell(row.cost_micros, currency),
            currency,
        )


@require_safe
@shown_to(EVERYONE)
def rule(request: HttpRequest, rule_id: int) -> HttpResponse:
    """A rule of the viewer's teams; the platform may end it, and sees first what that moves."""
    at = timezone.now()
    viewer = viewer_of_request(request)
    fact = visible_rule(rule_id, viewer)
    page = kept_rule_page(request, fact, viewer, at)
    return render(request, "ownership/rule.html", {"page": page})


def visible_rule(rule_id: int, viewer: Viewer) -> workloads.RuleFact:
    """The rule; one of another team is as if it were not there."""
    for fact in workloads.rules():
        if fact.rule.id == rule_id and viewer.sees_team(fact.rule.team_id):
            return fact
    raise Http404


def kept_rule_page(
    request: HttpRequest, fact: workloads.RuleFact, viewer: Viewer, at: datetime
) -> KeptRulePage:
    """The page of a kept rule, with a preview of its end on the day in the address."""
    chosen, called = organisation(), names(viewer)
    changes = workloads.rule_changes([fact.rule.id])[fact.rule.id]
    row = called.row(fact, changes, at, reverse("rule", args=[fact.rule.id]))
    may_end = viewer.may_manage and (fact.ends_at is None or fact.ends_at > at)
    day, problem = end_day(request.GET.get("end", ""))
    waiting = questions_waiting(at) if viewer.sees_everything else 0
    preview = None
    if may_end and "end" in request.GET and not problem:
        moved = workloads.preview_end(fact, ended_at(day, chosen, at), at)
        preview = loss_preview(fact.rule, moved, called, day)
    return KeptRulePage(
        frame=frame_of(request, chosen, "ownership", waiting),
        finding=f"Jobs of {row.asks} belong to {called.owner(fact.rule.team_id, fact.rule.workload_id)}"
        + ("." if row.is_in_force else " while the rule is in force; now it is not."),
        currency=chosen.currency,
        zone=ZoneInfo(chosen.zone),
        rule=row,
        changes=tuple(
            (each.at, "Added" if each.is_new else "Changed", called.who(each)) for each in changes
        ),
        may_end=may_end,
        end_day=day,
        problem=problem,
        preview=preview,
        moves_href=f"{reverse('end-moves', args=[fact.rule.id])}?{request.GET.urlencode()}",
    )


def end_day(text: str) -> tuple[date | None, str]:
    """The local day from which a rule is to end (None: now), and what is wrong with it."""
    try:
        day = date.fromisoformat(text) if text else None
    except ValueError:
        return None, f"{text[:20]!r} is not a day such as 2026-11-01"
    if day is not None and not date(1970, 1, 1) <= day < date(3000, 1, 1):
        return None, "That day is out of reach."
    return day, ""


def ended_at(day: date | None, chosen: OrganisationFact, at: datetime) -> datetime:
    """The first hour of that day, or now."""
    return at if day is None else first_hour(day, chosen.zone)


def _finding(
    form: RuleForm, called: Names, preview: Preview | None, chosen: OrganisationFact
) -> str:
    if preview is None or form.rule is None:
        return "Whose jobs are these?"
    rule = form.rule.rule
    owner = called.owner(rule.team_id, rule.workload_id)
    if not preview.matched_jobs:
        return f"No job so far is of {called.asks(rule)}; those to come would belong to {owner}."
    if not preview.moves:
        jobs = counted(preview.matched_jobs, "job")
        return f"{jobs} of {called.asks(rule)}; none of them would change hands."
    hours = gpu_hours(preview.total.gpu_milliseconds)
    jobs = counted(preview.total.jobs, "job")
    micros = preview.total.cost_micros
    worth = "" if micros is None else f", {whole_amount(micros, chosen.currency)},"
    return f"{jobs} with {hours} GPU-hours{worth} would move to {owner}."
