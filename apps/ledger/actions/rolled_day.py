"""A local day's pools that wait for a pass, and the months in which their sums may be written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.ledger.actions.closed import closed_month_outcome
from apps.ledger.actions.marked import Done, redo_marked
from apps.ledger.actions.outcome import BUSY, Outcome
from apps.ledger.queries.calendar import HourSpan, day_span, local_day
from apps.ledger.queries.tables import rows
from apps.marks.actions import Mark
from apps.marks.queries import OF_CORRECTIONS, Pass


@dataclass(frozen=True, slots=True)
class RolledDay:
    """A local day's hours `[starts_at, ends_at)`, for the pools marked (0: lines of none).

    `months` are the posting months whose rows of the day are written anew: no other's are touched.
    """

    day: date
    starts_at: datetime
    ends_at: datetime
    pool_ids: tuple[int, ...]
    months: tuple[date, ...]

    @property
    def own_month(self) -> date:
        """The month that the day is of; later ones post corrections of it."""
        return self.day.replace(day=1)

    @property
    def has_own_month(self) -> bool:
        """Whether what the day itself was is written anew, or only what corrects it."""
        return self.own_month in self.months

    def parameters(self) -> dict[str, object]:
        """As queries name them."""
        return {
            "day": self.day,
            "from": self.starts_at,
            "to": self.ends_at,
            "pools": list(self.pool_ids),
            "months": list(self.months),
            "own_month": self.own_month,
        }


def redo_day(
    *,
    pass_: Pass,
    first_hour: datetime,
    write: Callable[[RolledDay], int],
    next_pass: Pass | None = None,
) -> Outcome:
    """Have `write` do the marked pools of the day that begins with `first_hour`; it answers rows.

    In its own month and those which post corrections of it, as far as they are open; a pass of
    OF_CORRECTIONS leaves its own month alone. In one transaction with their marks, which
    `next_pass` then has of the same pools.
    """
    zone = accounts.organisation().zone
    day = local_day(first_hour, zone)
    span = day_span(day, zone)
    own_month = None if pass_ in OF_CORRECTIONS else day.replace(day=1)

    def work(pool_ids: Sequence[int]) -> Done:
        # Which months there are is asked after the marks were read: a later one lays a mark anew.
        months = _open_months(_correcting_months(day, span))
        if months is None:
            return BUSY, ()
        months = months if own_month is None else (own_month, *months)
        written = write(RolledDay(day, span.starts_at, span.ends_at, tuple(pool_ids), months))
        if next_pass is None:
            return Outcome(changed=written), ()
        return Outcome(changed=written), [
            Mark(next_pass, pool_id, first_hour) for pool_id in pool_ids
        ]

    also = () if own_month else (OF_SAME_ROWS[pass_],)
    return redo_marked(
        pass_, first_hour, month=own_month, key=day.toordinal(), work=work, also=also
    )


def _correcting_months(day: date, span: HourSpan) -> list[date]:
    """The months in which corrections of the day are posted, in order."""
    month_rows = rows(
        CORRECTING, {"from": span.starts_at, "to": span.ends_at, "own_month": day.replace(day=1)}
    )
    return [month for (month,) in month_rows]


def _open_months(months: Sequence[date]) -> tuple[date, ...] | None:
    """Those of `months` that are open, and stay so until the transaction ends; None: one is being closed."""
    outcomes = {month: closed_month_outcome(month) for month in months}
    if BUSY in outcomes.values():
        return None
    return tuple(month for month in months if outcomes[month] is None)


OF_SAME_ROWS = {Pass.ROLLUP_CORRECTIONS: Pass.ROLLUP, Pass.DIVIDE_CORRECTIONS: Pass.DIVIDE}
"""The pass that writes rows of corrections too, and may not run meanwhile."""
CORRECTING = """
SELECT DISTINCT posting_month FROM ledger_line
WHERE hour >= %(from)s AND hour < %(to)s AND posting_month > %(own_month)s
ORDER BY 1
"""
