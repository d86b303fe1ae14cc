"""Sweeps: usage hours that changed, incidents of nodes that ended, partitions that are due."""

import time
from datetime import datetime

from celery import shared_task
from django.utils import timezone

from apps.marks.actions import log_deferred_hour
from apps.marks.queries import Pass, hours_marked
from apps.telemetry.actions import incidents, partitions, rollup

# Of the 20 s between beats: 10,000 GPUs need two. After an outage, when there is more to do, most of
# the time is left to the batches that still come.
SWEEP_SECONDS = 5
HOURS_AT_ONCE = 50


@shared_task
def roll_up_usage() -> int:
    """Roll up marked hours, oldest first, until nothing is due or the time is over; how many.

    An hour that raises is left to the next sweep.
    """
    done, failed = 0, set[datetime]()
    until = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < until:
        before = done, len(failed)
        marked = hours_marked(Pass.USAGE, timezone.now(), HOURS_AT_ONCE + len(failed))
        for hour in [marked_hour for marked_hour in marked if marked_hour not in failed]:
            try:
                done += rollup.roll_up_hour(hour=hour)
            except Exception as problem:  # noqa: BLE001  # told of, and the next hour's turn
                log_deferred_hour(Pass.USAGE, hour, problem)
                failed.add(hour)
            if time.monotonic() > until:
                return done
        if (done, len(failed)) == before:
            return done
    return done


@shared_task
def end_incidents() -> int:
    """End what lasted on nodes that have ended; how many incidents."""
    return incidents.end_with_their_nodes(at=timezone.now())


@shared_task
def keep_partitions() -> None:
    """Make the partitions of the next days, drop those that are over."""
    partitions.keep_partitions(at=timezone.now())
