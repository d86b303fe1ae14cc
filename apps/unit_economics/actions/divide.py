"""The divide pass: what runs and services cost of the lines of a local day and pool."""

from datetime import datetime

from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.rolled_day import RolledDay, redo_day
from apps.ledger.actions.settle import Passes, one_by_one
from apps.logs.changes import field_of, logged_pass
from apps.marks.queries import Pass
from apps.unit_economics.actions.runs import write_run_days, write_run_figures
from apps.unit_economics.actions.services import write_service_days


@logged_pass("divide", count=field_of("changed"))
def divide_day(*, first_hour: datetime, at: datetime) -> Outcome:
    """Divide the day that begins with `first_hour` anew, for every pool marked (0: lines of none).

    `changed` counts the runs whose figures were written. It writes no line and no sum of lines.
    """
    return _divide(Pass.DIVIDE, first_hour, at)


@logged_pass("divide_corrections", count=field_of("changed"))
def divide_corrections(*, first_hour: datetime, at: datetime) -> Outcome:
    """Divide anew what open months post of the day that begins with `first_hour`, as `divide_day`."""
    return _divide(Pass.DIVIDE_CORRECTIONS, first_hour, at)


def _divide(pass_: Pass, first_hour: datetime, at: datetime) -> Outcome:
    def write(rolled: RolledDay) -> int:
        unasked = write_service_days(rolled)
        run_ids = write_run_days(rolled, unasked)
        write_run_figures(run_ids=run_ids, at=at)
        return len(run_ids)

    return redo_day(pass_=pass_, first_hour=first_hour, write=write)


PASSES: Passes = {
    Pass.DIVIDE: one_by_one(lambda hour, at: divide_day(first_hour=hour, at=at)),
    Pass.DIVIDE_CORRECTIONS: one_by_one(
        lambda hour, at: divide_corrections(first_hour=hour, at=at)
    ),
}
"""What does the passes of this app, in the order a dollar goes through them."""
