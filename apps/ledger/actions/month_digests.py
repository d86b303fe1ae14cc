"""Digests of closed months as they are kept, and those of a bill that came after the close."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime

from django.db import transaction
from django.db.models.functions import Now

from apps.accounts import queries as accounts
from apps.ledger.actions.closed import hold_month
from apps.ledger.models import Bill, Close, DigestOrigin, MonthDigest
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.closes.month_digests import (
    OF_BILL,
    DigestFact,
    are_late_bills_undigested,
    bills_with_money,
    current_digests,
    digest_again,
    digests_of_bill,
    is_of_all_bills,
)

TOLD_AGAIN = frozenset({"ledger_bill"})
"""What moves where a bill only waits to be reconciled, or says why it does."""
RECONCILED = frozenset(OF_BILL) - {"ledger_billrow"}
"""What moves where it is reconciled; its rows stay."""


def keep_digests(
    close: Close, digests: Iterable[DigestFact], origin: DigestOrigin, at: datetime | None = None
) -> None:
    """Keep these digests of a close, made at `at` (None: as the database's clock has it).

    Those that it had stay on record.
    """
    MonthDigest.objects.bulk_create(
        MonthDigest(
            close=close,
            table=digest.table,
            bill_id=digest.bill_id,
            is_personal=digest.is_personal,
            columns=list(digest.columns),
            rows=digest.rows,
            digest=digest.digest,
            origin=origin,
            made_at=at or Now(),
        )
        for digest in digests
    )


@contextmanager
def rewriting_bills(
    bill_ids: Collection[int], tables: Collection[str] = frozenset(OF_BILL)
) -> Iterator[None]:
    """Rewrite what these tables have of these bills: of closed months their digests are made anew.

    Only of a bill that is what its digests say before: what somebody else changed in it is still
    found afterwards. Its month is neither closed nor opened until the caller's transaction ends.
    """
    with transaction.atomic():
        unmoved = [
            (close, _bills_unmoved(close, of_close, tables))
            for close, of_close in _closes_of(bill_ids)
        ]
        yield
        for close, of_close in unmoved:
            before = set(current_digests(close.pk))
            digested_ids = {digest.bill_id for digest in before}
            now = {
                digest
                for bill_id in of_close
                for digest in digests_of_bill(
                    close, bill_id, tables if bill_id in digested_ids else OF_BILL
                )
            }
            keep_digests(close, sorted(now - before, key=repr), DigestOrigin.BILL)


def apart_bills(close: Close, at: datetime | None = None) -> None:
    """Give each bill of a close digests of its own, where an earlier version made one of all together."""
    now = [
        digest for bill_id in bills_with_money(close) for digest in digests_of_bill(close, bill_id)
    ]
    keep_digests(close, now, DigestOrigin.UPGRADE, at)


def _closes_of(bill_ids: Collection[int]) -> list[tuple[Close, list[int]]]:
    """The closes in force that hold these bills; nobody closes or opens their months meanwhile."""
    zone = accounts.organisation().zone
    by_month: dict[date, list[int]] = {}
    periods = Bill.objects.filter(id__in=list(bill_ids)).order_by("id")
    for bill_id, starts_at, ends_at in periods.values_list("id", "starts_at", "ends_at"):
        by_month.setdefault(main_month(starts_at, ends_at, zone), []).append(bill_id)
    for month in sorted(by_month):
        hold_month(month)
    closes = Close.objects.filter(month__in=by_month, reopened_at=None).order_by("month")
    return [(close, by_month[close.month]) for close in closes]


def _bills_unmoved(close: Close, bill_ids: Collection[int], tables: Collection[str]) -> list[int]:
    """Those of the bills that are what the digests in force say of them, or that had nothing yet."""
    digests = current_digests(close.pk)
    if not digests:
        # They are made by the sweep, of whatever is there then.
        return []
    if together := [digest for digest in digests if is_of_all_bills(digest)]:
        is_late = are_late_bills_undigested(close, digests)
        if not is_late and any(digest_again(close, digest) != digest for digest in together):
            # What is late from now on excuses nothing: they stay in force.
            keep_digests(close, together, DigestOrigin.BILL)
            return []
        apart_bills(close)
        digests = current_digests(close.pk)
    digested_ids = {digest.bill_id for digest in digests}
    new = set(bill_ids) - digested_ids
    begun = new & set(bills_with_money(close)) if new else set()
    moved = {
        digest.bill_id
        for digest in digests
        if digest.bill_id in bill_ids
        and digest.table in tables
        and digest_again(close, digest) != digest
    }
    return [bill_id for bill_id in bill_ids if bill_id not in moved | begun]
