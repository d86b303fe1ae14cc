"""The roll-up pass: the lines of a local day and pool, summed as pages and reports read them."""

from datetime import datetime

from django.db import transaction

from apps.accounts import queries as accounts
from apps.ledger.actions.closed import kept_closed
from apps.ledger.actions.meter_days import write_meter_days
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.actions.rolled_sums import write_day_sums, write_month_sums
from apps.ledger.actions.runs import write_run_days, write_run_figures
from apps.ledger.actions.services import write_service_days
from apps.ledger.queries.calendar import day_span, local_day
from apps.marks.actions import clear, try_lock
from apps.marks.queries import Pass, marks_of_hour


def roll_up_day(*, first_hour: datetime, at: datetime) -> Outcome:
    """Sum the day that begins with `first_hour` anew, for every pool marked (0: lines of none)."""
    zone = accounts.organisation().zone
    day = local_day(first_hour, zone)
    with transaction.atomic():
        kept = kept_closed(day.replace(day=1))
        if kept is not None:
            return kept
        if not try_lock(Pass.ROLLUP, day.toordinal()):
            return BUSY
        marks = marks_of_hour(Pass.ROLLUP, first_hour)
        if not marks:
            return NOTHING
        span = day_span(day, zone)
        marked = tuple(each.unit for each in marks)
        rolled = RolledDay(day, span.starts_at, span.ends_at, marked)
        written = write_day_sums(rolled)
        write_meter_days(rolled)
        unasked = write_service_days(rolled)
        touched = write_run_days(rolled, unasked)
        write_run_figures(run_ids=touched, at=at)
        write_month_sums(rolled)
        clear(Pass.ROLLUP, first_hour, marks)
    return Outcome(changed=written)
