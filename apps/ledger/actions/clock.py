"""Time is a fact too: the clock marks hours as they begin, go on, and come to rest."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.ledger.actions.charge import SETTLES_AFTER
from apps.ledger.models import ClockSweep
from apps.logs.changes import answered, logged_change
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass

REFRESHED_EVERY = timedelta(minutes=10)


@logged_change(count=answered)
def mark_by_clock(*, at: datetime) -> int:
    """Mark every hour for the charge pass that began, is still provisional, or came to rest.

    The first sweep begins with the organisation or, if that is later, with the first node's life:
    what is told of the time before marks its own hours, so that of a history nobody lived in no
    hour is marked. After an outage a sweep goes on from
    the last hour that was marked. Returns how many spans it marked.
    """
    with transaction.atomic():
        sweep = _locked_sweep(at)
        spans = list(_spans_to_mark(sweep, at))
        for starts_at, ends_at in spans:
            mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=ends_at)
        sweep.begun_through = max(sweep.begun_through, hour_of(at) + HOUR)
        sweep.final_through = max(sweep.final_through, hour_of(at - SETTLES_AFTER))
        if at >= sweep.refreshed_at + REFRESHED_EVERY:
            sweep.refreshed_at = at
        sweep.save()
    return len(spans)


def _locked_sweep(at: datetime) -> ClockSweep:
    """The one row, locked; made by whoever comes first."""
    organised_at, lived_since = accounts.organised_at(), fleet.first_node_started_at()
    since = max(organised_at, lived_since) if organised_at and lived_since else at
    first = ClockSweep(
        begun_through=min(hour_of(since), hour_of(at)),
        final_through=hour_of(at - SETTLES_AFTER),
        refreshed_at=at,
    )
    ClockSweep.objects.bulk_create([first], ignore_conflicts=True)
    return ClockSweep.objects.select_for_update().get(id=first.id)


def _spans_to_mark(sweep: ClockSweep, at: datetime) -> Iterable[tuple[datetime, datetime]]:
    """Yield the spans to be marked: begun since, to be refreshed, and two hours past since."""
    rested = hour_of(at - SETTLES_AFTER)
    if sweep.begun_through <= hour_of(at):
        yield sweep.begun_through, hour_of(at) + HOUR
    if at >= sweep.refreshed_at + REFRESHED_EVERY:
        yield rested, hour_of(at) + HOUR
    if sweep.final_through < rested:
        yield sweep.final_through, rested
