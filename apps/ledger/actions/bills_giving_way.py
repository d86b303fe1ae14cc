"""A bill that counts for nothing beside another, as somebody decided or until somebody does."""

from collections.abc import Collection, Sequence
from datetime import datetime

from apps.ledger.actions.month_digests import rewriting_bills
from apps.ledger.models import Bill, BillImport, BillImportState, TwinChoice
from apps.ledger.queries.bills.twins import are_in_force, words_on_pairs
from apps.ledger.queries.tables import run

GIVE_WAY = """
UPDATE ledger_billrow AS row SET replaced_by_id = %(by)s
FROM ledger_billimport AS batch
WHERE batch.id = row.batch_id AND batch.state = 'done' AND row.bill_id = ANY(%(bills)s)
  AND row.replaced_by_id IS NULL AND row.batch_id <> %(by)s
"""


def give_way(import_id: int, bill_ids: Sequence[int], at: datetime) -> None:
    """Have what is in force of these bills be replaced by a delivery of another."""
    with rewriting_bills(bill_ids):
        run(GIVE_WAY, {"by": import_id, "bills": list(bill_ids)})
        Bill.objects.filter(id__in=bill_ids).update(changed_at=at, reconciled_at=None)


def give_way_to(stays: int, goes: int, at: datetime) -> BillImport | None:
    """Have one bill count for nothing beside another; the delivery that its rows are replaced by.

    None, and nothing changes, where the one that is to stay has no rows in force.
    """
    of = BillImport.objects.filter(bills=stays, state=BillImportState.DONE)
    batch = of.order_by("-ended_at", "-id").first()
    if batch is None or not are_in_force([stays]):
        return None
    give_way(batch.id, [goes], at)
    batch.bills.add(goes)
    return batch


def keep_decisions(bill_ids: Collection[int], at: datetime) -> None:
    """Have bills give way again that came back beside the one that they gave way to."""
    for twin in words_on_pairs(bill_ids):
        stays, goes = twin.other_id, twin.bill_id
        if twin.choice == TwinChoice.NEW:
            stays, goes = goes, stays
        list(Bill.objects.select_for_update().filter(id__in=[stays, goes]).order_by("id"))
        if not are_in_force([stays, goes]):
            continue
        batch = give_way_to(stays, goes, at)
        if not twin.choice:
            twin.gave_way_to = batch
            twin.save(update_fields=["gave_way_to"])
