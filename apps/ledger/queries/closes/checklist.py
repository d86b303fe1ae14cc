"""The checklist of what stands open before a month is closed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import LiteralString

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR_MS
from apps.economics.states import State
from apps.ledger.queries.bill_months import bills_of_month
from apps.ledger.queries.bills.books import books_off
from apps.ledger.queries.bills.twins import (
    open_twins_of,
    twins_of_closed_months,
    undecided_twins,
)
from apps.ledger.queries.calendar import HourSpan, month_span
from apps.ledger.queries.closes.booked_twice import booked_twice
from apps.ledger.queries.closes.invoices import invoices_in_words, invoices_of_month
from apps.ledger.queries.closes.shares import shares_in_words, shares_of_invoices
from apps.ledger.queries.tables import rows
from apps.ledger.queries.unread_bills import unread_between
from apps.marks.queries import days_unsummed, pending_hours

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One question of the checklist: how many, of what amount (None: not in money), what it means.

    A blocking one must be 0; any other may be accepted by whoever closes.
    """

    code: str
    label: str
    count: int
    micros: int | None
    meaning: str
    is_blocking: bool = False


BILLS = """
SELECT count(*) FROM ledger_bill
WHERE reconciled_at IS NULL AND starts_at < %(to)s AND ends_at > %(from)s
"""
WHICH: dict[str, LiteralString] = {
    "provisional": "status = 'provisional'",
    "unpriced": "unpriced_milliseconds > 0",
    "unbilled": "kind = 'node_hour' AND billed_micros IS NULL AND unit_milliseconds > 0",
    "unmatched": "kind = 'unmatched'",
    "unowned": "team_id = %(unowned)s",
    "unobserved": "state = %(unobserved)s",
}
# Of the roll-up, which is complete where nothing is pending: a month of charges and lines is too
# large for a page.
SUMS: LiteralString = """
SELECT which.code, coalesce(sum(day.unit_milliseconds), 0)::int8,
       coalesce(sum(day.effective_micros), 0)::int8, count(day.day)
FROM (VALUES <codes>) AS which (code)
LEFT JOIN ledger_ledgerteamday AS day
  ON day.posting_month = %(month)s AND CASE which.code <cases> END
GROUP BY which.code
""".replace("<codes>", ", ".join(f"('{code}')" for code in WHICH)).replace(
    "<cases>", " ".join(f"WHEN '{code}' THEN {which}" for code, which in WHICH.items())
)
SAID = {
    "provisional": (
        "Provisional GPU-hours",
        "Hours that ended lately, or a rate of exchange that is not stated yet.",
    ),
    "unpriced": (
        "GPU-hours without a price",
        "They are in the statements as time without an amount.",
    ),
    "unbilled": (
        "GPU-hours that no bill names",
        "Their estimate is final where no bill comes for them.",
    ),
    "unmatched": ("Days with billed rows of no node", "Platform carries them."),
    "unowned": ("GPU-hours nobody owns", "The team Unowned carries them."),
    "unobserved": (
        "GPU-hours held and not observed",
        "They are charged to who held them, as unobserved.",
    ),
}
WITHOUT_TIME = frozenset({"unmatched", "provisional"})
"""Charges of these may have no device time: any of them counts."""


def checklist(month: date) -> list[Item]:
    """Every question, also where its answer is 0."""
    zone = accounts.organisation().zone
    span = month_span(month, zone)
    params: dict[str, object] = {
        "month": month,
        "from": span.starts_at,
        "to": span.ends_at,
        "unobserved": int(State.UNOBSERVED),
        "unowned": accounts.special_teams().unowned_id,
    }
    bill_ids, twins = bills_of_month(month), undecided_twins()
    return [
        *_settling_items(open_twins_of(bill_ids, twins), span, params),
        *_summed_items(params),
        *_booked_twice(params),
        *_invoice_items(month, zone),
        *_closed_twin_items(twins_of_closed_months(twins)),
        *_book_items(bill_ids),
        *_share_items(bill_ids),
    ]


