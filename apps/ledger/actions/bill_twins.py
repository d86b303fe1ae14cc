"""Bills that may be the same money: noticed, and decided on by a person."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.economics.refusal import Refusal
from apps.ledger.actions import bills
from apps.ledger.actions.bills_giving_way import give_way, give_way_to
from apps.ledger.actions.month_digests import rewriting_bills
from apps.ledger.models import Bill, BillImport, BillImportState, BillTwin, TwinChoice
from apps.ledger.queries.bill_months import open_bills
from apps.ledger.queries.bills.twins import are_in_force, twins_in_force
from apps.ledger.queries.tables import run
from apps.logs.changes import answered, logged_change

LONGEST_REASON = 2_000
TWIN_CHOICES = tuple(TwinChoice.values)
"""Which of two bills may count from now on."""
COME_BACK = """
UPDATE ledger_billrow SET replaced_by_id = NULL
WHERE bill_id = %(bill)s AND replaced_by_id = %(by)s
"""


class TwinDecided(Exception):
    """Somebody decided on these bills already, or the file that was held for them is gone."""


class TwinNotUnderstood(Refusal):
    """A choice that is none, or that says nothing for a reason."""


@logged_change(count=answered)
@transaction.atomic
def notice_twins(*, at: datetime) -> int:
    """Ask about bills in force that may be the same money and are not asked about; how many pairs.

    One that somebody decided on is asked about again where both of it count all the same.

    Of each pair of an open month that nobody decided on, the newer one gives way until somebody does.
    """
    open_pairs = set(BillTwin.objects.filter(choice="").values_list("bill_id", "other_id"))
    twins = [
        BillTwin(bill_id=twin.bill_id, other_id=twin.other_id, why=twin.why, noticed_at=at)
        for twin in twins_in_force()
        if not {(twin.bill_id, twin.other_id), (twin.other_id, twin.bill_id)} & open_pairs
    ]
    BillTwin.objects.bulk_create(twins)
    _hold_pairs(at)
    return len(twins)


def _hold_pairs(at: datetime) -> None:
    """Make the newer bill of each open pair give way: what a closed month has of them stays as it was told."""
    waiting = BillTwin.objects.filter(choice="", batch=None, gave_way_to=None)
    opens = open_bills(Bill.objects.filter(id__in=waiting.values("bill")))
    for twin in waiting.filter(bill_id__in=opens).order_by("id"):
        bills.lock_bills([twin.bill_id, twin.other_id])
        # Of three the last gives way to one that counts itself.
        if are_in_force([twin.bill_id, twin.other_id]):
            twin.gave_way_to = _give_way_to(twin.other_id, twin.bill_id, at)
            twin.save(update_fields=["gave_way_to"])


@logged_change()
@transaction.atomic
def decide_twin(
    *, twin_id: int, choice: str, person_id: int | None, reason: str, at: datetime
) -> None:
    """Have the new bill count, the old one, or both; of a file that is held all its pairs alike.

    What gives way is replaced, and comes back where what it gave way to is undone. Refuses
    TwinNotUnderstood, ReasonMissing, TwinDecided and DeliveryNotNewest.
    """
    if choice not in TWIN_CHOICES:
        raise TwinNotUnderstood("choice", f"{choice!r} is none of {', '.join(TWIN_CHOICES)}")
    if person_id is None or not reason.strip():
        raise bills.ReasonMissing("say who decides which bill counts, and why")
    twin = BillTwin.objects.select_for_update().get(id=twin_id)
    if twin.choice:
        raise TwinDecided(f"that was decided already: {TwinChoice(twin.choice).label}")
    if twin.batch_id is None:
        alike = [twin]
        _decide_in_force(twin, choice, at)
    else:
        alike = list(BillTwin.objects.select_for_update().filter(batch_id=twin.batch_id, choice=""))
        _decide_held(twin.batch_id, alike, choice, at)
    for other_twin in alike:
        other_twin.choice, other_twin.decided_at, other_twin.decided_by_id = choice, at, person_id
        other_twin.reason = reason.strip()[:LONGEST_REASON]
        other_twin.save(update_fields=["choice", "decided_at", "decided_by", "reason"])


def _decide_held(import_id: int, twins: Sequence[BillTwin], choice: str, at: datetime) -> None:
    batch = BillImport.objects.select_for_update().get(id=import_id)
    if batch.state != BillImportState.HELD:
        raise TwinDecided(f"{batch.name} is {batch.get_state_display()}: nothing waits of it")
    if choice == TwinChoice.OLD:
        bills.drop_held_delivery(batch, at)
        for twin in twins:
            _decide_in_force(twin, choice, at)
        return
    own_ids = list(batch.bills.values_list("id", flat=True))
    others = sorted({twin.other_id for twin in twins}) if choice == TwinChoice.NEW else []
    locked = bills.lock_bills({*own_ids, *others})
    later = bills.later_delivery(import_id, own_ids)
    if later is not None:
        raise bills.DeliveryNotNewest(
            f"{later.name} was delivered later: send {batch.name} again, or undo that one first"
        )
    if others:
        give_way(import_id, others, at)
        batch.bills.add(*others)
    bills.activate_delivery_unless_unread(
        batch=batch, bill_ids=[lock_bill for lock_bill in locked if lock_bill in own_ids], at=at
    )


def _decide_in_force(twin: BillTwin, choice: str, at: datetime) -> None:
    """Have the one that is chosen count alone, or both; what gave way meanwhile comes back first."""
    if twin.bill_id == twin.other_id:
        return
    bills.lock_bills([twin.bill_id, twin.other_id])
    if twin.gave_way_to is not None and choice != TwinChoice.OLD:
        _take_back(twin.gave_way_to, twin.bill_id, at)
    if choice == TwinChoice.BOTH:
        return
    stays, goes = (
        (twin.bill_id, twin.other_id) if choice == TwinChoice.NEW else (twin.other_id, twin.bill_id)
    )
    if are_in_force([goes]):
        _give_way_to(stays, goes, at)


def _give_way_to(stays: int, goes: int, at: datetime) -> BillImport:
    batch = give_way_to(stays, goes, at)
    if batch is None:
        raise TwinDecided("the bill that is to stay has no rows in force any more")
    return batch


def _take_back(batch: BillImport, bill_id: int, at: datetime) -> None:
    """Have a bill count again that gave way to this delivery of another."""
    with rewriting_bills([bill_id]):
        run(COME_BACK, {"by": batch.id, "bill": bill_id})
        Bill.objects.filter(id=bill_id).update(changed_at=at, reconciled_at=None)
    batch.bills.remove(bill_id)
