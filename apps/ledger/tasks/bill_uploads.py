"""Takes uploaded bills in, one after the other, and forgets the files of those that are over."""

import logging

from django.utils import timezone

from apps.economics.focus.columns import NotABill
from apps.files import BucketUnreachable
from apps.ledger.actions import bill_uploads
from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import DeliveryCalledOff, NoRowRead, break_off_delivery
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.providers.bill_file import open_bill
from apps.ledger.providers.bill_text import BillBreaksOff
from apps.uploads.files import forget_stored, stored_path, why_unread

log = logging.getLogger(__name__)

REFUSALS = (NotABill, BillBreaksOff, MonthAlreadyClosed, DeliveryCalledOff, NoRowRead, OSError)


def take_uploaded() -> None:
    """Take in what waits, unless another worker does."""
    with bill_uploads.alone() as is_alone:
        if not is_alone:
            return
        while (claimed := bill_uploads.claim_bill(at=timezone.now())) is not None:
            try:
                _take_claimed(claimed)
            except BucketUnreachable as away:
                log.warning("bill_file_away import=%s reason=%s", claimed.id, away)
                bill_uploads.lay_down_bill(import_id=claimed.id)
                return
        _forget_files()


def _take_claimed(claimed: bill_uploads.ClaimedBill) -> None:
    try:
        with (
            stored_path(claimed.stored_as) as path,
            open_bill(path, name=claimed.name) as file,
        ):
            take_bill(file=file, clock=timezone.now, import_id=claimed.id)
    except BucketUnreachable:
        raise
    except REFUSALS as broken:
        log.warning("bill_broken_off import=%s reason=%s", claimed.id, type(broken).__name__)
        break_off_delivery(import_id=claimed.id, failure=why_unread(broken), at=timezone.now())


def _forget_files() -> None:
    forget_stored(
        bill_uploads.bill_files_to_forget(),
        lambda import_id: bill_uploads.forget_bill_file(import_id=import_id),
        at=timezone.now(),
    )
