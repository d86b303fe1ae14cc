"""What may not change any more because its month is closed."""

from collections.abc import Iterable
from datetime import date

from apps.ledger.models import Close


class MonthAlreadyClosed(Exception):
    """The month was closed; late facts are posted as corrections, or it is reopened first."""


def closed_months(months: Iterable[date]) -> set[date]:
    """Those of these months (their first days) that are closed now."""
    found = Close.objects.filter(month__in=set(months), reopened_at=None)
    return set(found.values_list("month", flat=True))


def refuse_closed_month(*, months: Iterable[date], what: str) -> None:
    """Refuse MonthAlreadyClosed where one of these months is closed."""
    closed = sorted(closed_months(months))
    if closed:
        raise MonthAlreadyClosed(f"{closed[0]:%Y-%m} is closed, and {what} would change it")
