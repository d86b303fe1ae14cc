"""The months that are closed, and what came after."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from django.db.models import TextField, Value
from django.db.models.functions import Coalesce

from apps.accounts import queries as accounts
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.ledger.models import Close
from apps.ledger.queries.calendar import HourSpan, month_span
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows
from apps.marks.queries import Pass, days_marked, pending_hours
from apps.show.entries import Entry

CLOSE_KEYS = ("month", "version", "id")


@dataclass(frozen=True, slots=True)
class CloseFact:
    """A month as it was closed; `reopened_at` where that is past."""

    id: int
    month: date
    version: int
    closed_at: datetime
    closed_by: str
    note: str
    cut_off: Annotated[datetime, Entry(help="facts known by then are in it")]
    digest: str
    lines: int
    checklist: list[dict[str, object]]
    totals: dict[str, int | None]
    reopened_at: datetime | None
    reopen_reason: str

    @property
    def month_text(self) -> str:
        """The month, such as 2026-07."""
        return f"{self.month:%Y-%m}"

    @property
    def invoices(self) -> str:
        """The invoices that billed its hours when it was closed, in words; empty: none did."""
        items = [item for item in self.checklist if item.get("code") == "uninvoiced"]
        return str(items[0]["meaning"]) if items else ""


def closed_spans() -> list[HourSpan]:
    """The hours of closed months."""
    return spans_of_months(closed_months())


def spans_of_months(months: Collection[date]) -> list[HourSpan]:
    """The hours of these months in the organisation's zone, in order."""
    if not months:
        return []
    zone = accounts.organisation().zone
    return [month_span(month, zone) for month in sorted(months)]


def closes(month: date | None = None) -> list[CloseFact]:
    """Every close (of this month), the newest month and version first."""
    close_rows = Close.objects.order_by("-month", "-version")
    if month is not None:
        close_rows = close_rows.filter(month=month)
    columns = (
        *("id", "month", "version", "closed_at", "who", "note", "cut_off", "digest"),
        *("lines", "checklist", "totals", "reopened_at", "reopen_reason"),
    )
    named = close_rows.annotate(
        who=Coalesce("closed_by__name", Value(""), output_field=TextField())
    )
    return [CloseFact(*row) for row in named.values_list(*columns)]


def close_page(page_request: PageRequest) -> Page[CloseFact]:
    """Closes, the newest month and version first."""
    page = page_of(Close.objects.values(*CLOSE_KEYS), page_request, "-month", "-version")
    facts = {fact.id: fact for fact in closes()} if page.rows else {}
    return Page([facts[row["id"]] for row in page.rows], page.after, page.before)


def close_fact(close_id: int) -> CloseFact | None:
    """A close by its id; None where there is none."""
    month = Close.objects.filter(id=close_id).values_list("month", flat=True).first()
    if month is None:
        return None
    return next(close for close in closes(month) if close.id == close_id)


@dataclass(frozen=True, slots=True)
class MonthStatus:
    """A month with cost: open, closed, or open again; and the hours of it that wait since."""

    month: date
    standing: str
    closed_at: datetime | None
    closed_by: str
    effective_micros: int | None
    late_hours: int


COSTS = """
SELECT posting_month, sum(effective_micros)::int8 FROM ledger_ledgerteamday
GROUP BY posting_month ORDER BY posting_month DESC
"""


def month_by_team(month: date) -> list[tuple[int, int | None]]:
    """Return the amount that each team would be told of a month as it stands, in micro-units; the highest first."""
    return [(team_id, micros) for team_id, micros in rows(OF_TEAMS, {"month": month})]


OF_TEAMS = """
SELECT team_id, sum(effective_micros)::int8 AS micros FROM ledger_ledgerteamday
WHERE posting_month = %(month)s GROUP BY team_id ORDER BY micros DESC NULLS LAST, team_id
"""


def month_standings() -> list[MonthStatus]:
    """Every month with cost, the newest first."""
    newest = {fact.month: fact for fact in reversed(closes())}
    standings = []
    for month, micros in rows(COSTS, {}):
        close = newest.get(month)
        is_closed = close is not None and close.reopened_at is None
        standings.append(
            MonthStatus(
                month=month,
                standing="closed" if is_closed else "open again" if close else "open",
                closed_at=close.closed_at if close else None,
                closed_by=close.closed_by if close else "",
                effective_micros=micros,
                late_hours=late_facts(month).hours if is_closed else 0,
            )
        )
    return standings


LATE_PASSES = (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD)
"""What these would do anew can be posted as corrections."""


@dataclass(frozen=True, slots=True)
class Late:
    """The changes in a closed month since it was closed.

    Hours of which the cost may be another, and days that would be summed or divided otherwise:
    by another tag, run or feature.
    """

    hours: int
    days: int


def late_months(starts_at: datetime, ends_at: datetime) -> dict[date, Late]:
    """Return the changes that wait in the closed months that `[starts_at, ends_at)` touches, where any do."""
    zone = accounts.organisation().zone
    late_by_month = {
        month: late_facts(month)
        for month in sorted(closed_months())
        if (span := month_span(month, zone)).starts_at < ends_at and span.ends_at > starts_at
    }
    return {month: late for month, late in late_by_month.items() if late.hours or late.days}


def late_facts(month: date) -> Late:
    """Return the changes that wait until corrections are posted (hours), or the month is opened (days)."""
    span = month_span(month, accounts.organisation().zone)
    return Late(
        pending_hours(span.ends_at, span.starts_at, LATE_PASSES),
        days_marked(span.starts_at, span.ends_at),
    )
