"""Entering and ending a price, each with what it would move before it is done."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.console.kit.entries import as_entered, moment, one_of
from apps.console.kit.form import Field
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context, request_context, shown_to
from apps.console.pages.changes import ChangePage, Entries, moment_or_none
from apps.console.pages.prices.effects import effects_of
from apps.console.pages.prices.tables import KINDS, OPTIONS, what_it_prices
from apps.console.pages.setup.questions import recount
from apps.economics.tiers import parsed
from apps.fleet import queries as fleet
from apps.pricing import actions
from apps.pricing.queries import listing
from apps.pricing.queries.reach import Prices
from apps.pricing.queries.what_if import Proposal, if_ended, if_entered
from apps.show.money import quoted_amount
from apps.show.time import instant

changing = require_http_methods(["GET", "HEAD", "POST"])
UNITS = {"node": "One node", "gpu": "One GPU"}
QUANTITIES = {"3600": "One hour", "1": "One second"}
ENTERED = "The price is entered; past hours are charged again."
WAITS = "The price is entered, and is not used until a person of finance accepts it."
TEXTS = ("provider", "region", "instance_type", "gpu_model", "source")


@changing
@shown_to(MANAGES)
def add_rate(request: HttpRequest) -> HttpResponse:
    """Says what the price would move, then enters it."""
    who = request_context(request, "prices")
    pools = fleet.pools()
    entries = Entries(_given(request), _defaults(who))
    # A link from a pool opens the form with it; only an amount asks for an answer.
    entries.is_asked = "amount" in _given(request)
    rate = _rate(entries, pools, who)
    weighed = _Weighed() if rate is None else _weighed(entries, rate, who)
    if request.method == "POST" and rate is not None and not entries.problems:
        try:
            entered = actions.propose_rate(rate=rate, by=who.viewer.person_id, at=who.at)
        except actions.RateOverlaps as refusal:
            entries.refused("starts_at", str(refusal))
        else:
            recount()
            messages.success(request, WAITS if entered.doubt else ENTERED)
            return redirect("rate", entered.id)
    ready = rate is not None and not entries.problems
    page = ChangePage(
        frame=who.frame,
        finding="Enter a price",
        explanation="As quoted, never converted. Without a price GPU time is unpriced, not free.",
        back=Link("Back to prices", reverse("prices")),
        here=request.path,
        fields=_fields(entries, pools, who),
        effects=_effects_of_entering(rate, weighed, who) if rate and ready else (),
        confirm=entries.confirm("Enter this price"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(MANAGES)
def end_rate(request: HttpRequest, rate_id: int) -> HttpResponse:
    """Says what is unpriced, or priced by another, from then on; then ends the price."""
    who, rate = request_context(request, "prices"), listing.rate_if_entered(rate_id)
    if rate is None:
        raise Http404
    entries = Entries(_given(request), {"ended_at": as_entered(who.at, who.zone)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if ended_at is not None and rate["starts_at"] is not None and ended_at <= rate["starts_at"]:
        entries.refused("ended_at", f"It begins only at {instant(rate['starts_at'], who.zone)}.")
    if request.method == "POST" and ended_at is not None and not entries.problems:
        try:
            actions.end_rate(rate_id=rate_id, ended_at=ended_at, at=who.at)
        except (actions.RateAlreadyEnded, actions.RateEndsBeforeItStarts) as refusal:
            entries.refused("ended_at", str(refusal))
        else:
            recount()
            messages.success(request, f"The price of {what_it_prices(rate)} has an end.")
            return redirect("rate", rate_id)
    ready = ended_at is not None and not entries.problems
    page = ChangePage(
        frame=who.frame,
        finding=f"End the price of {what_it_prices(rate)}",
        explanation=f"{quoted_amount(rate['amount'], rate['currency'])}. What it priced before "
        "stays priced.",
        back=Link("Back to the price", reverse("rate", args=[rate_id])),
        here=request.path,
        fields=(entries.field("ended_at", f"Valid until ({who.zone.key})", "datetime-local"),),
        effects=effects_of(if_ended(rate_id, ended_at, who.at), who) if ended_at and ready else (),
        confirm=entries.confirm("End this price"),
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _defaults(who: Context) -> dict[str, str]:
    return {
        **dict.fromkeys(("pool", *TEXTS, "amount", "tiers", "ends_at", "source_date"), ""),
        "currency": who.organisation.currency,
        "purchase_option": "on_demand",
        "kind": "contract",
        "quantity_seconds": "3600",
        "unit": "node",
        "starts_at": as_entered(who.at, who.zone),
    }


def _rate(
    entries: Entries, pools: Mapping[int, fleet.PoolFact], who: Context
) -> actions.NewRate | None:
    """What was entered as a rate; None where a field says nothing."""
    pool_key = entries.read("pool", one_of(_pool_names(pools)))
    amount = entries.read("amount", _amount)
    option = entries.read("purchase_option", one_of(OPTIONS))
    kind = entries.read("kind", one_of(KINDS))
    quantity = entries.read("quantity_seconds", one_of(QUANTITIES))
    unit = entries.read("unit", one_of(UNITS))
    starts_at = entries.read("starts_at", moment(who.zone))
    ends_at = entries.read("ends_at", moment_or_none(who.zone))
    source_date = entries.read("source_date", _day_or_none)
    tiers = entries.read("tiers", parsed)
    if entries.problems or amount is None:
        return None
    pool = pools[int(pool_key)] if pool_key else None
    described = {name: "" if pool else entries.texts[name] for name in TEXTS[:-1]}
    return actions.NewRate(
        kind=kind or "",
        amount=amount,
        currency=entries.texts["currency"].upper(),
        starts_at=starts_at,
        ends_at=ends_at,
        purchase_option=pool.purchase_option if pool else option or "",
        pool_id=pool.id if pool else None,
        quantity_seconds=int(quantity or 0),
        unit=unit or "",
        source=entries.texts["source"],
        source_date=source_date,
        provider=described["provider"],
        region=described["region"],
        instance_type=described["instance_type"],
        gpu_model=described["gpu_model"],
        tiers=tiers or (),
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Why the price would wait, empty: it does not; and the rate whose place it would take then."""

    doubt: str = ""
    replaces: int | None = None


