"""Digests of closed months: made with the close, later for closes that have none, anew when a name is taken out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.ledger.actions.closed import hold_month
from apps.ledger.actions.month_digests import apart_bills, keep_digests
from apps.ledger.models import Close, DigestOrigin
from apps.ledger.queries.closes.month_digests import (
    are_late_bills_undigested,
    current_digests,
    digest_again,
    digests_of_month,
    digests_taken_away,
)
from apps.logs.changes import answered, logged_change


@logged_change(count=answered)
def digest_earlier_closes(*, at: datetime) -> int:
    """Make the digests of one close in force that has none, as it stands now; how many closes (0 or 1).

    The same of its bills, where one came late before they had digests of their own. They say of what
    comes after, and nothing of what was before: each is marked as made later.
    """
    due = next((candidate for candidate in _closes_in_force() if _is_undigested(candidate)), None)
    if due is None:
        return 0
    with transaction.atomic():
        # Nobody opens it meanwhile, and of two that come at once the second finds it done.
        hold_month(due.month)
        close = Close.objects.select_for_update(no_key=True).get(pk=due.pk)
        if close.reopened_at is not None or not _is_undigested(close):
            return 0
        if close.digests.exists():
            apart_bills(close, at)
        else:
            keep_digests(close, digests_of_month(close), DigestOrigin.UPGRADE, at)
    return 1


def _closes_in_force() -> Iterable[Close]:
    return Close.objects.filter(reopened_at=None).order_by("month")


def _is_undigested(close: Close) -> bool:
    digests = current_digests(close.pk)
    if not digests:
        # What somebody took away is not made again of whatever is there since: the audit names it.
        return not digests_taken_away(close, digests)
    return are_late_bills_undigested(close, digests)


@dataclass(frozen=True, slots=True)
class RenewedDigests:
    """Renews the personal digests of closed months of a table from which a name was taken out."""

    table: str

    def __call__(self, ids: Sequence[int]) -> None:
        """Where they moved, keep those of what the table says now; `ids` are of rows that were rewritten."""
        for close in _closes_in_force():
            digests = [
                digest
                for digest in current_digests(close.pk)
                if digest.table == self.table and digest.is_personal
            ]
            again = [digest_again(close, digest) for digest in digests]
            moved = [now for was, now in zip(digests, again, strict=True) if was != now]
            keep_digests(close, moved, DigestOrigin.PSEUDONYM)


renew_charges = RenewedDigests("ledger_charge")
renew_pieces = RenewedDigests("ledger_chargepiece")
renew_settlements = RenewedDigests("ledger_settlement")
renew_days = RenewedDigests("ledger_ledgerday")
renew_months = RenewedDigests("ledger_ledgermonth")
renew_user_days = RenewedDigests("ledger_ledgeruserday")
renew_bills = RenewedDigests("ledger_bill")
renew_bill_rows = RenewedDigests("ledger_billrow")
renew_billed_charges = RenewedDigests("ledger_billedcharge")
renew_closes = RenewedDigests("ledger_close")
