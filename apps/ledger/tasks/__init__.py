"""Sweeps: hours marked by the clock, what is marked settled a little at a time, exports made."""

import logging
import time
from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from apps.fleet.actions.clouds import SyncRunsAlready, SyncTakenOver
from apps.fleet.queries.clouds import syncs_due
from apps.ledger import actions
from apps.ledger.actions.charge import lift_empty_hours
from apps.ledger.actions.close.digesting import digest_earlier_closes
from apps.ledger.actions.reconcile import reconcile_waiting
from apps.ledger.queries.due import hours_due, resting
from apps.ledger.tasks.api_usage import price_marked
from apps.ledger.tasks.bill_uploads import take_uploaded
from apps.ledger.tasks.exports import forget_files, make_waiting
from apps.marks.actions import expand_ranges
from apps.marks.queries import Pass
from apps.providers.cloud import CloudRefused

log = logging.getLogger(__name__)

BUDGET_SECONDS = 25
HOURS_AT_ONCE = 24
RESETTLED_EVERY = timedelta(minutes=10)
BILLS = frozenset({"bills"})
OF_AN_HOUR = (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD)


@shared_task
def mark_hours_by_clock() -> None:
    """Mark hours as they begin, while they are provisional, and two hours after their end.

    Then digest one month that was closed by a version that made no digests of its tables.
    """
    actions.mark_by_clock(at=timezone.now())
    digest_earlier_closes(at=timezone.now())


@shared_task
def settle_marked_hours() -> None:
    """Settle what is marked, newest hour first, for at most half a minute; the next sweep goes on.

    Two at once take different hours: each hour has a lock. Days are summed before and after, so
    that a long backlog of hours cannot keep pages waiting. What raises is left to the next sweep.
    """
    until = time.monotonic() + BUDGET_SECONDS
    at = timezone.now()
    expand_ranges()
    lift_empty_hours(before=at)
    failed_days = _roll_up(at, until)
    waiting = _hours_waiting(at)
    for first in range(0, len(waiting), HOURS_AT_ONCE):
        hours = waiting[first : first + HOURS_AT_ONCE]
        for pass_ in OF_AN_HOUR:
            if time.monotonic() > until:
                return
            failed = actions.try_pass(
                passes=actions.PASSES, pass_=pass_, hours=hours, at=at, until=until
            )
            hours = [hour for hour in hours if hour not in failed]
    _roll_up(at, until, besides=failed_days)


@shared_task
def price_calls() -> None:
    """Price the calls to model APIs that came since, and those whose price changed."""
    price_marked(timezone.now())


@shared_task
def make_exports() -> None:
    """Make the exports that wait, and forget the files of those that are over."""
    make_waiting()
    forget_files()


@shared_task
def take_bills() -> None:
    """Take in the bills that were uploaded."""
    take_uploaded()


@shared_task
def reconcile_bills() -> None:
    """Reconcile the bills that changed, and those that what they go by changed of."""
    expand_ranges()
    reconcile_waiting(timezone.now)


@shared_task
def sync_cloud_bills() -> None:
    """Fetch the bills of clouds that are due; what breaks off says so and comes again."""
    for account, what in syncs_due(timezone.now(), BILLS):
        # Another sweep may have read it while this one read what came before.
        if (account, what) not in syncs_due(timezone.now(), BILLS):
            continue
        # The clouds' libraries take seconds and a hundred MiB; workers that never ask do without.
        from apps.ledger.tasks.cloud_bills import sync_bills

        try:
            sync_bills(account, what, timezone.now)
        except (CloudRefused, SyncRunsAlready, SyncTakenOver) as refused:
            log.warning(
                "sync_broken_off account_id=%s what=%s reason=%s", account.id, what, refused
            )


def _roll_up(
    at: datetime, until: float, besides: frozenset[datetime] = frozenset()
) -> frozenset[datetime]:
    """Sum the days that wait, `besides` those that raised before; which raised now."""
    failed: set[datetime] = set()
    for pass_ in (Pass.ROLLUP, Pass.ROLLUP_CORRECTIONS):
        for day in hours_due(pass_, at):
            if time.monotonic() > until:
                break
            if day not in besides:
                failed |= actions.try_pass(passes=actions.PASSES, pass_=pass_, hours=[day], at=at)
    return frozenset(failed)


def _hours_waiting(at: datetime) -> list[datetime]:
    """Hours that wait for any pass, newest first: people look at today.

    Late data settles an hour again at most once in ten minutes.
    """
    charge, split, spread = (set(hours_due(pass_, at)) for pass_ in OF_AN_HOUR)
    # The charge pass marks the split of its hour, so both wait their turn.
    settled_lately = resting(charge | split, at - RESETTLED_EVERY)
    return sorted((charge | split) - settled_lately | spread, reverse=True)
