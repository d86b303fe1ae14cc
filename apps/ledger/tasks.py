"""Sweeps: hours marked by the clock, and whatever is marked settled a little at a time."""

import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from apps.fleet.actions.marks import expand_ranges
from apps.fleet.queries import Pass
from apps.ledger import actions
from apps.ledger.queries.due import hours_due, resting

log = logging.getLogger(__name__)

BUDGET_SECONDS = 25
RESETTLED_EVERY = timedelta(minutes=10)
ORDER = (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD, Pass.ROLLUP)


@shared_task
def mark_hours_by_clock() -> None:
    """Mark hours as they begin, while they are provisional, and two hours after their end."""
    actions.mark_by_clock(at=timezone.now())


@shared_task
def settle_marked_hours() -> None:
    """Settle what is marked, newest first, for at most half a minute; the next sweep goes on.

    Two at once take different hours: each hour has a lock.
    """
    until = time.monotonic() + BUDGET_SECONDS
    at = timezone.now()
    expand_ranges()
    for pass_ in ORDER:
        for hour in _taken_up(pass_, at):
            if time.monotonic() > until:
                return
            _do(pass_, hour, at)


def _taken_up(pass_: Pass, at: datetime) -> Iterator[datetime]:
    """Due hours; late data settles an hour again at most once in ten minutes."""
    due = hours_due(pass_, at)
    waiting = resting(due, at - RESETTLED_EVERY) if pass_ is Pass.SPLIT else set()
    for hour in due:
        if hour not in waiting:
            yield hour


def _do(pass_: Pass, hour: datetime, at: datetime) -> None:
    try:
        actions.do_pass(pass_=pass_, hour=hour, at=at)
    except OperationalError as problem:
        # A deadlock or a lock timeout: the mark stays and the next sweep tries again.
        log.warning("settle_deferred pass=%s hour=%s reason=%s", pass_.name, hour, problem)
