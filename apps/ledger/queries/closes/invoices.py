"""The invoices that bill the hours of a month, and which hours none bills yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import HourSpan, month_span
from apps.ledger.queries.tables import rows

# Who billed the month before is expected to bill this one.
BILLS = """
SELECT DISTINCT bill.issuer, bill.account, bill.starts_at, bill.ends_at
FROM ledger_bill AS bill
WHERE bill.starts_at < %(to)s AND bill.ends_at > %(from)s::timestamptz - interval '28 days'
  AND EXISTS (
      SELECT 1 FROM ledger_billrow AS row JOIN ledger_billimport AS batch ON batch.id = row.batch_id
      WHERE row.bill_id = bill.id AND row.replaced_by_id IS NULL AND batch.state = 'done')
ORDER BY 1, 2, 3, 4
"""
A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class InvoiceSpan:
    """A part of a month that one invoice bills, or (without a period of its own) none of them yet."""

    issuer: str
    account: str
    starts_at: datetime
    ends_at: datetime
    invoice: HourSpan | None

    @property
    def hours(self) -> int:
        """How many hours it touches."""
        return -((self.starts_at - self.ends_at) // HOUR)


def invoices_of_month(month: date) -> list[InvoiceSpan]:
    """The month cut by the invoices of each issuer and account, in order, without holes."""
    span = month_span(month, accounts.organisation().zone)
    bill_rows = rows(BILLS, {"from": span.starts_at, "to": span.ends_at})
    spans: list[InvoiceSpan] = []
    for (issuer, account), of_account in groupby(bill_rows, key=lambda row: (row[0], row[1])):
        bills = [HourSpan(starts_at, ends_at) for _, _, starts_at, ends_at in of_account]
        spans += [
            InvoiceSpan(issuer, account, *cut)
            for cut in _cut_by_bills(bills, span)
            if cut[0] < cut[1]
        ]
    return spans


def _cut_by_bills(
    bills: Sequence[HourSpan], span: HourSpan
) -> Iterator[tuple[datetime, datetime, HourSpan | None]]:
    reached = span.starts_at
    for bill in bills:
        starts_at, ends_at = max(bill.starts_at, reached), min(bill.ends_at, span.ends_at)
        if starts_at < ends_at:
            yield reached, starts_at, None
            yield starts_at, ends_at, bill
            reached = ends_at
    yield reached, span.ends_at, None


def invoices_in_words(spans: Sequence[InvoiceSpan], zone: str) -> str:
    """Return what each invoice bills of the month, and what is not billed yet, in the organisation's time, in words."""
    of_accounts = groupby(spans, key=lambda span: (span.issuer, span.account))
    return "; ".join(
        f"{issuer} {account}: " + ", ".join(_span_in_words(span, zone) for span in of_account)
        for (issuer, account), of_account in of_accounts
    )


def _span_in_words(span: InvoiceSpan, zone: str) -> str:
    period = _period_text(span.starts_at, span.ends_at, zone)
    if span.invoice is None:
        return f"{period} by no invoice yet"
    return f"{period} by the invoice of {_period_text(span.invoice.starts_at, span.invoice.ends_at, zone)}"


def _period_text(starts_at: datetime, ends_at: datetime, zone: str) -> str:
    """`1 Mar 08:00 to 31 Mar 24:00`."""
    local_zone = ZoneInfo(zone)
    since, until = starts_at.astimezone(local_zone), ends_at.astimezone(local_zone)
    is_midnight = (until.hour, until.minute) == (0, 0)
    last = (ends_at - A_MOMENT).astimezone(local_zone) if is_midnight else until
    ends = "24:00" if is_midnight else f"{until:%H:%M}"
    return f"{since.day} {since:%b %H:%M} to {last.day} {last:%b} {ends}"
