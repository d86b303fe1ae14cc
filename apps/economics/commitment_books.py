"""The books of a commitment: what was paid for it, and what its use and its unused part cost.

FOCUS: over a commitment's life Σ EffectiveCost of its used and unused rows = Σ BilledCost of its
purchases, and a purchase that covers use has no EffectiveCost of its own.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

CENT = Decimal("0.01")
MILLIONTH = Decimal("0.000001")


class BookStatus(StrEnum):
    """The standing of the books of a commitment; unknown where what was paid is not all on record."""

    BALANCED = "balanced"
    UNKNOWN = "unknown"
    EXCEEDS = "exceeds"
    FALLS_SHORT = "falls_short"


@dataclass(frozen=True, slots=True)
class CommitmentBook:
    """Sums over all rows on record that name a commitment, in one currency.

    `purchased` is what its purchases bill, None where none is on record; `effective` what all rows
    cost, None where one does not say; `of_purchases` the part of that on purchases, fees that tell
    their own unused part aside. `may_precede`: it may have been bought before the first bill.
    `is_over`: its whole term is on record.
    """

    commitment_id: str
    currency: str
    purchased: Decimal | None
    effective: Decimal | None
    of_purchases: Decimal = Decimal(0)
    may_precede: bool = False
    is_over: bool = False

    @property
    def standing(self) -> BookStatus:
        """Whether its cost is at most what was paid, and all of it once its term is over."""
        if self.purchased is None or self.effective is None:
            return BookStatus.UNKNOWN
        slack = max(CENT, abs(self.purchased) * MILLIONTH)
        if self.effective > self.purchased + slack:
            is_told_twice = self.of_purchases > 0 and (
                self.effective - self.of_purchases <= self.purchased + slack
            )
            # Without that, more than is on record may have been paid before it begins.
            is_sure = is_told_twice or not self.may_precede
            return BookStatus.EXCEEDS if is_sure else BookStatus.UNKNOWN
        if self.is_over and not self.may_precede and self.effective < self.purchased - slack:
            return BookStatus.FALLS_SHORT
        return BookStatus.BALANCED

    @property
    def is_off(self) -> bool:
        """Whether a person has to look at it."""
        return self.standing in (BookStatus.EXCEEDS, BookStatus.FALLS_SHORT)

    @property
    def words(self) -> str:
        """The words on what does not balance, in brief."""
        return (
            f"{self.commitment_id}: {_plain(self.effective)} of cost for {_plain(self.purchased)} "
            f"{self.currency} paid"
        )


def _plain(amount: Decimal | None) -> str:
    return "an unknown amount" if amount is None else f"{amount.normalize():f}"
