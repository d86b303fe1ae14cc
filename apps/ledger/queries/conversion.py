"""What a bill's currency is worth in the organisation's."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction


class RateOfExchangeMissing(Exception):
    """No rate of exchange was ever stated for this pair: nothing can be converted."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Organisation's units for one of the bill's; provisional until the month's rate is stated."""

    rate: Fraction
    is_stated: bool


SAME = Conversion(Fraction(1), is_stated=True)


def conversion(*, currency: str, to: str, month: date) -> Conversion:
    """The month's rate. Refuses RateOfExchangeMissing."""
    if currency == to:
        return SAME
    raise RateOfExchangeMissing(f"no rate of exchange from {currency} to {to} for {month:%Y-%m}")
