"""Promising something of a service, ending a promise, and saying that something changed."""

from datetime import timedelta
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts.queries import Role
from apps.console.pages.access import SEES_EVERYTHING, shown_to
from apps.console.pages.changes import ChangePage, Entries, as_entered, moment, one_of
from apps.console.pages.fleet.asking import Asking, asking
from apps.console.pages.frame import Link
from apps.console.pages.services.answering import budget_words, promise_words
from apps.console.pages.services.views import known
from apps.console.pages.services.words import CHANGES, MEASURES
from apps.show.amounts import counted, per_cent
from apps.workloads.actions import promises
from apps.workloads.queries import WorkloadFact
from apps.workloads.queries.promises import NewChange, NewObjective, objective_row
from apps.workloads.queries.requests import Attainment, attainment_if

CHANGING = SEES_EVERYTHING | {Role.LEAD}
"""Whoever answers for a service; `known` keeps them to those that they see."""
PROMISES = {**MEASURES, promises.AVAILABILITY: "Answered without an error"}
LOOKED_BACK = timedelta(days=28)
LONGEST_SECONDS = 1e6
REFUSALS = (
    promises.ObjectiveNotUnderstood,
    promises.ObjectiveExists,
    promises.ObjectiveAlreadyEnded,
)
changing = require_http_methods(["GET", "HEAD", "POST"])


