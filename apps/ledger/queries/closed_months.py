"""The months that are closed."""

from datetime import date

from apps.ledger.models import Close


def closed_months() -> set[date]:
    """The months that are closed now, by their first days."""
    return set(Close.objects.filter(reopened_at=None).values_list("month", flat=True))
