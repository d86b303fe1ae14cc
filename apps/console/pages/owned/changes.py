"""Entering a plan, changing its costs and tariff, ending it, each with what it would move."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.console.kit.change import ChangePage, Field, as_entered, moment, one_of
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.changes import Entries, moment_or_none
from apps.console.pages.owned.rows import plain
from apps.console.pages.owned.words import changed, ended, entered
from apps.console.pages.setup.questions import recount
from apps.economics.hours import hour_of
from apps.economics.purchase import PurchaseOption
from apps.fleet import queries as fleet
from apps.ledger.queries.owned_plans import if_plan_changed, if_plan_entered
from apps.pricing import actions
from apps.pricing.queries.owned import (
    OwnedCostFact,
    OwnedPlanFact,
    TariffFact,
    clock_of,
    minute_of_day,
    owned_plans,
)

changing = require_http_methods(["GET", "HEAD", "POST"])
Read = TypeVar("Read")
REFUSALS = (
    actions.OwnedPlanAlreadyEnded,
    actions.OwnedPlanExists,
    actions.OwnedPlanNotUnderstood,
    actions.RateCurrencyDiffers,
)
MONTHLY_HINT = "Name and amount, as in: colocation 2000, staff 1000. Empty: none."
POWER_HINT = "Time of day and price of a kWh, as in: 07:00 0.24, 22:00 0.11; or one price."
NUMBERS = ("purchase", "salvage", "pue")
COUNTS = ("nodes", "life_months", "watts")


@changing
@shown_to(SEES_EVERYTHING)
def add_plan(request: HttpRequest) -> HttpResponse:
    """Says what hours of open months would cost by the plan, then enters it."""
    who, pools = request_context(request, "owned-hardware"), _pools()
    texts = dict.fromkeys(("name", "pool", "purchase", "monthly", "power", "ends_at"), "")
    given = {"nodes": "1", "salvage": "0", "life_months": "60", "watts": "", "pue": "1.3"}
    entries = Entries(_given(request), texts | given | {"starts_at": _this_hour(who)})
    plan = _plan(entries, pools, who)
    if plan is not None:
        _refuse(entries, lambda: actions.check_owned_plan(plan))
    if request.method == "POST" and plan is not None and not entries.problems:
        plan_id = actions.add_owned_plan(plan=plan, at=who.at)
        recount()
        messages.success(request, f"{plan.name} is entered; past hours are charged again.")
        return redirect("owned-plan", owned_plan_id=plan_id)
    ready = plan is not None and not entries.problems
    page = ChangePage(
        frame=who.frame,
        finding="Enter hardware of your own",
        explanation="What nodes of a pool that was bought cost: their purchase over their life, "
        "monthly costs, and power.",
        back=_back(),
        here=request.path,
        fields=_fields(entries, pools, who),
        effects=entered(if_plan_entered(_fact(plan), who.at), plan) if plan and ready else (),
        confirm=entries.confirm("Enter this plan"),
        cannot="" if pools else "No pool is owned: make one with manage.py add_pool first.",
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def change_plan(request: HttpRequest, owned_plan_id: int) -> HttpResponse:
    """Says what would move from an hour on, then changes monthly costs and the tariff."""
    who, plan = request_context(request, "owned-hardware"), _found(owned_plan_id)
    monthly, power = _monthly_said(plan, who.at), _power_said(plan, who.at)
    texts = {"starts_at": _this_hour(who), "monthly": monthly, "power": power}
    entries = Entries(_given(request), texts)
    since = entries.read("starts_at", moment(who.zone))
    costs, tariffs = entries.read("monthly", _monthly), entries.read("power", _power)
    after = None
    if since is not None and costs is not None and tariffs is not None:
        after = _after(plan, since, costs, tariffs)
        _refuse(
            entries,
            lambda: actions.check_owned_change(
                plan_id=plan.id, monthly=costs, tariffs=tariffs, starts_at=since
            ),
        )
    if request.method == "POST" and after is not None and not entries.problems:
        actions.change_owned_plan(
            plan_id=plan.id,
            monthly=costs or {},
            tariffs=tariffs or {},
            starts_at=since or who.at,
            at=who.at,
        )
        messages.success(request, f"{plan.name} goes on with these costs.")
        return redirect("owned-plan", owned_plan_id=plan.id)
    found = None
    if after is not None and since is not None and not entries.problems:
        found = if_plan_changed(plan, after, since, who.at)
    page = ChangePage(
        frame=who.frame,
        finding=f"Change what {plan.name} costs",
        explanation="From an hour on; hours before keep what they had.",
        back=_back(),
        here=request.path,
        fields=(
            entries.field("starts_at", f"From ({who.zone.key})", "datetime-local"),
            *_cost_fields(entries, plan.currency),
        ),
        effects=changed(found, plan.currency) if found else (),
        confirm=entries.confirm("Change it"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def end_plan(request: HttpRequest, owned_plan_id: int) -> HttpResponse:
    """Says what would be owed no more, then ends the plan."""
    who, plan = request_context(request, "owned-hardware"), _found(owned_plan_id)
    entries = Entries(_given(request), {"ended_at": _this_hour(who)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if ended_at is not None:
        _refuse(entries, lambda: actions.check_owned_end(plan_id=plan.id, ended_at=ended_at))
    if request.method == "POST" and ended_at is not None and not entries.problems:
        actions.end_owned_plan(plan_id=plan.id, ended_at=ended_at, at=who.at)
        recount()
        messages.success(request, f"{plan.name} has an end.")
        return redirect("owned-plan", owned_plan_id=plan.id)
    found = None
    if ended_at is not None and not entries.problems:
        found = if_plan_changed(plan, None, ended_at, who.at)
    page = ChangePage(
        frame=who.frame,
        finding=f"End {plan.name}",
        explanation="The hardware leaves service. What is not written off by then is owed no more.",
        back=_back(),
        here=request.path,
        fields=(entries.field("ended_at", f"In service until ({who.zone.key})", "datetime-local"),),
        effects=ended(found, plan.currency) if found else (),
        confirm=entries.confirm("End this plan"),
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _pools() -> dict[str, str]:
    """Pools that were bought, by id as the form carries it."""
    owned = (
        each for each in fleet.pools().values() if each.purchase_option == PurchaseOption.OWNED
    )
    return {str(pool.id): pool.name for pool in owned}


def _back() -> Link:
    return Link("Back to hardware of your own", reverse("owned-hardware"))


def _this_hour(who: Context) -> str:
    return as_entered(hour_of(who.at), who.zone)


def _found(plan_id: int) -> OwnedPlanFact:
    for plan in owned_plans():
        if plan.id == plan_id:
            return plan
    raise Http404


def _fields(entries: Entries, pools: dict[str, str], who: Context) -> tuple[Field, ...]:
    currency = who.organisation.currency
    return (
        entries.field("name", "Name"),
        entries.choice("pool", "Pool", {"": "Choose a pool", **pools}),
        entries.field("nodes", "Nodes bought"),
        entries.field("purchase", f"Purchase of all of them, in {currency}"),
        entries.field("salvage", f"Salvage, in {currency}", hint="What is left at its life's end."),
        entries.field("life_months", "Life, in months", hint="Written off in equal parts."),
        entries.field("watts", "Watts of a node", hint="By its plate, hosts and GPUs together."),
        entries.field("pue", "PUE", hint="kWh at the house's meter for one at the machine."),
        entries.field("starts_at", f"In service from ({who.zone.key})", "datetime-local"),
        entries.field("ends_at", "Until", "datetime-local", "Empty: open-ended."),
        *_cost_fields(entries, currency),
    )


def _cost_fields(entries: Entries, currency: str) -> tuple[Field, ...]:
    return (
        entries.field("monthly", f"Monthly costs, in {currency}", hint=MONTHLY_HINT),
        entries.field("power", f"Power, in {currency} a kWh", hint=POWER_HINT),
    )


def _plan(entries: Entries, pools: dict[str, str], who: Context) -> actions.NewOwnedPlan | None:
    """What was entered; None where a field says nothing."""
    pool = entries.read("pool", one_of(pools))
    purchase, salvage, pue = (entries.read(name, _amount) for name in NUMBERS)
    nodes, life_months, watts = (entries.read(name, _count) for name in COUNTS)
    starts_at = entries.read("starts_at", moment(who.zone))
    ends_at = entries.read("ends_at", moment_or_none(who.zone))
    monthly, tariffs = entries.read("monthly", _monthly), entries.read("power", _power)
    if entries.problems or pool is None or starts_at is None or tariffs is None:
        return None
    return actions.NewOwnedPlan(
        name=entries.texts["name"],
        pool_id=int(pool),
        nodes=nodes or 0,
        purchase=purchase or Decimal(0),
        salvage=salvage or Decimal(0),
        life_months=life_months or 0,
        watts=watts or 0,
        pue=pue or Decimal(0),
        currency=who.organisation.currency,
        starts_at=starts_at,
        ends_at=ends_at,
        monthly=monthly,
        tariffs=tariffs,
    )


def _fact(plan: actions.NewOwnedPlan) -> OwnedPlanFact:
    """The plan as it would be on record; no row has this id yet."""
    span = (plan.starts_at, plan.ends_at)
    return OwnedPlanFact(
        id=0,
        name=plan.name,
        pool_id=plan.pool_id,
        nodes=plan.nodes,
        purchase=plan.purchase,
        salvage=plan.salvage,
        life_months=plan.life_months,
        watts=plan.watts,
        pue=plan.pue,
        currency=plan.currency,
        starts_at=plan.starts_at,
        ends_at=plan.ends_at,
        costs=tuple(OwnedCostFact(name, of, *span) for name, of in (plan.monthly or {}).items()),
        tariffs=tuple(TariffFact(minute, of, *span) for minute, of in plan.tariffs.items()),
    )


def _after(
    plan: OwnedPlanFact,
    since: datetime,
    costs: dict[str, Decimal],
    tariffs: dict[int, Decimal],
) -> OwnedPlanFact:
    """The plan with these costs and this tariff from `since` on."""
    span = (since, plan.ends_at)
    return replace(
        plan,
        costs=tuple(OwnedCostFact(name, of, *span) for name, of in costs.items()),
        tariffs=tuple(TariffFact(minute, of, *span) for minute, of in tariffs.items()),
    )


def _refuse(entries: Entries, check: Callable[[], None]) -> None:
    """Say by field what doing it would refuse."""
    try:
        check()
    except REFUSALS as refusal:
        entries.refused(refusal.field.partition(".")[0], refusal.sentence)


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("Say an amount in figures, as in 560000.") from None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 11):
        raise ValueError("Say a whole number.")
    return int(text)


def _monthly(text: str) -> dict[str, Decimal]:
    return _pairs(text, lambda name: name, MONTHLY_HINT)


def _power(text: str) -> dict[int, Decimal]:
    if text and " " not in text:
        return {0: _amount(text)}
    return _pairs(text, minute_of_day, POWER_HINT)


def _pairs(text: str, meaning: Callable[[str], Read | None], hint: str) -> dict[Read, Decimal]:
    found: dict[Read, Decimal] = {}
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        name, _, amount = part.rpartition(" ")
        key = meaning(name.strip()) if name.strip() else None
        if key is None or key in found:
            raise ValueError(f"{part!r} is not understood. {hint}")
        found[key] = _amount(amount)
    return found


def _monthly_said(plan: OwnedPlanFact, at: datetime) -> str:
    return ", ".join(f"{each.name} {plain(each.monthly)}" for each in plan.costs_at(at))


def _power_said(plan: OwnedPlanFact, at: datetime) -> str:
    return ", ".join(
        f"{clock_of(minute)} {plain(Decimal(micros).scaleb(-6))}"
        for minute, micros in plan.tariffs_at(at)
    )
