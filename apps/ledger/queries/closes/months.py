"""Which months are closed, and what came after."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import TextField, Value
from django.db.models.functions import Coalesce

from apps.accounts import queries as accounts
from apps.ledger.models import Close
from apps.ledger.queries.calendar import HourSpan, month_span
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class CloseFact:
    """A month as it was closed; `reopened_at` where that is past."""

    id: int
    month: date
    version: int
    closed_at: datetime
    closed_by: str
    note: str
    cut_off: datetime
    digest: str
    lines: int
    checklist: list[dict[str, object]]
    totals: dict[str, int | None]
    reopened_at: datetime | None
    reopen_reason: str


def closed_months() -> set[date]:
    """The months that are closed now, by their first days."""
    return set(Close.objects.filter(reopened_at=None).values_list("month", flat=True))


def closed_spans() -> list[HourSpan]:
    """The hours of closed months."""
    months = closed_months()
    if not months:
        return []
    zone = accounts.organisation().zone
    return [month_span(month, zone) for month in sorted(months)]


def closes(month: date | None = None) -> list[CloseFact]:
    """Every close (of this month), the newest month and version first."""
    found = Close.objects.order_by("-month", "-version")
    if month is not None:
        found = found.filter(month=month)
    columns = (
        *("id", "month", "version", "closed_at", "who", "note", "cut_off", "digest"),
        *("lines", "checklist", "totals", "reopened_at", "reopen_reason"),
    )
    named = found.annotate(who=Coalesce("closed_by__name", Value(""), output_field=TextField()))
    return [CloseFact(*row) for row in named.values_list(*columns)]


LATE = """
SELECT count(DISTINCT hour), count(DISTINCT (hour, unit)) FILTER (WHERE pass_id = 3)
FROM fleet_changedhour
WHERE hour >= %(from)s AND hour < %(to)s AND pass_id IN (2, 3)
"""


@dataclass(frozen=True, slots=True)
class Late:
    """What changed in a closed month since: hours to charge or split again, and node-hours of them."""

    hours: int
    node_hours: int


def late_facts(month: date) -> Late:
    """What waits to be posted as corrections."""
    span = month_span(month, accounts.organisation().zone)
    ((hours, node_hours),) = rows(LATE, {"from": span.starts_at, "to": span.ends_at})
    return Late(hours, node_hours)
