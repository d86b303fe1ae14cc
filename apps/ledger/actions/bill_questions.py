"""Questions about a delivery that may be money which is on record already, and what is asked no more."""

from collections.abc import Sequence
from datetime import datetime

from apps.economics.hours import hour_of
from apps.ledger.models import BillImport, BillImportState, BillTwin
from apps.ledger.queries.bills.twins import twins_of_delivery
from apps.marks.actions import Mark, mark
from apps.marks.queries import BillUnit, Pass


def hold_delivery_for_twins(batch: BillImport, bill_ids: Sequence[int], at: datetime) -> bool:
    """Whether a delivery is held because of what may be the same money, as `twins_of_delivery` finds it."""
    twins = twins_of_delivery(batch.id, bill_ids, batch.layout, is_addition=batch.is_addition)
    if not twins:
        return False
    pending_twins = BillTwin.objects.filter(
        choice="", bill_id__in=bill_ids, other_id__in=[twin.other_id for twin in twins]
    )
    pending_twins.filter(gave_way_to=None).exclude(batch=None).delete()
    # Of a pair that was in force before anybody asked, this delivery is the newer one from now on.
    pending_twins.update(batch=batch, noticed_at=at)
    BillTwin.objects.bulk_create(
        [
            BillTwin(
                bill_id=twin.bill_id, other_id=twin.other_id, batch=batch, why=twin.why,
                noticed_at=at,
            )
            for twin in twins
        ],
        ignore_conflicts=True,
    )  # fmt: skip
    batch.flags.append(
        f"it may be money that is on record already ({twins[0].why}): it is held until somebody "
        "says which counts"
    )
    batch.state, batch.ended_at = BillImportState.HELD, at
    batch.save()
    return True


def withdraw_twin_questions(import_id: int, at: datetime) -> None:
    """Nothing of a delivery waits for somebody's word; pairs that were there before it still do."""
    pending_twins = BillTwin.objects.filter(batch_id=import_id, choice="")
    pending_twins.exclude(gave_way_to=None).update(batch=None)
    if pending_twins.filter(gave_way_to=None).delete()[0]:
        # It may have taken the place of one of two that both count.
        request_twin_detection(at)


def request_twin_detection(at: datetime) -> None:
    """Have the bills in force looked through for pairs with the next sweep."""
    mark([Mark(Pass.BILLS, BillUnit.TWINS, hour_of(at))])
