"""The months that may not change any more because they are closed."""

from collections.abc import Iterable
from datetime import date

from django.db import connection

from apps.ledger.actions.outcome import BUSY, KEPT, Outcome
from apps.ledger.queries.closed_months import closed_months

# Arbitrary but fixed: passes share it, whoever closes or reopens a month has it alone.
CLOSING = 7_305_031


class MonthAlreadyClosed(Exception):
    """The month was closed; late facts are posted as corrections, or it is reopened first."""


def refuse_closed_month(*, months: Iterable[date], what: str) -> None:
    """Refuse MonthAlreadyClosed where one of these months is closed."""
    closed = sorted(closed_months() & set(months))
    if closed:
        raise MonthAlreadyClosed(f"{closed[0]:%Y-%m} is closed, and {what} would change it")


def closed_month_outcome(month: date) -> Outcome | None:
    """Return the answer of a pass that may not touch `month`; None: it may, until its transaction ends.

    Marks of a closed month stay: they are what came late.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock_shared(%s, %s)", [CLOSING, _month_key(month)]
        )
        (is_free,) = cursor.fetchone()
    if not is_free:
        return BUSY
    # Asked after the lock is had: a close that was on its way is seen now.
    return KEPT if month in closed_months() else None


def lock_month(month: date) -> None:
    """Wait until no pass works in `month`, and keep them out until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [CLOSING, _month_key(month)])


def hold_month(month: date) -> None:
    """Wait until nobody closes or reopens `month`, and keep them waiting until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s, %s)", [CLOSING, _month_key(month)])


def _month_key(month: date) -> int:
    return month.year * 12 + month.month
