"""Counts of what waits for a person, as last counted: questions in Setup, counted when an answer is out; new alerts."""

from datetime import datetime, timedelta

from django.core.cache import caches

from apps.accounts.queries import Viewer
from apps.review.queries.alerts import unread_count

COUNT_AGES = timedelta(minutes=1)
KEPT_BY = "process"
COUNT_KEY = "console-setup-questions"
DUE_KEY = "console-setup-count-due"
UNREAD_AGES = timedelta(seconds=15)


def questions_waiting(at: datetime) -> int | None:
    """How many things waited in Setup when they were last counted; None: not counted yet.

    Counting asks every room, so no page waits for it: where the count is a minute old, it is due
    as soon as this answer is out.
    """
    counted = caches[KEPT_BY].get(COUNT_KEY)
    if counted is None or at - counted[0] >= COUNT_AGES:
        caches[KEPT_BY].set(DUE_KEY, value=True)
    return None if counted is None else int(counted[1])


def is_count_due() -> bool:
    """Whether a page asked for the count since it grew old; says so to the first who asks."""
    return bool(caches[KEPT_BY].delete(DUE_KEY))


def keep_count(total: int, at: datetime) -> None:
    """Keep what was counted at `at`: pages show it until the next count."""
    caches[KEPT_BY].set(COUNT_KEY, (at, total), None)


def unread_alerts(viewer: Viewer) -> int:
    """How many open alerts are new to a person, counted anew every 15 seconds by each process."""
    key = _unread_key(viewer.person_id)
    counted: int | None = caches[KEPT_BY].get(key)
    if counted is None:
        counted = unread_count(viewer)
        caches[KEPT_BY].set(key, counted, UNREAD_AGES.total_seconds())
    return counted


def forget_unread(viewer: Viewer) -> None:
    """Count them anew for the next page."""
    caches[KEPT_BY].delete(_unread_key(viewer.person_id))


def _unread_key(person_id: int | None) -> str:
    return f"console-alerts-unread-{person_id}"
