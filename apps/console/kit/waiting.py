"""How many questions wait in Setup, as last counted; counting is done when an answer is out."""

from datetime import datetime, timedelta

from django.core.cache import caches

COUNT_AGES = timedelta(minutes=1)
KEPT_BY = "process"
COUNT_KEY = "console-setup-questions"
DUE_KEY = "console-setup-count-due"


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
    """What was counted at `at` is what pages show until the next count."""
    caches[KEPT_BY].set(COUNT_KEY, (at, total), None)