def _settling_items(twins: int, span: HourSpan, params: dict[str, object]) -> list[Item]:
    """Return the items that the worker has still to do, or somebody to send again: all of it must be 0."""
    ((bills,),) = rows(BILLS, params)
    return [
        Item(
            "pending",
            "Hours still to be settled",
            pending_hours(span.ends_at, span.starts_at),
            None,
            "Facts changed; the worker settles them within minutes.",
            is_blocking=True,
        ),
        Item(
            "unsummed",
            "Days still to be summed or divided",
            days_unsummed(span.starts_at, span.ends_at),
            None,
            "The worker sums them once their hours are settled, and divides them over runs and services.",
            is_blocking=True,
        ),
        Item(
            "bills",
            "Bills still to be reconciled",
            bills,
            None,
            "The worker reconciles them; one that cannot be says why.",
            is_blocking=True,
        ),
        Item(
            "twins",
            "Bills that may be the same money",
            twins,
            None,
            "Say under Bills which of each two counts, or that both do.",
            is_blocking=True,
        ),
        Item(
            "unread",
            "Bill imports with rows that could not be read",
            unread_between(starts_at=span.starts_at, ends_at=span.ends_at),
            None,
            "Send them corrected, or accept them as they are, on the import's page under Bills.",
            is_blocking=True,
        ),
    ]


def _booked_twice(params: dict[str, object]) -> list[Item]:
    """Vendors of models that a bill names while their calls are booked: asked where there are."""
    vendors, micros = booked_twice(params)
    if not vendors:
        return []
    return [
        Item(
            code="booked_twice",
            label="Vendors of models booked by their calls and by a bill",
            count=vendors,
            micros=micros,
            meaning="Each dollar of them counts twice: say by which, with book_api_vendor.",
            is_blocking=True,
        )
    ]


def _summed_items(params: dict[str, object]) -> list[Item]:
    """Return the items of what is not as it should be of the month's time and money, each question of WHICH."""
    sums_by_code = {code: sums for code, *sums in rows(SUMS, params)}
    return [_summed_item(code, *sums_by_code[code]) for code in WHICH]


def _summed_item(code: str, milliseconds: int, micros: int, days: int) -> Item:
    hours = rounded_hours(milliseconds)
    label, meaning = SAID[code]
    return Item(
        code=code,
        label=label,
        count=max(hours, days) if code in WITHOUT_TIME else hours,
        micros=None if code == "unpriced" else micros,
        meaning=meaning,
        is_blocking=code == "provisional",
    )


def rounded_hours(milliseconds: int) -> int:
    """Whole hours, rounded as pages round them; a little is 1, and never none."""
    return max(round(Fraction(milliseconds, HOUR_MS)), 1 if milliseconds else 0)


def _invoice_items(month: date, zone: str) -> list[Item]:
    """Up to which hour the month is billed, where there are bills at all; kept with the close."""
    spans = invoices_of_month(month)
    if not spans:
        return []
    missing = [span for span in spans if span.invoice is None]
    return [
        Item(
            code="uninvoiced",
            label="Hours that no invoice reaches yet",
            count=sum(span.hours for span in missing),
            micros=None,
            meaning=invoices_in_words(spans, zone),
        )
    ]


def _closed_twin_items(named: Sequence[str]) -> list[Item]:
    """Pairs of bills that count twice in closed months, as far as anybody knows: asked where there are."""
    if not named:
        return []
    return [
        Item(
            code="closed_twins",
            label="Bills of closed months that may be the same money",
            count=len(named),
            micros=None,
            meaning="; ".join(named[:MOST_NAMED])
            + ". Both count there: say under Bills which does, and post what it corrects.",
        )
    ]


def _book_items(bill_ids: Sequence[int]) -> list[Item]:
    """Commitments that cost more than was paid for them, or less by their end: asked where there are."""
    off = books_off(bill_ids)
    if not off:
        return []
    return [
        Item(
            code="books",
            label="Commitments whose books do not balance",
            count=len(off),
            micros=None,
            meaning="; ".join(book.words for book in off[:MOST_NAMED])
            + ". Say in the note why it may stand so.",
        )
    ]


def _share_items(bill_ids: Sequence[int]) -> list[Item]:
    """Return the item of what this month's invoices bill, by the month in which it stands: it sums to them."""
    shares = shares_of_invoices(bill_ids)
    if not shares:
        return []
    amounts = [share.billed_micros for share in shares if share.billed_micros is not None]
    return [
        Item(
            code="invoiced",
            label="Invoices of this month, by the month they stand in",
            count=0,
            micros=sum(amounts) if len(amounts) == len(shares) else None,
            meaning=shares_in_words(shares, accounts.organisation().currency),
        )
    ]


def has_ended(month: date, at: datetime) -> bool:
    """Whether the month's last hour is over."""
    return at >= month_span(month, accounts.organisation().zone).ends_at
