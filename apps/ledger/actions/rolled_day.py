"""A local day's pools that wait for a pass: what every table that it writes is told of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.ledger.actions.marked import Done, redo_marked
from apps.ledger.actions.outcome import Outcome
from apps.ledger.queries.calendar import day_span, local_day
from apps.marks.actions import Mark
from apps.marks.queries import Pass


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


def redo_day(
    *,
    pass_: Pass,
    first_hour: datetime,
    write: Callable[[RolledDay], int],
    next_pass: Pass | None = None,
) -> Outcome:
    """Have `write` do the marked pools of the day that begins with `first_hour`; it answers rows.

    In one transaction with their marks, which `next_pass` then has of the same pools.
    """
    zone = accounts.organisation().zone
    day = local_day(first_hour, zone)
    span = day_span(day, zone)

    def work(pool_ids: Sequence[int]) -> Done:
        written = write(RolledDay(day, span.starts_at, span.ends_at, tuple(pool_ids)))
        if next_pass is None:
            return Outcome(changed=written), ()
        return Outcome(changed=written), [Mark(next_pass, each, first_hour) for each in pool_ids]

    month, key = day.replace(day=1), day.toordinal()
    return redo_marked(pass_, first_hour, month=month, key=key, work=work)