@changing
@shown_to(CHANGING)
def add_objective(request: HttpRequest, service_id: int) -> HttpResponse:
    """Says how the promise would have been kept of late, then makes it."""
    who = asking(request, "services")
    fact = known(service_id, who)
    defaults = {"measure": "latency", "within_seconds": "2", "target": "99", "feature": ""}
    defaults |= {"budget_days": "28", "starts_at": _this_hour(who)}
    entries = Entries(_given(request), defaults)
    objective = _objective(entries, fact, who)
    if request.method == "POST" and objective is not None:
        try:
            promises.add_objective(objective=objective)
        except REFUSALS as refusal:
            entries.refused("measure", _sentence(refusal))
        else:
            messages.success(request, f"{fact.name} has an objective.")
            return redirect("service", service_id)
    page = ChangePage(
        frame=who.frame,
        finding=f"Add an objective to {fact.name}",
        explanation="The share of its requests that are answered in time, or without an error. The "
        "rest is its error budget.",
        back=Link(f"Back to {fact.name}", reverse("service", args=[service_id])),
        here=request.path,
        fields=(
            entries.choice("measure", "What is promised", PROMISES),
            entries.field("within_seconds", "Within, in seconds", hint="Not of errors."),
            entries.field("target", "For how many requests, in per cent"),
            entries.field("feature", "Of the feature", hint="Empty: of all of them."),
            entries.field("budget_days", "Days of the error budget"),
            entries.field("starts_at", f"From ({who.zone.key})", "datetime-local"),
        ),
        effects=_kept(objective, who) if objective is not None and not entries.problems else (),
        confirm=entries.confirm("Add this objective"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(CHANGING)
def end_objective(request: HttpRequest, service_id: int, objective_id: int) -> HttpResponse:
    """The promise counts no more from a moment on."""
    who = asking(request, "services")
    fact = known(service_id, who)
    row = objective_row(objective_id, who.viewer)
    if row is None or row["workload_id"] != service_id:
        raise Http404
    entries = Entries(_given(request), {"ended_at": _this_hour(who)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if request.method == "POST" and ended_at is not None:
        try:
            promises.end_objective(objective_id=objective_id, ended_at=ended_at)
        except REFUSALS as refusal:
            entries.refused("ended_at", _sentence(refusal))
        else:
            messages.success(request, "The objective has an end.")
            return redirect("service", service_id)
    page = ChangePage(
        frame=who.frame,
        finding=f"End an objective of {fact.name}",
        explanation="What was promised before stays as it was kept or broken.",
        back=Link(f"Back to {fact.name}", reverse("service", args=[service_id])),
        here=request.path,
        fields=(entries.field("ended_at", f"In force until ({who.zone.key})", "datetime-local"),),
        confirm=entries.confirm("End this objective"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(CHANGING)
def add_change(request: HttpRequest, service_id: int) -> HttpResponse:
    """Says that something changed, so that it stands beside the figures that it may explain."""
    who = asking(request, "services")
    fact = known(service_id, who)
    defaults = {"kind": "deploy", "name": "", "feature": "", "at": _this_hour(who)}
    entries = Entries(_given(request), defaults)
    kind = entries.read("kind", one_of(CHANGES))
    name = entries.read("name", _name)
    at = entries.read("at", moment(who.zone))
    if request.method == "POST" and kind and name and at:
        feature = entries.texts["feature"]
        change = NewChange(service_id, feature=feature, kind=kind, name=name, at=at)
        _, is_new = promises.record_change(change=change)
        messages.success(request, f"{name} is noted." if is_new else f"{name} was noted before.")
        return redirect("service", service_id)
    page = ChangePage(
        frame=who.frame,
        finding=f"Note a change of {fact.name}",
        explanation="A deployment, a model, a prompt or a setting: it is marked in the picture, and "
        "told beside findings of about that time.",
        back=Link(f"Back to {fact.name}", reverse("service", args=[service_id])),
        here=request.path,
        fields=(
            entries.choice("kind", "Kind", CHANGES),
            entries.field("name", "Name", hint="Such as a version."),
            entries.field("feature", "Of the feature", hint="Empty: of all of them."),
            entries.field("at", f"When ({who.zone.key})", "datetime-local"),
        ),
        confirm=entries.confirm("Note this change"),
    )
    return render(request, "components/change_page.html", {"page": page})


def _objective(entries: Entries, fact: WorkloadFact, who: Asking) -> NewObjective | None:
    """What was entered; None where a field says nothing that can be promised."""
    measure = entries.read("measure", one_of(PROMISES))
    within = None
    if measure != promises.AVAILABILITY:
        within = entries.read("within_seconds", partial(_number, most=LONGEST_SECONDS))
    target = entries.read("target", partial(_number, most=100))
    days = entries.read("budget_days", _days)
    starts_at = entries.read("starts_at", moment(who.zone))
    if entries.problems or measure is None or target is None or days is None or starts_at is None:
        return None
    objective = NewObjective(
        workload_id=fact.id,
        feature=entries.texts["feature"],
        measure=measure,
        within_seconds=within,
        target_ratio=round(target / 100, 9),
        starts_at=starts_at,
        budget_days=days,
    )
    try:
        promises.refuse_nonsense(objective)
    except promises.ObjectiveNotUnderstood as refusal:
        entries.refused("target", _sentence(refusal))
        return None
    return objective


def _kept(objective: NewObjective, who: Asking) -> tuple[str, ...]:
    found: Attainment = attainment_if(objective, (who.at - LOOKED_BACK, who.at))
    promised = promise_words(found)
    if found.met_ratio is None:
        return (f"{promised}. Nobody told of the last 28 days how it would have been kept.",)
    return (
        f"{promised}. Of {counted(found.requests, 'request')} in the last 28 days "
        f"{per_cent(found.met_ratio)} were so; error budget: {budget_words(found)}.",
    )


def _number(text: str, *, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("Say it in figures, as in 2.5.") from None
    if not 0 < number <= most:
        raise ValueError(f"It is more than 0 and no more than {most:,.0f}.")
    return number


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= promises.MOST_BUDGET_DAYS:
        raise ValueError(f"Say 1 to {promises.MOST_BUDGET_DAYS} days.")
    return int(text)


def _name(text: str) -> str:
    if not text:
        raise ValueError("Say what it is called.")
    return text


def _sentence(refusal: Exception) -> str:
    said = str(refusal)
    return f"{said[:1].upper()}{said[1:]}."


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _this_hour(who: Asking) -> str:
    return as_entered(who.at.replace(minute=0, second=0, microsecond=0), who.zone)
