"""Promising something of a service, ending a promise, and saying that something changed."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.http import Http404
from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.change import Change, ChangeForm, changing
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import MomentField, ParsedField
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.annotations.marks import forget_annotations
from apps.console.pages.services.words import budget_words, promise_words
from apps.economics.serving import SERVICE_KINDS
from apps.show.amounts import counted, per_cent
from apps.workloads.actions import slos
from apps.workloads.queries import WorkloadFact, workloads
from apps.workloads.queries.answer_times import Attainment, attainment_if
from apps.workloads.queries.promises import EnteredObjective, objective_row
from apps.workloads.queries.requests import EnteredChange

CHANGING = SEES_EVERYTHING | {Role.LEAD}
"""Whoever answers for a service; `known` keeps them to those that they see."""
LOOKED_BACK = timedelta(days=28)
LONGEST_SECONDS = 1e6


def number_up_to(most: float) -> Callable[[str], float | None]:
    """Reads a number above 0 and no more than `most`; None for an empty text."""

    def read(text: str) -> float | None:
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            raise ValueError("Say it in figures, as in 2.5.") from None
        if not 0 < number <= most:
            raise ValueError(f"It is more than 0 and no more than {most:,.0f}.")
        return number

    return read


def _budget_days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= slos.MOST_BUDGET_DAYS:
        raise ValueError(f"Say 1 to {slos.MOST_BUDGET_DAYS} days.")
    return int(text)


class ObjectiveForm(FormOf[EnteredObjective]):
    """A share of requests that is promised."""

    within_seconds = ParsedField(
        "Within, in seconds", number_up_to(LONGEST_SECONDS), "Not of errors.", initial="2"
    )
    target = ParsedField("For how many requests, in per cent", number_up_to(100), initial="99")
    budget_days = ParsedField("Days of the error budget", _budget_days, initial="28")
    field_order = ("measure", "within_seconds", "target", "feature", "budget_days")


class ObjectiveEndForm(ChangeForm):
    """When a promise ends."""

    ended_at = MomentField("In force until", is_now=True)


class ServiceChangeForm(FormOf[EnteredChange]):
    """Something that changed."""

    field_order = ("kind", "name")


@changing(CHANGING, "services")
def add_objective(context: Context, service_id: int) -> Change[EnteredObjective]:
    """Says how the promise would have been kept of late, then makes it."""
    fact = get_service_or_404(service_id, context)

    def apply(objective: EnteredObjective) -> tuple[str, tuple[Any, ...]]:
        slos.add_objective(objective=objective)
        return f"{fact.name} has an objective.", ("service", service_id)

    return Change(
        finding=f"Add an objective to {fact.name}",
        explanation="The share of its requests that are answered in time, or without an error. The "
        "rest is its error budget.",
        back=_back_to(fact),
        form=ObjectiveForm,
        confirm="Add this objective",
        read=lambda entered: _objective_of(entered, fact),
        effects=lambda objective: _describe_attainment(objective, context),
        apply=apply,
        fields={"": "target", "target_ratio": "target"},
    )


@changing(CHANGING, "services")
def end_objective(
    context: Context, service_id: int, objective_id: int
) -> Change[Mapping[str, Any]]:
    """The promise counts no more from a moment on."""
    fact = get_service_or_404(service_id, context)
    row = objective_row(objective_id, context.viewer)
    if row is None or row["workload_id"] != service_id:
        raise Http404

    def apply(entered: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
        slos.end_objective(objective_id=objective_id, ended_at=entered["ended_at"])
        return "The objective has an end.", ("service", service_id)

    return Change(
        finding=f"End an objective of {fact.name}",
        explanation="What was promised before stays as it was kept or broken.",
        back=_back_to(fact),
        form=ObjectiveEndForm,
        confirm="End this objective",
        read=lambda entered: entered,
        apply=apply,
    )


@changing(CHANGING, "services")
def add_change(context: Context, service_id: int) -> Change[EnteredChange]:
    """Says that something changed, so that it stands beside the figures that it may explain."""
    fact = get_service_or_404(service_id, context)

    def apply(change: EnteredChange) -> tuple[str, tuple[Any, ...]]:
        _, is_new = slos.record_change(change=change)
        forget_annotations()
        message = f"{change.name} is noted." if is_new else f"{change.name} was noted before."
        return message, ("service", service_id)

    return Change(
        finding=f"Note a change of {fact.name}",
        explanation="A deployment, a model, a prompt or a setting: it is marked in the picture, and "
        "named beside anomalies of about that time.",
        back=_back_to(fact),
        form=ServiceChangeForm,
        confirm="Note this change",
        read=lambda entered: EnteredChange(service_id, **entered),
        apply=apply,
    )


def get_service_or_404(service_id: int, context: Context) -> WorkloadFact:
    """The service, or the page that there is none: another team's is as if it were not there."""
    service = workloads().get(service_id)
    if service is None or service.kind not in SERVICE_KINDS:
        raise Http404
    if not context.viewer.sees_team(service.team_id):
        raise Http404
    return service


def _back_to(fact: WorkloadFact) -> Link:
    return Link(f"Back to {fact.name}", reverse("service", args=[fact.id]))


def _objective_of(entered: Mapping[str, Any], fact: WorkloadFact) -> EnteredObjective:
    """Return the objective that was entered; refuse what cannot be promised."""
    is_error = entered["measure"] == slos.AVAILABILITY
    objective = EnteredObjective(
        workload_id=fact.id,
        feature=entered["feature"],
        measure=entered["measure"],
        within_seconds=None if is_error else entered["within_seconds"],
        target_ratio=round((entered["target"] or 0) / 100, 9),
        starts_at=entered["starts_at"],
        budget_days=entered["budget_days"],
    )
    slos.refuse_nonsense(objective)
    return objective


def _describe_attainment(objective: EnteredObjective, context: Context) -> tuple[str, ...]:
    attainment: Attainment = attainment_if(objective, (context.at - LOOKED_BACK, context.at))
    promised = promise_words(attainment)
    if attainment.met_ratio is None:
        return (f"{promised}. How it would have been kept in the last 28 days was not reported.",)
    return (
        f"{promised}. Of {counted(attainment.requests, 'request')} in the last 28 days "
        f"{per_cent(attainment.met_ratio)} were so; error budget: {budget_words(attainment)}.",
    )
