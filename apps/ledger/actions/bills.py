"""Bills taken in: a delivery is staged row by row, then replaces its periods in one transaction."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.focus.rows import Rejection
from apps.ledger.actions.bill_exchange import (
    drop_rows,
    exchange,
    record_rounded_bills,
    remarks_on,
    repeated_rows,
    rows_lost,
)
from apps.ledger.actions.bill_questions import (
    hold_delivery_for_twins,
    request_twin_detection,
    withdraw_twin_questions,
)
from apps.ledger.actions.bills_giving_way import keep_decisions
from apps.ledger.actions.month_digests import rewriting_bills
from apps.ledger.models import Bill, BillImport, BillImportState, BillTwin, RejectedBillRow
from apps.ledger.queries.tables import run
from apps.logs.changes import logged_change

MOST_REJECTIONS_KEPT = 10_000
SILENT_AFTER = timedelta(minutes=2)
BASES = ("billed", "effective", "list", "contracted")


class DeliveryNotNewest(Exception):
    """Only the newest delivery of a bill can be undone; a later one stands on it."""


class DeliveryNotUndoable(Exception):
    """A delivery that was not taken in, or was undone already."""


class DeliveryCalledOff(Exception):
    """Somebody called the import off while it ran."""


class DeliveryRefused(Exception):
    """Nothing of a file is taken: not one of its rows could be read, or they come to more than is kept."""


class NothingToAccept(Exception):
    """A delivery of which every row was read, or that was accepted, undone or broken off."""


class ReasonMissing(Exception):
    """Rows that are missing are accepted with a reason, and by a person."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery of a file: `is_addition` where it is one of several files and replaces nothing."""

    name: str
    digest: str
    layout: str
    size_bytes: int = 0
    is_addition: bool = False
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of a delivery."""

    import_id: int
    rows: int
    imported: int
    unchanged: int
    replaced: int
    rejected: int
    totals: Mapping[str, Mapping[str, str]]
    flags: Sequence[str]
    is_held: bool = False


def delivered_before(digest: str) -> Taken | None:
    """Return the outcome of this very file where it is in force or held: taking it again changes nothing."""
    held_batch = BillImport.objects.filter(digest=digest, state=BillImportState.HELD).first()
    if held_batch is not None:
        return taken_of(held_batch)
    # One that found all of it there already has no bills, and stands for nothing itself.
    done = BillImport.objects.filter(digest=digest, state=BillImportState.DONE, bills__isnull=False)
    for batch in done.distinct().order_by("id"):
        if not in_force_after(batch, batch.bills.all()).filter(is_addition=False).exists():
            return replace(taken_of(batch), imported=0, unchanged=batch.rows - batch.rejected)
    return None


def begin_delivery(*, delivery: Delivery, at: datetime) -> int:
    """Begin an import; its rows count for nothing until `finish_delivery`."""
    return BillImport.objects.create(
        **asdict(delivery), state=BillImportState.RUNNING, started_at=at, alive_at=at
    ).id


@transaction.atomic
def reject_bill_rows(*, import_id: int, rejected: Sequence[Rejection]) -> None:
    """Count rejected rows, and keep the first MOST_REJECTIONS_KEPT."""
    if not rejected:
        return
    rejected = pseudonymise(rejected, arriving_personal_fields("ledger.rejectedbillrow"))
    batch = BillImport.objects.select_for_update().get(id=import_id)
    room = max(0, MOST_REJECTIONS_KEPT - batch.rejected)
    RejectedBillRow.objects.bulk_create(
        [
            RejectedBillRow(batch=batch, line=row.line, field=row.field, reason=row.reason)
            for row in rejected[:room]
        ],
        ignore_conflicts=True,
    )
    batch.rejected += len(rejected)
    batch.rows += len(rejected)
    begun = [batch.unread_from, *(row.period[0] for row in rejected if row.period is not None)]
    ended = [batch.unread_until, *(row.period[1] for row in rejected if row.period is not None)]
    batch.unread_from = min((moment for moment in begun if moment is not None), default=None)
    batch.unread_until = max((moment for moment in ended if moment is not None), default=None)
    batch.save(update_fields=["rejected", "rows", "unread_from", "unread_until"])


@transaction.atomic
def finish_delivery(
    *,
    import_id: int,
    bill_ids: Collection[int],
    totals: Mapping[str, Mapping[str, Decimal]],
    flags: Sequence[str],
    at: datetime,
    may_repeat: bool = True,
) -> Taken:
    """Put the rows that were staged of these bills in force: those already there stay, those not there any more go.

    A file with rows that could not be read replaces nothing: nobody knows what those rows were to
    stand for. Where it would, it is held until a person accepts it. Bills that changed wait for
    reconciling; what those of closed months change waits there, as all that comes late. Rows that say
    the same are looked for where there may be any. Refuses DeliveryCalledOff.
    """
    batch = BillImport.objects.select_for_update().get(id=import_id)
    if batch.state != BillImportState.RUNNING:
        raise DeliveryCalledOff("somebody called the import off")
    batch.totals = {
        currency: {basis: f"{amount:f}" for basis, amount in sums.items()}
        for currency, sums in totals.items()
    }
    batch.flags = list(flags)
    bill_ids = lock_bills(bill_ids)
    if delivered_before(batch.digest) is not None:
        # Another delivered this very file meanwhile.
        batch.unchanged = drop_rows(import_id)
        batch.state, batch.ended_at = BillImportState.DONE, at
        batch.save()
        return taken_of(batch)
    batch.bills.set(bill_ids)
    if may_repeat:
        batch.flags += repeated_rows(import_id)
    if not batch.is_addition:
        forget_held_deliveries(batch, at)
    if hold_delivery_for_twins(batch, bill_ids, at):
        return taken_of(batch)
    activate_delivery_unless_unread(batch=batch, bill_ids=bill_ids, at=at)
    return taken_of(batch)


def activate_delivery_unless_unread(
    *, batch: BillImport, bill_ids: Sequence[int], at: datetime
) -> None:
    """Its rows count from now on, or it is held where rows that could not be read might be lost."""
    is_open = batch.rejected and not batch.is_addition and batch.accepted_at is None
    if is_open and (loses := rows_lost(batch.id, bill_ids)):
        batch.flags.append(
            f"{batch.rejected} of its rows could not be read, and it would replace {loses} that "
            "are in force: it is held until somebody accepts it or sends it corrected"
        )
        batch.state, batch.ended_at = BillImportState.HELD, at
        batch.save()
        return
    activate_delivery(batch=batch, bill_ids=bill_ids, at=at)


def activate_delivery(*, batch: BillImport, bill_ids: Sequence[int], at: datetime) -> None:
    """Its staged rows count from now on, in place of those that a whole delivery replaces.

    The bills are locked by `lock_bills`, and the delivery's row is the caller's.
    """
    with rewriting_bills(bill_ids):
        unchanged, replaced = (0, 0) if batch.is_addition else exchange(batch.id, bill_ids)
        batch.unchanged, batch.replaced = unchanged, replaced
        batch.imported = batch.rows - batch.rejected - unchanged
        batch.state, batch.ended_at = BillImportState.DONE, at
        batch.save()
        batch.flags = [*remarks_on(bill_ids), *batch.flags]
        batch.save(update_fields=["flags"])
        if batch.imported or replaced:
            Bill.objects.filter(id__in=bill_ids).update(changed_at=at, reconciled_at=None)


def note_layout(*, import_id: int, layout: str) -> None:
    """How the file is written, once it was opened."""
    BillImport.objects.filter(id=import_id).update(layout=layout)


@transaction.atomic
def repeat_delivery(*, import_id: int, before: Taken, at: datetime) -> Taken:
    """End an import whose file is in force already: it changes nothing."""
    batch = BillImport.objects.select_for_update().get(id=import_id)
    batch.rows, batch.unchanged, batch.rejected = before.rows, before.unchanged, before.rejected
    batch.totals, batch.flags = dict(before.totals), list(before.flags)
    if before.is_held:
        batch.flags.append(f"the same file is held already, as bill import {before.import_id}")
    batch.state, batch.ended_at = BillImportState.DONE, at
    batch.save()
    return taken_of(batch)


def taken_of(batch: BillImport) -> Taken:
    """Return the outcome of a delivery, as it is kept."""
    return Taken(
        import_id=batch.id,
        rows=batch.rows,
        imported=batch.imported,
        unchanged=batch.unchanged,
        replaced=batch.replaced,
        rejected=batch.rejected,
        totals=batch.totals,
        flags=batch.flags,
        is_held=batch.state == BillImportState.HELD,
    )


@logged_change()
@transaction.atomic
def break_off_delivery(*, import_id: int, failure: str, at: datetime) -> None:
    """The file could not be read to its end, or was refused: none of its rows stays."""
    drop_rows(import_id)
    withdraw_twin_questions(import_id, at)
    BillImport.objects.filter(id=import_id).update(
        state=BillImportState.FAILED, failure=failure, ended_at=at
    )


@logged_change()
@transaction.atomic
def undo_delivery(*, import_id: int, at: datetime) -> None:
    """Take a delivery back: its rows go and those that it replaced are in force again.

    The newest of a bill is the one that came into force last, however long it was held before. What
    somebody decided of two bills holds for what comes back. One that is held goes as it came: nothing
    of it was in force. Refuses DeliveryNotNewest and DeliveryNotUndoable.
    """
    batch = BillImport.objects.select_for_update().get(id=import_id)
    if batch.state == BillImportState.HELD:
        withdraw_twin_questions(batch.id, at)
        drop_held_delivery(batch, at)
        return
    if batch.state != BillImportState.DONE:
        raise DeliveryNotUndoable(f"{batch.name} is {batch.get_state_display()}")
    bills = lock_bills(batch.bills.values_list("id", flat=True))
    later = in_force_after(batch, bills).order_by("-ended_at", "-id").first()
    if later is not None:
        raise DeliveryNotNewest(f"{later.name} came into force later; undo it first")
    if BillTwin.objects.filter(gave_way_to=batch, choice="").update(gave_way_to=None):
        # What gave way to it comes back, and may count twice with what it replaced.
        request_twin_detection(at)
    with rewriting_bills(bills):
        drop_rows(import_id)
        run(
            "UPDATE ledger_billrow SET replaced_by_id = NULL WHERE replaced_by_id = %(id)s",
            {"id": import_id},
        )
        batch.state, batch.undone_at = BillImportState.UNDONE, at
        batch.save(update_fields=["state", "undone_at"])
        keep_decisions(bills, at)
        record_rounded_bills(bills)
        Bill.objects.filter(id__in=bills).update(changed_at=at, reconciled_at=None)


def drop_held_delivery(batch: BillImport, at: datetime) -> None:
    """A delivery that is held goes as it came."""
    drop_rows(batch.id)
    batch.state, batch.undone_at = BillImportState.UNDONE, at
    batch.save(update_fields=["state", "undone_at"])


def later_delivery(import_id: int, bill_ids: Sequence[int], **which: object) -> BillImport | None:
    """One that brought rows of these bills in after this one; None where there is none."""
    later = BillImport.objects.filter(
        bills__in=bill_ids, id__gt=import_id, state=BillImportState.DONE, **which
    )
    return later.first()


def in_force_after(batch: BillImport, bills: Iterable[Bill | int]) -> QuerySet[BillImport]:
    """Those that brought rows of these bills in force after this one did, or had them give way."""
    since = batch.ended_at or batch.started_at
    others = BillImport.objects.filter(bills__in=bills, state=BillImportState.DONE)
    return others.filter(Q(ended_at__gt=since) | Q(ended_at=since, id__gt=batch.id)).distinct()


def lock_bills(bill_ids: Iterable[int]) -> list[int]:
    """These bills locked in one order, so that two deliveries take turns."""
    locked = Bill.objects.select_for_update().filter(id__in=list(bill_ids)).order_by("id")
    return [bill.id for bill in locked]


def forget_held_deliveries(batch: BillImport, at: datetime) -> None:
    """Deliveries that are held, all of whose bills this one has anew, wait for nothing more."""
    held_batches = BillImport.objects.filter(
        state=BillImportState.HELD, bills__in=batch.bills.all()
    )
    others = Bill.objects.exclude(id__in=batch.bills.values("id"))
    failure = f"it was held until {batch.name} came in its place"
    for old in held_batches.exclude(id=batch.id).exclude(bills__in=others).distinct():
        break_off_delivery(import_id=old.id, failure=failure, at=at)
