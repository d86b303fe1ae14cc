"""Takes uploaded bills in, one after the other, and forgets the files of those that are over."""

import logging
from dataclasses import replace

from django.utils import timezone

from apps.economics.focus.columns import NotABill
from apps.files import PlaceUnreachable
from apps.files.stopping import STOP, WorkerStops, stopping_between_rows, until_stopped
from apps.ledger.actions import bill_uploads
from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import DeliveryCalledOff, DeliveryRefused, break_off_delivery
from apps.ledger.providers.bill_file import BillBreaksOff, open_bill
from apps.uploads.files import STOPPED, forget_stored, stored_path, why_away, why_unread

log = logging.getLogger(__name__)

REFUSALS = (NotABill, BillBreaksOff, DeliveryCalledOff, DeliveryRefused, OSError)


def take_uploaded() -> None:
    """Take in what waits, unless another worker does."""
    with bill_uploads.alone() as is_alone:
        if not is_alone:
            return
        with stopping_between_rows():
            while not STOP.is_posted():
                claimed = bill_uploads.claim_bill(at=timezone.now())
                if claimed is None:
                    break
                if not _take_or_release(claimed):
                    return
        _forget_files()


def _take_or_release(claimed: bill_uploads.ClaimedBill) -> bool:
    """Take one in; False: it waits for a later sweep, as all of them must."""
    try:
        _take_claimed(claimed)
    except WorkerStops:
        bill_uploads.release_bill_import(import_id=claimed.id, reason=STOPPED)
        return False
    except PlaceUnreachable as away:
        log.warning("bill_file_away import=%s reason=%s", claimed.id, away)
        bill_uploads.release_bill_import(import_id=claimed.id, reason=why_away(away))
        return False
    return True


def _take_claimed(claimed: bill_uploads.ClaimedBill) -> None:
    try:
        with (
            stored_path(claimed.stored_as) as path,
            open_bill(path, name=claimed.name) as file,
        ):
            stoppable = replace(file, rows=until_stopped(file.rows))
            take_bill(file=stoppable, clock=timezone.now, import_id=claimed.id)
    except PlaceUnreachable:
        raise
    except REFUSALS as broken:
        log.warning("bill_broken_off import=%s reason=%s", claimed.id, type(broken).__name__)
        break_off_delivery(import_id=claimed.id, failure=why_unread(broken), at=timezone.now())


def _forget_files() -> None:
    forget_stored(
        bill_uploads.bill_files_to_forget(at=timezone.now()),
        lambda import_id: bill_uploads.forget_bill_file(import_id=import_id),
        at=timezone.now(),
    )
