"""Making plans, adding planned work to them and taking it out again."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import (
    AmountField,
    DayField,
    NumberField,
    ParsedField,
    PickField,
    TextField,
    WholeField,
)
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, found_or_404
from apps.console.pages.capacity_requests.changes import place_names
from apps.console.pages.plans import words
from apps.economics.refusal import Refusal
from apps.planning.actions import plans as actions
from apps.planning.actions.plans import NewPlan
from apps.planning.queries.plan_items import (
    LaunchWork,
    NewPlannedItem,
    PlannedInputs,
    PriceChange,
    TrainingWork,
    measured_mfu,
    measured_throughput,
)
from apps.planning.queries.plans import (
    PlanFact,
    PlannedItemFact,
    plan_of_id,
    plan_outcome,
    priced_window,
)
from apps.show.money import whole_amount

REFUSALS = (Refusal, actions.WhatIfPlanExists)
FIELDS = {"pool": "place", "gpu_model": "place"}


def _amount(text: str) -> float:
    """Reads `7e9`, `1.4e13` or `250000`."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise ValueError("Say it in figures, as in 7e9.") from None


def _optional_amount(text: str) -> float | None:
    return _amount(text) if text else None


def _weekly_amounts(text: str) -> tuple[float, ...]:
    """Reads `1e6; 2e6; 2.5e6`."""
    return tuple(_amount(part) for part in text.split(";") if part.strip())


class NewPlanForm(ChangeForm):
    """A plan without its items."""

    name = TextField("Name", needed="Say what it is called.")
    place = PickField("In the pool, or of the GPU model")
    first_day = DayField("From", "Its weeks begin on this weekday.")
    weeks = WholeField("For how many weeks", initial="26", is_needed=True)
    growth = AmountField(
        "Growth beyond the forecast, in per cent a month",
        "The forecast’s last seven days go on, growing by this.",
        "2",
        initial="0",
        is_needed=True,
    )


class PlannedForm(ChangeForm):
    """What every item has."""

    name = TextField("Name", needed="Say what it is called.")
    starts_on = DayField("From")


class TrainingForm(PlannedForm):
    """A training: 6 × parameters × tokens operations."""

    parameters = ParsedField("Parameters", _amount, "Those active on each token, as in 7e9.")
    tokens = ParsedField("Tokens", _amount, "As in 2e12.")
    gpus = WholeField("On how many GPUs", is_needed=True)
    mfu = AmountField("MFU assumed, in per cent", "Or the run below, not both.", "40")
    like_run = TextField("Or the MFU measured of the run", "Its key.")


class LaunchForm(PlannedForm):
    """A launch: requests by week."""

    requests = ParsedField(
        "Requests by week", _weekly_amounts, "As in 1e6; 2e6; 2.5e6. The last week goes on."
    )
    tokens_per_request = ParsedField("Tokens a request", _amount, "Prompt and output.")
    tokens_per_gpu_hour = ParsedField(
        "Tokens a GPU-hour, assumed", _optional_amount, "Or the service below, not both."
    )
    like_service = TextField("Or as measured of the service", "In the last 28 days.")


class PriceChangeForm(PlannedForm):
    """A price change."""

    factor: NumberField = AmountField(
        "The price is multiplied by", "0.9: a tenth less.", "0.9", is_needed=True
    )


@changing(SEES_EVERYTHING, "plans")
def make_plan(context: Context) -> Change[NewPlan]:
    """Says what there is without any planned work, then keeps the plan."""

    def read(entered: Mapping[str, Any]) -> NewPlan:
        kind, _, key = entered["place"].partition(":")
        plan = NewPlan(
            name=entered["name"],
            pool_id=int(key) if kind == "pool" else None,
            gpu_model=key if kind == "model" else "",
            first_day=entered["first_day"],
            weeks=entered["weeks"],
            growth_per_month=float(entered["growth"]) / 100,
        )
        actions.check_plan(plan, context.at)
        return plan

    def apply(plan: NewPlan) -> Done:
        made = actions.keep_plan(plan=plan, by=context.viewer.person_id, at=context.at)
        return f"{plan.name} is kept.", ("plan", made)

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
        apply=apply,
        refusals=REFUSALS,
        fields=FIELDS | {"growth_per_month": "growth", "": "name"},
        picks={"place": place_names()},
        initial={"first_day": _next_monday(context)},
    )


@changing(SEES_EVERYTHING, "plans")
def add_training(context: Context, plan_id: int) -> Change[NewPlannedItem]:
    """Says what the training adds, then adds it."""

    def inputs_of(entered: Mapping[str, Any]) -> PlannedInputs:
        assumed, run = entered["mfu"], entered["like_run"]
        if (assumed is None) == (not run):
            raise Refusal("mfu", "say an MFU, or a run that it was measured of")
        mfu = measured_mfu(run) if assumed is None else float(assumed) / 100
        return TrainingWork(entered["gpus"], entered["parameters"], entered["tokens"], mfu, run)

    return _addition(context, plan_id, "training", TrainingForm, inputs_of)


