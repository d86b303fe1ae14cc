"""The day that the roll-up sums anew, as every table that it writes is told of it."""

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class RolledDay:
    """A local day's hours `[starts_at, ends_at)`, for the pools marked (0: lines of none)."""

    day: date
    starts_at: datetime
    ends_at: datetime
    pool_ids: tuple[int, ...]

    def parameters(self) -> dict[str, object]:
        """As queries name them."""
        return {
            "day": self.day,
            "from": self.starts_at,
            "to": self.ends_at,
            "pools": list(self.pool_ids),
        }
