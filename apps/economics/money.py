"""Exact amounts of money: a decimal and its currency, never a float."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, InvalidOperation
from typing import TypeVar

MICROS = 1_000_000
# The default context would round a 29th digit without a word; this one raises Inexact.
EXACT = Context(prec=60, traps=[Inexact, InvalidOperation])
ROUNDING = Context(prec=60, traps=[InvalidOperation])

Number = TypeVar("Number", int, float)


class NotMoney(TypeError):
    """An amount was neither a finite Decimal nor an integer."""


class CurrenciesDiffer(ValueError):
    """Two amounts of different currencies met without a dated rate of exchange."""


class FractionalMicros(ValueError):
    """An amount to be stored has digits below the micro-unit."""


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount in one currency (its ISO 4217 code)."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        """Refuse anything that could have lost a digit on its way here."""
        if not isinstance(self.amount, Decimal) or not self.amount.is_finite():
            raise NotMoney(f"{self.amount!r} is not an exact amount of money")

    @classmethod
    def from_micros(cls, micros: int, currency: str) -> "Money":
        """The amount that `micros` stored micro-units stand for."""
        if not isinstance(micros, int):
            raise NotMoney(f"{micros!r} is not a whole number of micro-units")
        return cls(EXACT.scaleb(Decimal(micros), -6), currency)

    def micros(self) -> int:
        """Whole micro-units, as stored; refuses FractionalMicros rather than round."""
        numerator, denominator = self.amount.as_integer_ratio()
        quotient, remainder = divmod(numerator * MICROS, denominator)
        if remainder:
            raise FractionalMicros(f"{self.amount} {self.currency} is not a whole number of micros")
        return quotient

    def rounded(self, *, digits: int = 2) -> "Money":
        """Half-even at `digits` decimals: for invoices and screens only."""
        step = Decimal(1).scaleb(-digits)
        return Money(self.amount.quantize(step, ROUND_HALF_EVEN, ROUNDING), self.currency)

    def __add__(self, other: "Money") -> "Money":
        """Refuses CurrenciesDiffer."""
        self._refuse_other_currency(other)
        return Money(EXACT.add(self.amount, other.amount), self.currency)

    def __sub__(self, other: "Money") -> "Money":
        """Refuses CurrenciesDiffer."""
        self._refuse_other_currency(other)
        return Money(EXACT.subtract(self.amount, other.amount), self.currency)

    def __neg__(self) -> "Money":
        """Turn a charge into a credit."""
        return Money(EXACT.minus(self.amount), self.currency)

    def _refuse_other_currency(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise CurrenciesDiffer(f"{self.currency} and {other.currency} do not add up")


def sum_of_known(amounts: Iterable[Number | None]) -> Number | None:
    """The sum of those that are known; None where none is."""
    known_amounts = [amount for amount in amounts if amount is not None]
    return sum(known_amounts) if known_amounts else None


def sum_or_unknown(amounts: Iterable[int | None]) -> int | None:
    """The sum; None where any of it is unknown. Of nothing it is 0."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total
