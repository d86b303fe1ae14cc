"""Prices, quantities and costs of a row that agree to the last digit."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

from apps.economics.focus.cells import EXACTLY, PRICE_STEP
from apps.economics.hours import HOUR_MS
from apps.economics.split import largest_remainder

QUANTITY_STEP = Decimal("1E-12")
MACHINE_STEP = Decimal("1E-6")
ONE = Decimal(1)


class PricedRow(NamedTuple):
    """A unit price and the cost that it times the quantity is; None where there is no such price."""

    unit_price: Decimal | None
    cost: Decimal


def money(micros: int) -> Decimal:
    """Micro-units as an amount of the currency, exactly."""
    return Decimal(micros).scaleb(-6, EXACTLY)


def hours_of(milliseconds: int) -> Decimal:
    """Hours, to 1e-12 of one."""
    hours = EXACTLY.divide(Decimal(milliseconds), Decimal(HOUR_MS))
    return hours.quantize(QUANTITY_STEP, ROUND_HALF_EVEN, EXACTLY)


def machine_hours(milliseconds: int) -> Decimal | None:
    """Hours that a price is for, to 1e-6 of one; None where that is none.

    No finer: with a price to 1e-16 the product then has 28 digits up to 99,999 of a currency, which
    is what most programs multiply decimals with.
    """
    return hours_of(milliseconds).quantize(MACHINE_STEP, ROUND_HALF_EVEN, EXACTLY) or None


def priced(micros: int | None, quantity: Decimal | None) -> PricedRow:
    """The price of one of `quantity`, and price × quantity, which is not rounded again.

    A price is to 1e-16, rounded up so that the order of two bases stays; whoever keeps costs to
    1e-14 gets the micro-units back where the quantity is below 49. What is unknown, below zero
    or has no quantity has no price and costs its micro-units (nothing, where they are unknown).
    """
    cost = money(micros or 0)
    if micros is None or micros < 0 or not quantity:
        return PricedRow(None, cost)
    price = EXACTLY.divide(cost, quantity).quantize(PRICE_STEP, ROUND_CEILING, EXACTLY)
    return PricedRow(price, EXACTLY.multiply(price, quantity))


def parts_of(quantity: Decimal, weights: Sequence[int]) -> list[Decimal]:
    """`quantity` (to 1e-12) divided by weight: the parts sum to it; evenly where nothing weighs."""
    steps = int(EXACTLY.divide(quantity, QUANTITY_STEP))
    by = weights if any(weights) else [1] * len(weights)
    return [Decimal(part).scaleb(-12, EXACTLY) for part in largest_remainder(steps, by)]
