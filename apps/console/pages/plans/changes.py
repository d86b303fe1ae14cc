"""Making plans, changing, copying and removing them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.urls import reverse

from apps.accounts.queries import managers
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entered import FormOf, entries_of
from apps.console.kit.entries import (
    AmountField,
    LinesField,
    PickField,
    TextField,
)
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.capacity_requests.changes import place_names
from apps.console.pages.plans import words
from apps.economics.refusal import Refusal
from apps.planning.actions import plans as actions
from apps.planning.actions.plans import LONGEST_DESCRIPTION
from apps.planning.queries.plan_outcomes import plan_outcome
from apps.planning.queries.plans import EnteredPlan, PlanEdit, PlanFact, PlanTerms, plans

REFUSALS = (Refusal, actions.WhatIfPlanExists)
FIELDS = {"pool": "place", "gpu_model": "place", "growth_per_month": "growth", "": "name"}
NO_PERSON = "token"


class PlanTermsForm(FormOf[PlanTerms]):
    """Form of the terms that every plan has, wherever it is."""

    description = LinesField(
        "What it is for", str, "Empty: nothing is said.", longest=LONGEST_DESCRIPTION
    )
    growth = AmountField(
        "Growth beyond the forecast, in per cent a month",
        "The forecast’s last seven days go on, growing by this.",
        "2",
        initial="0",
        is_needed=True,
    )


class NewPlanForm(PlanTermsForm):
    """A plan without its items."""

    field_order = ("name", "description", "place")
    place = PickField("In the pool, or of the GPU model")


class PlanEditForm(PlanTermsForm):
    """Form of what may change of a plan: all but where it is, which a copy may."""

    field_order = ("name", "description", "owner")
    owner = PickField("Owner")


class PlanCopyForm(ChangeForm):
    """Another plan of the same work."""

    name = TextField("Name of the copy", needed="Say what it is called.")
    place = PickField("In the pool, or of the GPU model")


@changing(SEES_EVERYTHING, "plans")
def make_plan(context: Context) -> Change[EnteredPlan]:
    """Says what there is without any planned work, then keeps the plan."""

    def read(entered: Mapping[str, Any]) -> EnteredPlan:
        pool_id, gpu_model = _place_entered(entered["place"])
        plan = EnteredPlan(**_terms_entered(entered), pool_id=pool_id, gpu_model=gpu_model)
        actions.check_plan(plan, context.at)
        return plan

    return Change(
        finding="Make a plan",
        explanation="Planned work on top of a forecast. Nothing follows from a plan: it is kept, and compared.",
        back=Link("Back to plans", reverse("plans")),
        form=NewPlanForm,
        confirm="Save the plan",
        read=read,
        effects=lambda plan: (
            f"{plan.name} is kept, of {plan.weeks} weeks from {plan.first_day:%Y-%m-%d}; planned work is added next.",
        ),
        apply=lambda plan: _store_plan(plan, context),
        refusals=REFUSALS,
        fields=FIELDS,
        picks={"place": place_names()},
        initial={"first_day": _next_monday(context)},
    )


@changing(SEES_EVERYTHING, "plans")
def change_plan(context: Context, plan_id: int) -> Change[PlanEdit]:
    """Says what the plan comes to under its new terms, then keeps them."""
    plan = get_plan_or_404(plan_id)
    people = managers()

    def read(entered: Mapping[str, Any]) -> PlanEdit:
        owner = entered["owner"]
        owner_id = plan.owner_id if owner == NO_PERSON else int(owner)
        edit = PlanEdit(**_terms_entered(entered), owner_id=owner_id)
        actions.check_edit(plan, edit, context.at)
        return edit

    def apply(edit: PlanEdit) -> Done:
        actions.change_plan(plan_id=plan_id, edit=edit, at=context.at)
        return f"{edit.name} is changed.", ("plan", plan_id)

    return Change(
        finding=f"Change {plan.name}",
        explanation=f"{words.place_of(plan)}, {words.span_of(plan)}. What is planned in it keeps its days.",
        back=back_to(plan),
        form=PlanEditForm,
        confirm="Save the change",
        read=read,
        effects=lambda edit: _edit_effects(plan, edit, context),
        apply=apply,
        refusals=REFUSALS,
        fields=FIELDS,
        picks={"owner": _owners(plan, people)},
        initial=entries_of(plan, PlanEditForm, context.zone)
        | {
            "owner": NO_PERSON if plan.owner_id not in people else str(plan.owner_id),
            "growth": f"{100 * plan.growth_per_month:.6g}",
        },
    )


@changing(SEES_EVERYTHING, "plans")
def copy_plan(context: Context, plan_id: int) -> Change[EnteredPlan]:
    """Says what the same work comes to there, then keeps it as a plan of its own."""
    plan = get_plan_or_404(plan_id)

    def read(entered: Mapping[str, Any]) -> EnteredPlan:
        copied = actions.variant_of(plan, entered["name"], *_place_entered(entered["place"]))
        actions.check_plan(copied, context.at)
        return copied

    return Change(
        finding=f"Copy {plan.name} as a variant",
        explanation="The same planned work, to be changed and compared; the plan itself stays as it is.",
        back=back_to(plan),
        form=PlanCopyForm,
        confirm="Save the copy",
        read=read,
        effects=lambda copied: _copy_effects(plan, copied, context),
        apply=lambda copied: _store_plan(copied, context),
        refusals=REFUSALS,
        fields=FIELDS,
        picks={"place": place_names()},
        initial={
            "name": f"{plan.name} (variant)",
            "place": f"pool:{plan.pool_id}" if plan.pool_id else f"model:{plan.gpu_model}",
        },
    )


@changing(SEES_EVERYTHING, "plans")
def remove(context: Context, plan_id: int) -> Change[Mapping[str, Any]]:
    """Forgets a plan with all that was planned in it."""
    plan = get_plan_or_404(plan_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.remove_plan(plan_id=plan_id)
        return f"{plan.name} is removed.", ("plans",)

    return Change(
        finding=f"Remove {plan.name}",
        explanation="What was planned in it stays in the audit trail alone; nothing else changes.",
        back=back_to(plan),
        form=ChangeForm,
        confirm="Remove this plan",
        read=lambda entered: entered,
        effects=lambda _: (f"{plan.name} and its {len(plan.items)} items are removed.",),
        apply=apply,
    )


def get_plan_or_404(plan_id: int) -> PlanFact:
    """The plan, or the page that there is none."""
    return value_or_404(next((plan for plan in plans() if plan.id == plan_id), None))


def back_to(plan: PlanFact) -> Link:
    """The way back to a plan."""
    return Link(f"Back to {plan.name}", reverse("plan", args=[plan.id]))


def _terms_entered(entered: Mapping[str, Any]) -> dict[str, Any]:
    terms = {name: entered[name] for name in ("name", "description", "first_day", "weeks")}
    return terms | {"growth_per_month": float(entered["growth"]) / 100}


def _store_plan(plan: EnteredPlan, context: Context) -> Done:
    plan_id = actions.keep_plan(plan=plan, by=context.viewer.person_id, at=context.at)
    return f"{plan.name} is kept.", ("plan", plan_id)


def _place_entered(place: str) -> tuple[int | None, str]:
    """The pool's id, or the GPU model."""
    kind, _, key = place.partition(":")
    return int(key) if kind == "pool" else None, key if kind == "model" else ""


