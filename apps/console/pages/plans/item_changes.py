"""Changes of what is planned in a plan: added, changed, taken out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import (
    AmountField,
    DayField,
    NonNegativeIntegerField,
    NumberField,
    ParsedField,
    TextField,
    amount_entered,
)
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.plans import words
from apps.console.pages.plans.changes import REFUSALS, back_to, get_plan_or_404
from apps.economics.planned_work import WorkSpread
from apps.economics.refusal import Refusal
from apps.planning.actions import planned_items as actions
from apps.planning.queries.plan_items import (
    KINDS,
    LAUNCH,
    PRICE,
    TRAINING,
    LaunchWork,
    NewPlannedItem,
    PlannedInputs,
    PriceChange,
    TrainingWork,
    measured_mfu,
    measured_throughput,
)
from apps.planning.queries.plan_outcomes import plan_outcome, priced_window
from apps.planning.queries.plans import PlanFact, PlannedItemFact

FIELDS = {"requests_by_week": "requests", "gpu_model": "gpus"}


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


SPREAD_HINT = "In one case of ten it comes to less than the low, in one to more than the high. Empty: as entered."


class PlannedForm(ChangeForm):
    """Form of what every item of a plan has: its last two say how far what comes may be from what is entered."""

    name = TextField("Name", needed="Say what it is called.")
    starts_on = DayField("From")
    low = AmountField("Low, in per cent of what is entered", SPREAD_HINT, "80")
    high = AmountField("High, in per cent of what is entered", "", "130")


class TrainingForm(PlannedForm):
    """A training: 6 × parameters × tokens operations."""

    field_order = ("name", "starts_on", "parameters", "tokens", "gpus", "mfu", "like_run")
    parameters = ParsedField("Parameters", _amount, "Those active on each token, as in 7e9.")
    tokens = ParsedField("Tokens", _amount, "As in 2e12.")
    gpus = NonNegativeIntegerField("On how many GPUs", is_needed=True)
    mfu = AmountField("MFU assumed, in per cent", "Or the run below, not both.", "40")
    like_run = TextField("Or the MFU measured of the run", "Its key.")


class LaunchForm(PlannedForm):
    """A launch: requests by week."""

    field_order = (
        *("name", "starts_on", "requests", "tokens_per_request"),
        *("tokens_per_gpu_hour", "like_service"),
    )
    requests = ParsedField(
        "Requests by week",
        _weekly_amounts,
        "As in 1e6; 2e6; 2.5e6. The last week goes on.",
        longest=2_500,
    )
    tokens_per_request = ParsedField("Tokens a request", _amount, "Prompt and output.")
    tokens_per_gpu_hour = ParsedField(
        "Tokens a GPU-hour, assumed", _optional_amount, "Or the service below, not both."
    )
    like_service = TextField("Or as measured of the service", "In the last 28 days.")


class PriceChangeForm(PlannedForm):
    """A price change."""

    field_order = ("name", "starts_on", "factor")
    factor: NumberField = AmountField(
        "The price is multiplied by", "0.9: a tenth less.", "0.9", is_needed=True
    )


def _training_of(entered: Mapping[str, Any], _: Context) -> PlannedInputs:
    assumed, run = entered["mfu"], entered["like_run"]
    if (assumed is None) == (not run):
        raise Refusal("mfu", "say an MFU, or a run that it was measured of")
    mfu = measured_mfu(run) if assumed is None else float(assumed) / 100
    return TrainingWork(entered["gpus"], entered["parameters"], entered["tokens"], mfu, run)


def _launch_of(entered: Mapping[str, Any], context: Context) -> PlannedInputs:
    assumed, service = entered["tokens_per_gpu_hour"], entered["like_service"]
    if (assumed is None) == (not service):
        raise Refusal("tokens_per_gpu_hour", "say the tokens, or a service they were measured of")
    if assumed is None:
        assumed = measured_throughput(service, priced_window(context.at))
    return LaunchWork(entered["requests"], entered["tokens_per_request"], assumed, service)


def _price_of(entered: Mapping[str, Any], _: Context) -> PlannedInputs:
    return PriceChange(float(entered["factor"]))


@dataclass(frozen=True, slots=True)
class _KindForm:
    """The form of a kind, and what its entries say."""

    form: type[PlannedForm]
    inputs_of: Callable[[Mapping[str, Any], Context], PlannedInputs]


FORMS = {
    TRAINING: _KindForm(TrainingForm, _training_of),
    LAUNCH: _KindForm(LaunchForm, _launch_of),
    PRICE: _KindForm(PriceChangeForm, _price_of),
}


@changing(SEES_EVERYTHING, "plans")
def add_item(context: Context, plan_id: int, kind: str) -> Change[NewPlannedItem]:
    """Says what the item adds to its plan, then adds it."""
    plan, kind_name = get_plan_or_404(plan_id), KINDS[kind]

    def apply(item: NewPlannedItem) -> Done:
        actions.add_planned_item(plan_id=plan_id, item=item, at=context.at)
        return f"{item.name} is planned.", ("plan", plan_id)

    return Change(
        finding=f"Add a {kind_name} to {plan.name}",
        explanation=f"{words.place_of(plan)}, {words.span_of(plan)}.",
        back=back_to(plan),
        form=FORMS[kind].form,
        confirm=f"Add this {kind_name}",
        read=lambda entered: _item_entered(entered, kind, plan, context),
        effects=lambda item: _effects_of(plan, item, context),
        apply=apply,
        refusals=REFUSALS,
        fields=FIELDS,
        initial={"starts_on": plan.first_day.isoformat()},
    )


@changing(SEES_EVERYTHING, "plans")
def change_item(context: Context, plan_id: int, item_id: int) -> Change[NewPlannedItem]:
    """Says what the plan comes to with the item as changed, then changes it."""
    plan = get_plan_or_404(plan_id)
    current_item = _item_of(plan, item_id)

    def apply(item: NewPlannedItem) -> Done:
        actions.change_planned_item(plan_id=plan_id, item_id=item_id, item=item, at=context.at)
        return f"{item.name} is changed.", ("plan", plan_id)

    return Change(
        finding=f"Change {current_item.name} in {plan.name}",
        explanation=f"{words.inputs_of(current_item)}. What it has of a run or a service is measured anew.",
        back=back_to(plan),
        form=FORMS[current_item.kind].form,
        confirm="Save the change",
        read=lambda entered: _item_entered(entered, current_item.kind, plan, context, current_item),
        effects=lambda item: _effects_of(plan, item, context, current_item),
        apply=apply,
        refusals=REFUSALS,
        fields=FIELDS,
        initial=_initial_of(current_item),
    )


@changing(SEES_EVERYTHING, "plans")
def remove_item(context: Context, plan_id: int, item_id: int) -> Change[Mapping[str, Any]]:
    """Takes one item out of its plan."""
    plan = get_plan_or_404(plan_id)
    item = _item_of(plan, item_id)
    without = replace(plan, items=tuple(other for other in plan.items if other.id != item_id))

    def apply(_: Mapping[str, Any]) -> Done:
        actions.remove_planned_item(plan_id=plan_id, item_id=item_id, at=context.at)
        return f"{item.name} is removed.", ("plan", plan_id)

    return Change(
        finding=f"Remove {item.name} from {plan.name}",
        explanation=words.inputs_of(item),
        back=back_to(plan),
        form=ChangeForm,
        confirm="Remove it",
        read=lambda entered: entered,
        effects=lambda _: (
            f"{item.name} is taken out of the plan.",
            *_moved(plan, without, context),
        ),
        apply=apply,
    )


def _item_of(plan: PlanFact, item_id: int) -> PlannedItemFact:
    return value_or_404(next((item for item in plan.items if item.id == item_id), None))


def _item_entered(
    entered: Mapping[str, Any],
    kind: str,
    plan: PlanFact,
    context: Context,
    current_item: PlannedItemFact | None = None,
) -> NewPlannedItem:
    inputs = FORMS[kind].inputs_of(entered, context)
    item = NewPlannedItem(entered["name"], entered["starts_on"], inputs, _spread_of(entered))
    actions.check_item_in(plan, item, context.at, current_item.id if current_item else None)
    return item


def _spread_of(entered: Mapping[str, Any]) -> WorkSpread | None:
    low, high = entered["low"], entered["high"]
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise Refusal("low" if low is None else "high", "say a low and a high, or neither")
    return WorkSpread(float(low) / 100, float(high) / 100)


def _initial_of(item: PlannedItemFact) -> dict[str, str]:
    """The entries of a form that say what an item is."""
    inputs = item.inputs
    entries = {"name": item.name, "starts_on": item.starts_on.isoformat()}
    if item.spread is not None:
        entries |= {
            "low": _entered(100 * item.spread.low),
            "high": _entered(100 * item.spread.high),
        }
    if isinstance(inputs, TrainingWork):
        return entries | {
            "parameters": _entered(inputs.parameters),
            "tokens": _entered(inputs.tokens),
            "gpus": str(inputs.gpus),
            "mfu": "" if inputs.like_run else _entered(100 * inputs.mfu),
            "like_run": inputs.like_run,
        }
    if isinstance(inputs, LaunchWork):
        return entries | {
            "requests": "; ".join(map(_entered, inputs.requests_by_week)),
            "tokens_per_request": _entered(inputs.tokens_per_request),
            "tokens_per_gpu_hour": ""
            if inputs.like_service
            else _entered(inputs.tokens_per_gpu_hour),
            "like_service": inputs.like_service,
        }
    return entries | {"factor": _entered(inputs.factor)}


def _entered(amount: float) -> str:
    """As people enter it: `7e9`, `250000`, `0.9`."""
    exact = amount_entered(Decimal(repr(amount)))
    return f"{amount:.12e}".replace("e+", "e") if len(exact) > 12 else exact


def _effects_of(
    plan: PlanFact,
    item: NewPlannedItem,
    context: Context,
    current_item: PlannedItemFact | None = None,
) -> tuple[str, ...]:
    """Return what the plan comes to with an item, beside what it is now."""
    new_item = PlannedItemFact(
        current_item.id if current_item else 0,
        item.kind,
        item.name,
        item.starts_on,
        item.inputs,
        item.spread,
    )
    others = tuple(other for other in plan.items if other != current_item)
    sentences = [f"{words.inputs_of(new_item)}."]
    if current_item is not None and words.inputs_of(current_item) != words.inputs_of(new_item):
        sentences.append(f"Until now: {words.inputs_of(current_item)}.")
    if current_item is not None and current_item.starts_on != new_item.starts_on:
        sentences.append(
            f"It begins {new_item.starts_on:%Y-%m-%d}, until now {current_item.starts_on:%Y-%m-%d}."
        )
    return (*sentences, *_moved(plan, replace(plan, items=(*others, new_item)), context))


def _moved(plan: PlanFact, other: PlanFact, context: Context) -> list[str]:
    before, after = plan_outcome(plan, context.at), plan_outcome(other, context.at)
    return words.moved_effects(before, after, context.currency)
