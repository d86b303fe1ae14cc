"""Checks of every amount and span of pricing, and the hours that a change of one is charged in."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal
from apps.economics.tiers import NotTiers, Tier, checked
from apps.fleet.queries import first_node_started_at, node_lifetime_spans
from apps.marks.actions import ORGANISATION, mark_span, mark_spans
from apps.marks.queries import Pass
from apps.pricing.queries.converting import month_of_hour
from apps.pricing.queries.exchange import exchange
from apps.pricing.queries.kept_amounts import KEPT_DECIMALS, LARGEST
from apps.pricing.queries.reach import Prices, pools_priced


class RateCurrencyDiffers(Refusal):
    """An amount in another currency than the organisation's, and no rate of exchange is known."""


class RateNotUnderstood(Refusal):
    """A field of a rate says nothing that could be a price."""


class RateEndsBeforeItStarts(Refusal):
    """Such a rate would never hold."""


def refuse_inexact(amount: Decimal, field: str = "amount") -> None:
    """Refuse RateNotUnderstood: what is no amount, or has more digits than are kept."""
    if not amount.is_finite() or amount < 0:
        raise RateNotUnderstood(field, f"{amount} is not an amount of 0 or more")
    # A database that rounds would price by another figure than the one quoted.
    if 0 < amount < 1 and not round(amount, KEPT_DECIMALS):
        raise RateNotUnderstood(
            field,
            f"{amount} would be 0 with the 9 decimals that are kept, and 0 is free; quote it for "
            "more, such as an hour",
        )
    if amount >= LARGEST or amount != round(amount, KEPT_DECIMALS):
        raise RateNotUnderstood(field, f"{amount} has more than 12 digits, or 9 decimals")


def refuse_backward(starts_at: datetime | None, ends_at: datetime | None) -> None:
    """Refuse RateEndsBeforeItStarts."""
    if starts_at is not None and ends_at is not None and ends_at <= starts_at:
        raise RateEndsBeforeItStarts("ends_at", f"{ends_at} is not after {starts_at}")


def refuse_other_currency(currency: str) -> None:
    """Refuse RateCurrencyDiffers."""
    ours = organisation().currency
    if currency != ours:
        raise RateCurrencyDiffers("currency", f"the organisation keeps {ours}, not {currency}")


def refuse_unconvertible(currency: str, starts_at: datetime | None) -> None:
    """Refuse RateCurrencyDiffers: what nothing converts in the first month that it is charged in."""
    ours = organisation()
    if currency == ours.currency:
        return
    moments = [moment for moment in (starts_at, first_node_started_at()) if moment is not None]
    month = month_of_hour(max(moments), ours.zone) if moments else date.max.replace(day=1)
    if exchange(from_currency=currency, to_currency=ours.currency, month=month) is None:
        when = f" for {month:%Y-%m} or before" if moments else ""
        raise RateCurrencyDiffers(
            "currency",
            f"no rate of exchange from {currency} to {ours.currency} is known{when}; "
            "state one first",
        )


def refuse_tiers(tiers: Sequence[Tier]) -> None:
    """Refuse RateNotUnderstood: tiers that do not rise, or more digits than are kept."""
    try:
        checked(tiers)
    except NotTiers as refusal:
        raise RateNotUnderstood("tiers", f"{refusal}") from refusal
    for tier in tiers:
        if tier.beyond != round(tier.beyond, 3) or tier.beyond >= 10**12:
            raise RateNotUnderstood(
                "tiers", f"{tier.beyond} has more than 12 digits, or 3 decimals"
            )
        refuse_inexact(tier.amount, "tiers")


def mark_priced(
    prices: Prices, starts_at: datetime | None, ends_at: datetime | None, at: datetime
) -> None:
    """Mark charge for the past hours of a span in which a node lived that this may be a price of."""
    pool_ids = [pool.id for pool in pools_priced(prices)]
    until = at if ends_at is None else min(at, ends_at)
    mark_spans(
        pass_=Pass.CHARGE,
        spans=[
            (
                ORGANISATION,
                since if starts_at is None else max(since, starts_at),
                until if ended_at is None else min(until, ended_at),
            )
            for since, ended_at in (node_lifetime_spans(pool_ids) if pool_ids else ())
        ],
    )


def mark_charge(starts_at: datetime | None, ends_at: datetime | None, at: datetime) -> None:
    """Mark charge for the past part of a span; no hour before the first node began has one."""
    since = first_node_started_at()
    if since is None:
        return
    mark_span(
        pass_=Pass.CHARGE,
        units=[ORGANISATION],
        starts_at=since if starts_at is None else max(since, starts_at),
        ends_at=at if ends_at is None else min(at, ends_at),
    )