def _weighed(entries: Entries, rate: actions.NewRate, who: Context) -> _Weighed:
    """Say by field what entering it would refuse, and what speaks against it."""
    try:
        actions.check_rate(rate)
    except (
        actions.RateNotUnderstood,
        actions.RateEndsBeforeItStarts,
        actions.RateCurrencyDiffers,
    ) as refusal:
        entries.refused(refusal.field, refusal.message)
        return _Weighed()
    doubt = actions.judged(rate).doubt
    held = listing.overlapping_rate(actions.target_of(rate), rate.starts_at, rate.ends_at)
    if held is not None and not (doubt and _may_take_its_place(rate, held)):
        until = f" until {instant(held['ends_at'], who.zone)}" if held["ends_at"] else ""
        entries.refused(
            "starts_at",
            f"{what_it_prices(held)} has a price of that kind then{until}. End it first, or say "
            "another time.",
        )
    return _Weighed(doubt, None if held is None else held["id"])


def _may_take_its_place(rate: actions.NewRate, held: Mapping[str, Any]) -> bool:
    goes_on = rate.ends_at is not None and (
        held["ends_at"] is None or held["ends_at"] > rate.ends_at
    )
    return held["starts_at"] != rate.starts_at and not goes_on


def _effects_of_entering(rate: actions.NewRate, weighed: _Weighed, who: Context) -> tuple[str, ...]:
    proposal = _proposal(rate)
    if not weighed.doubt:
        return effects_of(if_entered(proposal, who.at), who)
    found = if_entered(replace(proposal, replaces=weighed.replaces), who.at)
    waits = f"It waits until a person of finance accepts it: {weighed.doubt}. What it moves then:"
    return (waits, *effects_of(found, who))


def _fields(
    entries: Entries, pools: Mapping[int, fleet.PoolFact], who: Context
) -> tuple[Field, ...]:
    ours = who.organisation.currency
    return (
        entries.choice("pool", "What it prices", _pool_names(pools)),
        entries.choice("kind", "Kind", KINDS, "A contract beats a list price; a pool’s own, both."),
        entries.field("amount", "Amount as quoted"),
        entries.field(
            "currency",
            "In",
            hint=f"Another than {ours} is converted by the month’s rate of exchange.",
        ),
        entries.field(
            "tiers",
            "And beyond",
            hint="1000=8; 5000=7 is 8 beyond 1,000 node-hours or GPU-hours of a month, 7 beyond "
            "5,000. Empty: one price.",
        ),
        entries.choice("unit", "For", UNITS),
        entries.choice("quantity_seconds", "And", QUANTITIES),
        entries.field("starts_at", f"Valid from ({who.zone.key})", "datetime-local"),
        entries.field("ends_at", "Until", "datetime-local", "Empty: open-ended."),
        entries.field("source", "Where the figure comes from"),
        entries.field("source_date", "Read on", "date"),
        entries.field(
            "provider", "Provider", hint="This and the rest: only where no pool is named."
        ),
        entries.field("region", "Region", hint="Empty: any."),
        entries.field("instance_type", "Instance type"),
        entries.field("gpu_model", "Or GPU model", hint="One of the two."),
        entries.choice("purchase_option", "Bought as", OPTIONS),
    )


def _pool_names(pools: Mapping[int, fleet.PoolFact]) -> dict[str, str]:
    named = sorted(pools.values(), key=lambda pool: pool.name.casefold())
    return {
        "": "Every pool like the description",
        **{str(pool.id): f"Pool {pool.name}" for pool in named},
    }


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("Say an amount in figures, as in 98.32.") from None


def _day_or_none(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ValueError("Say a day, as in 2026-03-31.") from None


def _proposal(rate: actions.NewRate) -> Proposal:
    return Proposal(
        prices=Prices.of(rate),
        kind=rate.kind,
        amount=rate.amount,
        quantity_seconds=rate.quantity_seconds,
        unit=rate.unit,
        starts_at=rate.starts_at,
        ends_at=rate.ends_at,
        currency=rate.currency,
        tiers=rate.tiers,
    )
