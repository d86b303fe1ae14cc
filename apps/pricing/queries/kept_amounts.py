"""Amounts as they are kept: how many digits, and how more are rounded."""

from decimal import Decimal

KEPT_DECIMALS = 9
LARGEST = Decimal(10) ** 12
"""What an hour costs at such a price is kept to a millionth, in eight bytes."""


def stored_amount(amount: Decimal) -> Decimal:
    """The amount as it is kept: rounded to 9 decimals, half to even.

    What is no amount, or would become 0, stays as it is: to be refused, never to be taken as free.
    """
    if not amount.is_finite() or abs(amount) >= LARGEST:
        return amount
    rounded_amount = round(amount, KEPT_DECIMALS)
    return amount if rounded_amount == amount or not rounded_amount else rounded_amount


def rounding_remark(quoted: Decimal, rounded_amount: Decimal) -> str:
    """How an amount was rounded, in words; empty: it was not."""
    if quoted == rounded_amount or not quoted.is_finite():
        return ""
    exponent = quoted.normalize().as_tuple().exponent
    return f"quoted with {-int(exponent)} decimals, kept to {KEPT_DECIMALS}"
