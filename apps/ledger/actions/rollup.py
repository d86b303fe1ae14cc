"""The roll-up pass: the lines of a local day and pool, summed as pages and reports read them."""

from datetime import datetime

from apps.ledger.actions.meter_days import write_meter_days
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.rolled_day import RolledDay, redo_day
from apps.ledger.actions.rolled_sums import write_day_sums, write_month_sums
from apps.logs.changes import field_of, logged_pass
from apps.marks.queries import Pass


@logged_pass("roll_up", count=field_of("changed"))
def roll_up_day(*, first_hour: datetime) -> Outcome:
    """Sum the day that begins with `first_hour` anew, for every pool marked (0: lines of none).

    What is summed anew is divided anew: the divide pass is marked.
    """
    return redo_day(
        pass_=Pass.ROLLUP, first_hour=first_hour, write=_write_sums, next_pass=Pass.DIVIDE
    )


@logged_pass("roll_up_corrections", count=field_of("changed"))
def roll_up_corrections(*, first_hour: datetime) -> Outcome:
    """Sum anew what open months post of the day that begins with `first_hour`, for every pool marked.

    What the day itself was is left as it stands: its own month may be closed.
    """
    return redo_day(
        pass_=Pass.ROLLUP_CORRECTIONS,
        first_hour=first_hour,
        write=_write_sums,
        next_pass=Pass.DIVIDE_CORRECTIONS,
    )


def _write_sums(rolled: RolledDay) -> int:
    written = write_day_sums(rolled)
    if rolled.has_own_month:
        # Corrections carry no time, and so nothing of what meters told.
        write_meter_days(rolled)
    write_month_sums(rolled)
    return written
