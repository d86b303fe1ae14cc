"""What every amount and span of pricing must be, and the hours that a change of one is charged in."""

from datetime import datetime
from decimal import Decimal

from apps.accounts.queries import organisation
from apps.fleet.actions.marks import mark_span
from apps.fleet.queries import Pass, lived_since

ORGANISATION = 0


class RateCurrencyDiffers(ValueError):
    """A rate in another currency than the organisation's needs a dated rate of exchange."""


class RateNotUnderstood(ValueError):
    """A field of a rate says nothing that could be a price; the message names the field."""


class RateEndsBeforeItStarts(ValueError):
    """Such a rate would never hold."""


def refuse_inexact(amount: Decimal) -> None:
    """Refuse RateNotUnderstood: what is no amount, or has more digits than are kept."""
    if not amount.is_finite() or amount < 0:
        raise RateNotUnderstood(f"amount: {amount} is not an amount of 0 or more")
    # A database that rounds would price by another figure than the one quoted.
    if amount != round(amount, 9) or amount >= 10**15:
        raise RateNotUnderstood(f"amount: {amount} has more than 15 digits, or 9 decimals")


def refuse_backward(starts_at: datetime | None, ends_at: datetime | None) -> None:
    """Refuse RateEndsBeforeItStarts."""
    if starts_at is not None and ends_at is not None and ends_at <= starts_at:
        raise RateEndsBeforeItStarts(f"ends_at: {ends_at} is not after {starts_at}")


def refuse_other_currency(currency: str) -> None:
    """Refuse RateCurrencyDiffers."""
    ours = organisation().currency
    if currency != ours:
        raise RateCurrencyDiffers(f"currency: the organisation keeps {ours}, not {currency}")


def mark_charge(starts_at: datetime | None, ends_at: datetime | None, at: datetime) -> None:
    """Mark charge for the past part of a span; no hour before the first node began has one."""
    since = lived_since()
    if since is None:
        return
    mark_span(
        pass_=Pass.CHARGE,
        units=[ORGANISATION],
        starts_at=since if starts_at is None else max(since, starts_at),
        ends_at=at if ends_at is None else min(at, ends_at),
    )