def _owners(plan: PlanFact, people: Mapping[int, str]) -> dict[str, str]:
    """Return whose a plan may be: who it is now, and everybody of finance and platform."""
    now = {NO_PERSON: plan.owner} if plan.owner_id not in people else {}
    return now | {str(person_id): name for person_id, name in people.items()}


def _edit_effects(plan: PlanFact, edit: PlanEdit, context: Context) -> tuple[str, ...]:
    owner = plan.owner if edit.owner_id == plan.owner_id else managers()[edit.owner_id or 0]
    moved = (
        ("It is called {}, until now {}.", edit.name, plan.name),
        ("It is owned by {}, until now by {}.", owner, plan.owner),
    )
    effects = [template.format(new, old) for template, new, old in moved if new != old]
    if edit.description.strip() != plan.description:
        effects.append("What it is for is said anew.")
    wider = replace(
        plan,
        first_day=edit.first_day,
        weeks=edit.weeks,
        growth_per_month=edit.growth_per_month,
    )
    if wider != plan:
        effects.append(f"It is {words.span_of(wider)}, until now {words.span_of(plan)}.")
        before, after = plan_outcome(plan, context.at), plan_outcome(wider, context.at)
        effects += words.moved_effects(before, after, context.currency)
    return tuple(effects) or ("Nothing changes.",)


def _copy_effects(plan: PlanFact, copied: EnteredPlan, context: Context) -> tuple[str, ...]:
    there = replace(
        plan,
        name=copied.name,
        pool_id=copied.pool_id,
        pool=words.pool_name(copied.pool_id),
        gpu_model=copied.gpu_model,
    )
    effects = [f"{copied.name} is kept with {words.items_text(plan)}, in {words.place_of(there)}."]
    if (there.pool_id, there.gpu_model) != (plan.pool_id, plan.gpu_model):
        before, after = plan_outcome(plan, context.at), plan_outcome(there, context.at)
        effects += words.moved_effects(before, after, context.currency)
    return tuple(effects)


def _next_monday(context: Context) -> str:
    today = context.at.astimezone(context.zone).date()
    return (today + timedelta(days=8 - today.isoweekday())).isoformat()
