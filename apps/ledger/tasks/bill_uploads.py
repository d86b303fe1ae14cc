"""Takes uploaded bills in, one after the other, and forgets the files of those that are over."""

import logging
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from apps.economics.focus.columns import NotABill
from apps.ledger.actions import bill_uploads
from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import DeliveryCalledOff, NoRowRead, break_off_delivery
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.providers.bill_file import open_bill
from apps.ledger.providers.bill_text import BillBreaksOff

log = logging.getLogger(__name__)

REFUSALS = (NotABill, BillBreaksOff, MonthAlreadyClosed, DeliveryCalledOff, NoRowRead, OSError)


def take_uploaded() -> None:
    """Take in what waits, unless another worker does."""
    with bill_uploads.alone() as is_alone:
        if not is_alone:
            return
        while (claimed := bill_uploads.claim_bill(at=timezone.now())) is not None:
            _take_claimed(claimed)
        _forget_files()


def _take_claimed(claimed: bill_uploads.ClaimedBill) -> None:
    path = Path(settings.HOME) / "uploads" / claimed.stored_as
    try:
        with open_bill(path, name=claimed.name) as file:
            take_bill(file=file, clock=timezone.now, import_id=claimed.id)
    except REFUSALS as broken:
        log.warning("bill_broken_off import=%s reason=%s", claimed.id, type(broken).__name__)
        is_gone = isinstance(broken, FileNotFoundError)
        said = "the uploaded file is no longer there" if is_gone else str(broken).replace("\0", "")
        break_off_delivery(import_id=claimed.id, failure=said, at=timezone.now())


def _forget_files() -> None:
    for import_id, stored_as in bill_uploads.bill_files_to_forget().items():
        (Path(settings.HOME) / "uploads" / stored_as).unlink(missing_ok=True)
        bill_uploads.forget_bill_file(import_id=import_id)
