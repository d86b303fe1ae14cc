"""Prices that fall, or rise, with the quantity of a month: graduated tiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise

Amount = Decimal | Fraction


class NotTiers(ValueError):
    """Tiers begin above nothing, each beyond the one before, at an amount of 0 or more."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The cost of a unit beyond `beyond` units of a month."""

    beyond: Decimal
    amount: Decimal


def checked(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    """Return the tiers as given; refuses NotTiers."""
    for tier in tiers:
        if not tier.beyond.is_finite() or tier.beyond <= 0:
            raise NotTiers(f"{tier.beyond} is not a quantity above 0")
        if not tier.amount.is_finite() or tier.amount < 0:
            raise NotTiers(f"{tier.amount} is not an amount of 0 or more")
    for first, second in pairwise(tiers):
        if second.beyond <= first.beyond:
            raise NotTiers(f"{second.beyond} does not lie beyond {first.beyond}")
    return tuple(tiers)


def parsed(text: str) -> tuple[Tier, ...]:
    """Tiers as people write them, `1000=8; 5000=7`; refuses NotTiers."""
    parts = [part.strip() for part in text.replace(",", ";").split(";")]
    return checked([_tier_of(part) for part in parts if part])


def graduated(first: Amount, tiers: Sequence[Tier], quantity: Fraction) -> Fraction:
    """Return the cost of `quantity` from the start of a month: each part of it at its tier's amount."""
    total, reached, amount = Fraction(0), Fraction(0), Fraction(first)
    for tier in tiers:
        if quantity <= tier.beyond:
            break
        total += (Fraction(tier.beyond) - reached) * amount
        reached, amount = Fraction(tier.beyond), Fraction(tier.amount)
    return total + (quantity - reached) * amount


def blended(first: Amount, tiers: Sequence[Tier], before: Fraction, quantity: Fraction) -> Fraction:
    """The one price of a unit at which `quantity` after `before` costs what its tiers do.

    Over the spans of a month, in any order, quantity times price sums to `graduated` of all of it.
    """
    if not quantity:
        return Fraction(_amount_at(first, tiers, before))
    total = graduated(first, tiers, before + quantity)
    return (total - graduated(first, tiers, before)) / quantity


def crosses(tiers: Sequence[Tier], before: Fraction, quantity: Fraction) -> bool:
    """Whether a tier begins within `quantity` after `before`."""
    return any(before < tier.beyond < before + quantity for tier in tiers)


def _amount_at(first: Amount, tiers: Sequence[Tier], quantity: Fraction) -> Amount:
    return next((tier.amount for tier in reversed(tiers) if quantity >= tier.beyond), first)


def in_words(
    first: Amount, tiers: Sequence[Tier], unit: str, before: Fraction, quantity: Fraction
) -> str:
    """How an hour came to its price; the words are the same only where the price is."""
    ends = [_plain_number(tier.beyond, 9) for tier in tiers]
    amounts = [_plain_number(amount, 9) for amount in (first, *(tier.amount for tier in tiers))]
    bands = [f"{ends[0]} {unit}-hours at {amounts[0]}"]
    bands += [f"to {end} at {amount}" for end, amount in zip(ends[1:], amounts[1:-1], strict=True)]
    price = _plain_number(blended(first, tiers, before, quantity), 9)
    sentence = f"tier: {', '.join(bands)}, then {amounts[-1]}: this hour at {price}"
    if not crosses(tiers, before, quantity):
        return sentence
    # A millisecond of a unit shows in the seventh decimal.
    return f"{sentence} ({_plain_number(before, 7)} to {_plain_number(before + quantity, 7)})"


def _tier_of(text: str) -> Tier:
    beyond, _, amount = text.partition("=")
    try:
        return Tier(Decimal(beyond.strip()), Decimal(amount.strip()))
    except InvalidOperation:
        raise NotTiers(f"{text!r} is not a tier such as 1000=8") from None


def _plain_number(number: Amount, digits: int) -> str:
    rounded = round(Fraction(number), digits)
    exact = Decimal(rounded.numerator) / Decimal(rounded.denominator)
    return f"{exact.normalize():,f}"
