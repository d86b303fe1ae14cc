"""Corrections of what came late for a closed month, posted in an open one as the difference it makes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction

from apps.accounts import queries as accounts
from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.close.closing import MonthNotClosed
from apps.ledger.actions.close.corrected import keep_marks, posted_marks, recharged_hours
from apps.ledger.actions.close.late_estimates import keep_late_estimates
from apps.ledger.actions.close.posting import place_of, post
from apps.ledger.actions.closed import lock_month
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.reconcile import reconcile_waiting
from apps.ledger.actions.split import split_hour
from apps.ledger.actions.spread import spread_hour
from apps.ledger.models import Close
from apps.ledger.queries.bills.hours import estimates_of_hour, is_spread_over
from apps.ledger.queries.calendar import HourSpan, month_span
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.closes.differences import (
    BasisSums,
    LineKey,
    corrected_sums_of_hour,
    sums_of_hour,
)
from apps.ledger.queries.closes.months import LATE_PASSES
from apps.ledger.queries.tiered import hours_to_price_again
from apps.logs.changes import field_of, logged_change, untold
from apps.marks.actions import ORGANISATION, Mark, clear, expand_ranges, mark
from apps.marks.queries import Pass, hours_marked, marks_of_hour
from apps.pricing.queries.tiers import has_tiers

AT_ONCE = 100_000
SOON = timedelta(hours=3)
"""Past the moment at which an hour is no longer provisional."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrections that were posted: of how many hours, and what they sum to on the effective basis."""

    hours: int
    charges: int
    effective_micros: int


@logged_change(count=field_of("charges"))
def post_corrections(*, month: date, at: datetime) -> Corrected:
    """Post what changed in a closed month since; its own lines stay as they were told.

    Each hour is settled anew inside a savepoint that is taken back, and what would differ is
    posted as correction charges of that hour in the month of `at`, which carry no device time. A
    closed month's corrections count in: doing it again posts nothing. Refuses MonthNotClosed and NoOpenMonth.
    """
    if month not in closed_months():
        raise MonthNotClosed(f"{month:%Y-%m} is open")
    while expand_ranges():
        pass
    zone = accounts.organisation().zone
    span = month_span(month, zone)
    _mark_moved(_late_hours(span.starts_at, span.ends_at), span.ends_at, zone)
    _reconcile_late(month, span, at)
    hours = charges = effective = 0
    for hour in _late_hours(span.starts_at, span.ends_at):
        posted = _correct_hour(month, hour, at)
        hours += bool(posted.charges)
        charges += posted.charges
        effective += posted.effective_micros
    return Corrected(hours, charges, effective)


def _reconcile_late(month: date, span: HourSpan, at: datetime) -> None:
    """Reconcile bills by what the month's hours would cost now; what they change there is marked."""
    for hour in hours_marked(Pass.CHARGE, span.ends_at, AT_ONCE):
        if hour >= span.starts_at and is_spread_over(hour):
            _reestimate_hour(month, hour, at)
    reconcile_waiting(lambda: at)


@transaction.atomic
def _reestimate_hour(month: date, hour: datetime, at: datetime) -> None:
    lock_month(month)
    with _taken_back():
        _recharge_hour(month, hour, at)
        estimates = estimates_of_hour(hour)
    mark(keep_late_estimates(hour, estimates))


def _recharge_hour(month: date, hour: datetime, at: datetime) -> None:
    """Charge an hour as if its month were open; the caller takes it back."""
    Close.objects.filter(month=month, reopened_at=None).update(reopened_at=at)
    # The month's own lines have nothing of what is posted already: that is done again too.
    mark(posted_marks(hour))
    _refuse_busy(hour, charge_hour(hour=hour, at=max(at, hour + SOON)))


def _refuse_busy(hour: datetime, outcome: Outcome) -> None:
    if not outcome.done:
        # Whoever has an hour of the month has its lock too, which is had here alone.
        raise RuntimeError(f"{hour:%Y-%m-%d %H:%M}Z is settled by somebody else meanwhile")


def _late_hours(starts_at: datetime, ends_at: datetime) -> list[datetime]:
    hours = {hour for pass_ in LATE_PASSES for hour in hours_marked(pass_, ends_at, AT_ONCE)}
    return sorted(hour for hour in hours if hour >= starts_at)


@transaction.atomic
def _mark_moved(late: Sequence[datetime], ends_at: datetime, zone: str) -> None:
    """Mark the hours after what came late: it moves their tier prices too, or moves them back."""
    if late and has_tiers(late[0], ends_at):
        moved = hours_to_price_again(late[0], ends_at, zone)
        again = recharged_hours(late[0], ends_at)
        mark(Mark(Pass.CHARGE, ORGANISATION, hour) for hour in {*moved, *again})


@transaction.atomic
def _correct_hour(month: date, hour: datetime, at: datetime) -> Corrected:
    lock_month(month)
    place = place_of(at, f"came after {hour:%Y-%m} was closed")
    marks = {pass_: marks_of_hour(pass_, hour) for pass_ in LATE_PASSES}
    before = corrected_sums_of_hour(hour)
    with _taken_back():
        _recharge_hour(month, hour, at)
        _refuse_busy(hour, split_hour(hour=hour, at=at))
        _refuse_busy(hour, spread_hour(hour=hour))
        after = sums_of_hour(hour)
    differences = _sums_moved(before, after)
    keep_marks(hour, marks)
    for pass_, of_pass in marks.items():
        clear(pass_, {hour: of_pass})
    charges = post(differences=differences, hour=hour, place=place)
    effective = sum(difference.effective_micros or 0 for difference in differences.values())
    return Corrected(1, charges, effective)


class _TakenBack(Exception):
    """Ends a savepoint without keeping anything of it."""


@contextmanager
def _taken_back() -> Iterator[None]:
    try:
        with untold(), transaction.atomic():
            yield
            raise _TakenBack
    except _TakenBack:
        pass


def _sums_moved(
    before: Mapping[LineKey, BasisSums], after: Mapping[LineKey, BasisSums]
) -> dict[LineKey, BasisSums]:
    """Return the difference of each line's sum; a basis that is unknown on a side counts as nothing there."""
    nothing = BasisSums(None, None, None, None)
    moved: dict[LineKey, BasisSums] = {}
    for key in sorted({*before, *after}, key=repr):
        was, now = before.get(key, nothing), after.get(key, nothing)
        difference = BasisSums(
            *(
                None if old is None and new is None else (new or 0) - (old or 0)
                for old, new in zip(was, now, strict=True)
            )
        )
        if any(difference):
            moved[key] = difference
    return moved
