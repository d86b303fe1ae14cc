"""Entering a plan, changing its costs and tariff, ending it, each with what it would move."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.urls import reverse

from apps.accounts.queries.facts import field_names
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entered import EndingPage, FormOf
from apps.console.kit.entries import (
    LONGEST_LIST,
    MomentField,
    ParsedField,
    PickField,
    amount_entered,
    amount_like,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.managers import step_for
from apps.console.pages.setup.new_nodes import add_pool_link
from apps.console.pages.setup.questions import recount
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.owned_plans import (
    ChangedWhatIf,
    OwnedWhatIf,
    if_plan_changed,
    if_plan_entered,
)
from apps.pricing import actions
from apps.pricing.queries.owned import (
    EXAMPLE_AMOUNT,
    EnteredOwnedPlan,
    OwnedCostFact,
    OwnedPlanFact,
    OwnedPurchase,
    TariffFact,
    clock_of,
    minute_of_day,
    owned_plans,
)
from apps.show.amounts import counted
from apps.show.entries import entered
from apps.show.money import full_amount, signed_amount

Read = TypeVar("Read")
MONTHLY_HINT = "Name and amount, as in: colocation 2000, staff 1000. Empty: none."
POWER_HINT = "Time of day and price of a kWh, as in: 07:00 0.24, 22:00 0.11; or one price."
NOTHING = "No past hour of an open month changes; it counts from then on."
_amount_of = amount_like(EXAMPLE_AMOUNT)


def _monthly_costs(text: str) -> dict[str, Decimal]:
    return _amounts_by(text, lambda name: name, MONTHLY_HINT)


def _power_prices(text: str) -> dict[int, Decimal]:
    if text and " " not in text:
        return {0: _amount_of(text)}
    return _amounts_by(text, minute_of_day, POWER_HINT)


def _amounts_by(text: str, meaning: Callable[[str], Read | None], hint: str) -> dict[Read, Decimal]:
    amounts: dict[Read, Decimal] = {}
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        name, _, amount = part.rpartition(" ")
        key = meaning(name.strip()) if name.strip() else None
        if key is None or key in amounts:
            raise ValueError(f"{part!r} is not understood. {hint}")
        amounts[key] = _amount_of(amount)
    return amounts


class CostsForm(ChangeForm):
    """Form of what a plan costs beside its purchase, from an hour on."""

    starts_at = MomentField("From", is_now=True)
    monthly = ParsedField(
        "Monthly costs, in {currency}", _monthly_costs, MONTHLY_HINT, longest=LONGEST_LIST
    )
    power = ParsedField(
        "Power, in {currency} a kWh", _power_prices, POWER_HINT, longest=LONGEST_LIST
    )


class PlanForm(FormOf[EnteredOwnedPlan], CostsForm):
    """A purchase of nodes of a pool, and what it costs to run them."""

    pool = PickField("Pool")
    field_order = (
        *("name", "pool", "nodes", "purchase", "salvage", "life_months", "watts", "pue"),
        *("starts_at", "ends_at", "monthly", "power"),
    )


def owned_pool_step(context: Context) -> Step:
    """Return the step that comes before a plan of owned hardware."""
    return step_for(
        "A pool that is owned comes first, with its nodes.",
        add_pool_link(back_to="owned-hardware"),
        "adds it",
        may=context.viewer.may_manage,
    )


@changing(SEES_EVERYTHING, "owned-hardware")
def add_plan(context: Context) -> Change[EnteredOwnedPlan]:
    """Says what hours of open months would cost by the plan, then enters it."""
    owned = {
        str(pool.id): pool.name
        for pool in fleet.pools_by_name()
        if pool.purchase_option == PurchaseOption.OWNED
    }

    def read(values: Mapping[str, Any]) -> EnteredOwnedPlan:
        fields = dict(values)
        pool_id, tariffs = fields.pop("pool"), fields.pop("power")
        if not pool_id:
            raise Refusal("pool", "choose one of the list")
        fields |= {"pool_id": int(pool_id), "tariffs": tariffs, "currency": context.currency}
        plan: EnteredOwnedPlan = entered(EnteredOwnedPlan, fields)
        actions.check_owned_plan(plan)
        return plan

    def apply(plan: EnteredOwnedPlan) -> Done:
        plan_id = actions.add_owned_plan(plan=plan, at=context.at)
        recount()
        done = f"{plan.name} is entered; past hours are charged again."
        return done, ("owned-plan", plan_id)

    return Change(
        finding="Enter hardware of your own",
        explanation="What nodes of a pool that was bought cost: their purchase over their life, "
        "monthly costs, and power.",
        back=Link("Back to hardware of your own", reverse("owned-hardware")),
        form=PlanForm,
        confirm="Enter this plan",
        read=read,
        effects=lambda plan: _entry_effects(if_plan_entered(_as_fact(plan), context.at), plan),
        apply=apply,
        picks={"pool": {"": "Choose a pool", **owned}},
        fields={"pool_id": "pool"},
        empty=None
        if owned
        else EmptyState(
            "No pool is owned yet",
            "A plan says what nodes of a pool cost that was bought.",
            (owned_pool_step(context),),
        ),
    )


@changing(SEES_EVERYTHING, "owned-hardware")
def change_plan(context: Context, owned_plan_id: int) -> Change[Mapping[str, Any]]:
    """Says what would move from an hour on, then changes monthly costs and the tariff."""
    plan, at = value_or_404(_find_plan(owned_plan_id)), context.at

    def changed(entered: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "plan_id": plan.id,
            "monthly": entered["monthly"],
            "tariffs": entered["power"],
            "starts_at": entered["starts_at"],
        }

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        actions.check_owned_change(**changed(entered))
        return entered

    def effects(entered: Mapping[str, Any]) -> tuple[str, ...]:
        since = entered["starts_at"]
        after = replace(
            plan, **_costs_and_tariffs(entered["monthly"], entered["power"], since, plan)
        )
        return _change_effects(if_plan_changed(plan, after, since, at), context.currency)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.change_owned_plan(**changed(entered), at=at)
        return f"{plan.name} goes on with these costs.", ("owned-plan", plan.id)

    return Change(
        finding=f"Change what {plan.name} costs",
        explanation="From an hour on; hours before keep what they had.",
        back=Link(f"Back to {plan.name}", reverse("owned-plan", args=[plan.id])),
        form=CostsForm,
        confirm="Change it",
        read=read,
        effects=effects,
        apply=apply,
        initial={"monthly": _monthly_words(plan, at), "power": _power_words(plan, at)},
    )


def _find_plan(plan_id: int) -> OwnedPlanFact | None:
    return next((plan for plan in owned_plans() if plan.id == plan_id), None)


def _as_fact(plan: EnteredOwnedPlan) -> OwnedPlanFact:
    """The plan as it would be on record; no row has this id yet."""
    purchase = {name: getattr(plan, name) for name in field_names(OwnedPurchase)}
    fact = OwnedPlanFact(id=0, **purchase)
    costs_and_tariffs = _costs_and_tariffs(plan.monthly or {}, plan.tariffs, plan.starts_at, fact)
    return replace(fact, **costs_and_tariffs)


def _costs_and_tariffs(
    monthly: Mapping[str, Decimal],
    tariffs: Mapping[int, Decimal],
    since: datetime,
    plan: OwnedPlanFact,
) -> dict[str, Any]:
    """Return what a plan holds of these costs and tariffs from `since` to its end."""
    span = (since, plan.ends_at)
    return {
        "costs": tuple(OwnedCostFact(name, of, *span) for name, of in monthly.items()),
        "tariffs": tuple(TariffFact(minute, of, *span) for minute, of in tariffs.items()),
    }


def _monthly_words(plan: OwnedPlanFact, at: datetime) -> str:
    return ", ".join(f"{cost.name} {amount_entered(cost.monthly)}" for cost in plan.costs_at(at))


def _power_words(plan: OwnedPlanFact, at: datetime) -> str:
    return ", ".join(
        f"{clock_of(minute)} {amount_entered(Decimal(micros).scaleb(-6))}"
        for minute, micros in plan.tariffs_at(at)
    )


def _entry_effects(moved: OwnedWhatIf, plan: EnteredOwnedPlan) -> tuple[str, ...]:
    """Return what entering a plan would move, by the hours that are charged already."""
    if not moved.hours:
        return (NOTHING, *_closed_words(moved.closed_hours))
    currency = plan.currency
    sentences = [
        f"{counted(moved.hours, 'hour')} of open months are charged again: "
        f"{full_amount(moved.before_micros, currency)} becomes about "
        f"{full_amount(moved.after_micros, currency)}, of which "
        f"{full_amount(moved.owed_micros, currency)} is owed whether or not a node runs and "
        f"{full_amount(moved.power_micros, currency)} is power by the plates."
    ]
    if moved.unpriced_hours:
        sentences.append(f"{counted(moved.unpriced_hours, 'node-hour')} without a price get one.")
    if moved.over:
        sentences.append(
            f"{moved.over:,.1f} node-hours beyond {plan.nodes} nodes have no price then."
        )
    return (*sentences, *_closed_words(moved.closed_hours))


def _change_effects(moved: ChangedWhatIf, currency: str) -> tuple[str, ...]:
    """Return what the plan's charged hours would come to."""
    if not moved.hours:
        return (NOTHING, *_closed_words(moved.closed_hours))
    difference = signed_amount(moved.after_micros - moved.before_micros, currency)
    return (
        f"{counted(moved.hours, 'hour')} of open months are charged again: {difference}, to "
        f"{full_amount(moved.after_micros, currency)}.",
        *_closed_words(moved.closed_hours),
    )


