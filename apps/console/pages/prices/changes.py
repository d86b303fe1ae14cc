"""Entering and ending a price, each with what it would move before it is done."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import (
    MomentField,
    ParsedField,
    PickField,
    as_entered,
)
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.prices.deciding import rate_or_404
from apps.console.pages.prices.effects import effects_of
from apps.console.pages.prices.tables import Rate, what_it_prices
from apps.console.pages.setup.questions import recount
from apps.economics.refusal import Refusal
from apps.economics.tiers import parsed
from apps.fleet import queries as fleet
from apps.pricing import actions
from apps.pricing.queries import listing, rates_of_pools
from apps.pricing.queries.reach import Prices
from apps.pricing.queries.what_if import Proposal, if_ended, if_entered
from apps.show.money import quoted_amount
from apps.show.time import instant

ENTERS = SEES_EVERYTHING
"""Finance has the contract, the platform the quote: both enter prices."""
QUANTITIES = {"3600": "hour", "1": "second"}
ENTERED = "The price is entered; past hours are charged again."
WAITS = "The price is entered, and is not used until a person of finance accepts it."
EVER = datetime(1970, 1, 1, tzinfo=UTC)
DESCRIBED = ("provider", "region", "instance_type", "gpu_model")
TIERS_HINT = (
    "1000=8; 5000=7 is 8 beyond 1,000 node-hours or GPU-hours of a month, 7 beyond 5,000. "
    "Empty: one price."
)


class RateForm(FormOf[actions.EnteredRate]):
    """A price as it was quoted: of a pool, or of all pools of a description."""

    # A link from a pool opens the form with it; only an amount asks for an answer.
    asked_by = ("amount",)

    pool = PickField("What it prices")
    tiers = ParsedField("Volume tiers", parsed, TIERS_HINT)
    quantity_seconds = PickField("For each", QUANTITIES, initial="3600")
    field_order = (
        *("pool", "kind", "amount", "currency", "tiers", "unit", "quantity_seconds", "starts_at"),
        *("ends_at", "source", "source_date", *DESCRIBED, "purchase_option"),
    )


class RateEndForm(ChangeForm):
    """Until when a price holds."""

    ended_at = MomentField("Valid until")


class WeighedRate(NamedTuple):
    """A price as entered; why it would wait, empty: it does not; whose place it would take then."""

    rate: actions.EnteredRate
    doubt: str
    replaces: int | None


@changing(ENTERS, "prices")
def add_rate(context: Context) -> Change[WeighedRate]:
    """Says what the price would move, then enters it."""
    pools = fleet.pools()

    def apply(weighed: WeighedRate) -> Done:
        entered = actions.propose_rate(
            rate=weighed.rate, by=context.viewer.person_id, at=context.at
        )
        recount()
        return WAITS if entered.doubt else ENTERED, ("rate", entered.id)

    return Change(
        finding="Enter a price",
        explanation="As quoted, never converted. Without a price GPU time is unpriced, not free.",
        back=Link("Back to prices", reverse("prices")),
        form=RateForm,
        confirm="Enter this price",
        read=lambda entered: _weighed_rate(_rate_of(entered, pools), context),
        effects=lambda weighed: _preview_of(weighed, context),
        apply=apply,
        picks={
            "pool": {
                "": "Every pool like the description",
                **{str(pool.id): f"Pool {pool.name}" for pool in fleet.pools_by_name()},
            }
        },
        initial={
            "currency": context.currency,
            "starts_at": _first_moment(context, pools),
        },
    )


@changing(ENTERS, "prices")
def end_rate(context: Context, rate_id: int) -> Change[Mapping[str, Any]]:
    """Says what is unpriced, or priced by another, from then on; then ends the price."""
    rate = rate_or_404(rate_id)

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        if rate["starts_at"] is not None and entered["ended_at"] <= rate["starts_at"]:
            raise Refusal(
                "ended_at", f"it begins only at {instant(rate['starts_at'], context.zone)}"
            )
        return entered

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.end_rate(rate_id=rate_id, ended_at=entered["ended_at"], at=context.at)
        recount()
        return f"The price of {what_it_prices(rate)} has an end.", ("rate", rate_id)

    return Change(
        finding=f"End the price of {what_it_prices(rate)}",
        explanation=f"{quoted_amount(rate['amount'], rate['currency'])}. What it priced before "
        "stays priced.",
        back=Link("Back to the price", reverse("rate", args=[rate_id])),
        form=RateEndForm,
        confirm="End this price",
        read=read,
        effects=lambda entered: ChangePreview(
            effects_of(if_ended(rate_id, entered["ended_at"], context.at), context), same=()
        ),
        apply=apply,
        refusals=(Refusal, actions.RateAlreadyEnded, actions.RateNotInForce),
        initial={"ended_at": as_entered(context.at, context.zone)},
    )


def _first_moment(context: Context, pools: Mapping[int, fleet.PoolFact]) -> str:
    """Now, as a new price begins; since ever where a link names a pool without any price."""
    named = context.query.get("pool", "")
    pool = pools.get(int(named)) if named.isdecimal() and len(named) < 10 else None
    if pool is not None and not rates_of_pools({pool.id: pool}, EVER, context.at):
        return ""
    return as_entered(context.at, context.zone)


def _rate_of(values: Mapping[str, Any], pools: Mapping[int, fleet.PoolFact]) -> actions.EnteredRate:
    """Return the rate that was entered; of a named pool the description is the pool's."""
    fields = dict(values)
    if pool_id := fields.pop("pool"):
        pool = pools[int(pool_id)]
        fields |= dict.fromkeys(DESCRIBED, "")
        fields |= {"purchase_option": pool.purchase_option, "pool_id": pool.id}
    fields |= {
        "currency": fields["currency"].upper(),
        "quantity_seconds": int(fields["quantity_seconds"]),
    }
    return actions.EnteredRate(**fields)