@changing(SEES_EVERYTHING, "plans")
def add_launch(context: Context, plan_id: int) -> Change[NewPlannedItem]:
    """Says what the launch adds, then adds it."""

    def inputs_of(entered: Mapping[str, Any]) -> PlannedInputs:
        assumed, service = entered["tokens_per_gpu_hour"], entered["like_service"]
        if (assumed is None) == (not service):
            raise Refusal(
                "tokens_per_gpu_hour", "say the tokens, or a service they were measured of"
            )
        if assumed is None:
            assumed = measured_throughput(service, priced_window(context.at))
        return LaunchWork(entered["requests"], entered["tokens_per_request"], assumed, service)

    return _addition(context, plan_id, "launch", LaunchForm, inputs_of)


@changing(SEES_EVERYTHING, "plans")
def add_price(context: Context, plan_id: int) -> Change[NewPlannedItem]:
    """Says what the price change moves, then adds it."""
    return _addition(
        context,
        plan_id,
        "price change",
        PriceChangeForm,
        lambda entered: PriceChange(float(entered["factor"])),
    )


@changing(SEES_EVERYTHING, "plans")
def remove(context: Context, plan_id: int) -> Change[Mapping[str, Any]]:
    """Forgets a plan with all that was planned in it."""
    plan = known_plan(plan_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.remove_plan(plan_id=plan_id)
        return f"{plan.name} is removed.", ("plans",)

    return Change(
        finding=f"Remove {plan.name}",
        explanation="What was planned in it is gone then; nothing else changes.",
        back=_back_to(plan),
        form=ChangeForm,
        confirm="Remove this plan",
        read=lambda entered: entered,
        effects=lambda _: (f"{plan.name} and its {len(plan.items)} items are removed.",),
        apply=apply,
    )


@changing(SEES_EVERYTHING, "plans")
def remove_item(context: Context, plan_id: int, item_id: int) -> Change[Mapping[str, Any]]:
    """Takes one item out of its plan."""
    plan = known_plan(plan_id)
    item = found_or_404(next((each for each in plan.items if each.id == item_id), None))
    name = item.name

    def apply(_: Mapping[str, Any]) -> Done:
        actions.remove_planned_item(plan_id=plan_id, item_id=item_id, at=context.at)
        return f"{name} is removed.", ("plan", plan_id)

    return Change(
        finding=f"Remove {name} from {plan.name}",
        explanation=words.inputs_of(item),
        back=_back_to(plan),
        form=ChangeForm,
        confirm="Remove it",
        read=lambda entered: entered,
        effects=lambda _: (f"{name} is taken out of the plan.",),
        apply=apply,
    )


def known_plan(plan_id: int) -> PlanFact:
    """The plan, or the page that there is none."""
    return found_or_404(plan_of_id(plan_id))


def _addition(
    context: Context,
    plan_id: int,
    said: str,
    form: type[PlannedForm],
    inputs_of: Callable[[Mapping[str, Any]], PlannedInputs],
) -> Change[NewPlannedItem]:
    """The page that adds an item of one kind."""
    plan = known_plan(plan_id)

    def read(entered: Mapping[str, Any]) -> NewPlannedItem:
        item = NewPlannedItem(entered["name"], entered["starts_on"], inputs_of(entered))
        actions.check_item(item, plan.gpu, context.at)
        return item

    def apply(item: NewPlannedItem) -> Done:
        actions.add_planned_item(plan_id=plan_id, item=item, at=context.at)
        return f"{item.name} is planned.", ("plan", plan_id)

    return Change(
        finding=f"Add a {said} to {plan.name}",
        explanation=f"{words.place_of(plan)}, {words.span_of(plan)}.",
        back=_back_to(plan),
        form=form,
        confirm=f"Add this {said}",
        read=read,
        effects=lambda item: _effects_of(plan, item, context),
        apply=apply,
        refusals=REFUSALS,
        fields={"requests_by_week": "requests", "gpu_model": "gpus"},
        initial={"starts_on": plan.first_day.isoformat()},
    )


def _effects_of(plan: PlanFact, item: NewPlannedItem, context: Context) -> tuple[str, ...]:
    """What the plan comes to with it, beside what it is now."""
    kept = PlannedItemFact(0, item.kind, item.name, item.starts_on, item.inputs)
    wider = _with_item(plan, kept)
    before, after = plan_outcome(plan, context.at), plan_outcome(wider, context.at)
    added = words.hours_text(after.planned - before.planned)
    effects = [f"{words.inputs_of(kept)}.", f"It adds {added} GPU-hours to the plan’s weeks."]
    if before.total_micros is not None and after.total_micros is not None:
        one, other = (
            whole_amount(each, context.currency)
            for each in (before.total_micros, after.total_micros)
        )
        effects.append(
            f"What is expected and planned costs {other} in its weeks, {one} without it."
        )
    if after.longest_wait is not None:
        waits = [words.wait_text(each.longest_wait) for each in (before, after)]
        effects.append(f"The longest wait becomes {waits[1]}, from {waits[0]}.")
    return tuple(effects)


def _with_item(plan: PlanFact, item: PlannedItemFact) -> PlanFact:
    others = tuple(each for each in plan.items if each.name != item.name)
    return replace(plan, items=(*others, item))


def _next_monday(context: Context) -> str:
    today = context.at.astimezone(context.zone).date()
    return (today + timedelta(days=8 - today.isoweekday())).isoformat()


def _back_to(plan: PlanFact) -> Link:
    return Link(f"Back to {plan.name}", reverse("plan", args=[plan.id]))
