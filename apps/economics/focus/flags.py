"""What is odd about a bill's file, told from its rows as they go by."""

from dataclasses import dataclass
from decimal import Decimal

from apps.economics.focus.rows import Costs

ENOUGH = 3
"""So many rows with cents must agree before a bill is called rounded."""


@dataclass(slots=True)
class Roundness:
    """Whether one bill's EffectiveCost was rounded to whole units while its BilledCost was not."""

    with_cents: int = 0
    effective_with_cents: int = 0

    def see(self, costs: Costs) -> None:
        """Take a row in."""
        if _has_cents(costs.billed) and costs.effective is not None:
            self.with_cents += 1
            self.effective_with_cents += _has_cents(costs.effective)

    @property
    def is_rounded(self) -> bool:
        """Rows with cents were billed, and not one of them kept its cents."""
        return self.with_cents >= ENOUGH and not self.effective_with_cents


def _has_cents(amount: Decimal) -> bool:
    return amount != amount.to_integral_value()