def _weighed_rate(rate: actions.EnteredRate, context: Context) -> WeighedRate:
    """Return the rate with what speaks against it; refuse by field what entering it would refuse."""
    actions.check_rate(rate)
    doubt = actions.judged(rate).doubt
    overlapping = listing.overlapping_rate(actions.target_of(rate), rate.starts_at, rate.ends_at)
    if overlapping is not None and not (doubt and _may_take_its_place(rate, overlapping)):
        until = (
            f" until {instant(overlapping['ends_at'], context.zone)}"
            if overlapping["ends_at"]
            else ""
        )
        raise Refusal(
            "starts_at",
            f"{what_it_prices(overlapping)} has a price of that kind then{until}. End it first, or say "
            "another time",
        )
    return WeighedRate(rate, doubt, None if overlapping is None else overlapping["id"])


def _may_take_its_place(rate: actions.EnteredRate, overlapping: Rate) -> bool:
    goes_on = rate.ends_at is not None and (
        overlapping["ends_at"] is None or overlapping["ends_at"] > rate.ends_at
    )
    return overlapping["starts_at"] != rate.starts_at and not goes_on


def _preview_of(weighed: WeighedRate, context: Context) -> ChangePreview:
    """Preview what the price moves up to now, which grows while it is looked at; why it waits does not."""
    proposal, same = _proposal_of(weighed.rate), (weighed.doubt,)
    remark = weighed.rate.remark
    rounded = (f"The amount is {remark}: {weighed.rate.amount:f}.",) if remark else ()
    if not weighed.doubt:
        effects = effects_of(if_entered(proposal, context.at), context)
        return ChangePreview((*rounded, *effects), same=same)
    what_if = if_entered(replace(proposal, replaces=weighed.replaces), context.at)
    waits = f"It waits until a person of finance accepts it: {weighed.doubt}. What it moves then:"
    return ChangePreview((*rounded, waits, *effects_of(what_if, context)), same=same)


def _proposal_of(rate: actions.EnteredRate) -> Proposal:
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