def _end_effects(plan: OwnedPlanFact, ended_at: datetime, context: Context) -> tuple[str, ...]:
    """Return what is owed no more once a plan ends."""
    moved, currency = if_plan_changed(plan, None, ended_at, context.at), context.currency
    if not moved.hours:
        return (NOTHING, *_closed_words(moved.closed_hours))
    return (
        f"{counted(moved.hours, 'hour')} of open months are charged again: "
        f"{full_amount(moved.before_micros, currency)} is owed no more; nodes that live then cost "
        "what their pool’s rates say, or have no price.",
        *_closed_words(moved.closed_hours),
    )


def _closed_words(hours: int) -> tuple[str, ...]:
    if not hours:
        return ()
    return (f"{counted(hours, 'hour')} of closed months stay; corrections can be posted.",)


def _end(plan_id: int, ended_at: datetime, context: Context) -> None:
    actions.end_owned_plan(plan_id=plan_id, ended_at=ended_at, at=context.at)
    recount()


END = EndingPage[OwnedPlanFact](
    noun="plan",
    name=lambda plan: str(plan.name),
    explanation=lambda _: (
        "The hardware leaves service. What is not written off by then is owed no more."
    ),
    back=("Back to hardware of your own", "owned-hardware"),
    page_of_one="owned-plan",
    key="owned-plan",
    address="owned",
    roles=SEES_EVERYTHING,
    active_entry="owned-hardware",
    find=_find_plan,
    check=lambda plan, ended_at: actions.check_owned_end(plan_id=plan.id, ended_at=ended_at),
    effects=_end_effects,
    end=_end,
)
