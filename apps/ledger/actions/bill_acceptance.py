"""A delivery with rows that could not be read, let stand without them by a person."""

from datetime import datetime

from django.db import transaction

from apps.ledger.actions import bills
from apps.ledger.models import BillImport, BillImportState
from apps.logs.changes import logged_change

LONGEST_REASON = 2_000


@logged_change()
@transaction.atomic
def accept_unread_rows(*, import_id: int, person_id: int | None, reason: str, at: datetime) -> None:
    """Keep who says that the delivery is right without those rows, and why; a held one counts now.

    Refuses ReasonMissing, NothingToAccept and DeliveryNotNewest.
    """
    if person_id is None or not reason.strip():
        raise bills.ReasonMissing("say who accepts what is missing, and why")
    batch = BillImport.objects.select_for_update().get(id=import_id)
    is_held = batch.state == BillImportState.HELD
    if not is_held and batch.state != BillImportState.DONE:
        raise bills.NothingToAccept(f"{batch.name} is {batch.get_state_display()}")
    if batch.twins.filter(choice="").exists():
        raise bills.NothingToAccept(
            f"say first which counts: {batch.name}, or the bill that may be the same money"
        )
    if not batch.rejected or batch.accepted_at is not None:
        raise bills.NothingToAccept(f"nothing of {batch.name} waits to be accepted")
    batch.accepted_at, batch.accepted_by_id = at, person_id
    batch.accepted_reason = reason.strip()[:LONGEST_REASON]
    batch.save(update_fields=["accepted_at", "accepted_by", "accepted_reason"])
    if not is_held:
        return
    bill_ids = bills.lock_bills(batch.bills.values_list("id", flat=True))
    later = bills.later_delivery(import_id, bill_ids)
    if later is not None:
        raise bills.DeliveryNotNewest(
            f"{later.name} was delivered later: send {batch.name} again, or undo that one first"
        )
    bills.activate_delivery(batch=batch, bill_ids=bill_ids, at=at)
