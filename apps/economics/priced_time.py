"""GPU time and what it came to, of which a part may have no price."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(slots=True)
class PricedTime:
    """GPU-milliseconds, their exact cost in micro-units (of what has a price), and what has none."""

    milliseconds: int = 0
    cost: Fraction = Fraction(0)
    unpriced_ms: int = 0

    def add(self, milliseconds: int, price: Fraction | None) -> None:
        """So much more, at this price of a GPU-millisecond; None: it is not known."""
        self.milliseconds += milliseconds
        if price is None:
            self.unpriced_ms += milliseconds
        else:
            self.cost += price * milliseconds

    @property
    def micros(self) -> int | None:
        """The cost of what has a price, rounded once; None where there is time and none of it has one."""
        is_unknown = self.unpriced_ms > 0 and self.unpriced_ms == self.milliseconds
        return None if is_unknown else round(self.cost)


def time_together(times: Iterable[PricedTime]) -> PricedTime:
    """All of them as one."""
    total = PricedTime()
    for time in times:
        total.milliseconds += time.milliseconds
        total.cost += time.cost
        total.unpriced_ms += time.unpriced_ms
    return total
