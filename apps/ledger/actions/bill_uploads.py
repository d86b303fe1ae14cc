"""Bills that came by browser or API: kept until a sweep took them in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q

from apps.ledger.actions.bill_exchange import drop_rows
from apps.ledger.models import BillImport, BillImportState, RejectedBillRow
from apps.logs.changes import answered, logged_change
from apps.uploads.files import StoredFile
from apps.uploads.imports import MOST_TRIES

# Arbitrary but fixed: one process at a time takes uploaded bills in.
TAKING = 7_305_032
BROKEN_OFF = (
    f"it was taken up {MOST_TRIES} times, and each time its reading ended without a word: what reads it was "
    "killed, or ran out of memory; look at the file, then have it read again, or send another"
)
CALLED_OFF = "it was called off"
FURTHER_BY = 10
"""A try that read more rows than all before it, by one in ten of those, was not ended by the file."""
KEPT_FOR = timedelta(days=1)
"""So long a file of which nothing was taken is kept: somebody may have it read again."""
UNDER_WAY = (BillImportState.WAITING, BillImportState.RUNNING)


class BillImportOver(Exception):
    """An import that ended is not called off any more."""


class BillFileNotStored(Exception):
    """A file that is taken in, or no longer kept, is not read again."""


@dataclass(frozen=True, slots=True)
class BillUpload(StoredFile):
    """A file of a bill, who sent it, and whether it is one of several of its period.

    `name` is what its owner said.
    """

    is_addition: bool = False
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimedBill:
    """An uploaded bill that is this caller's to take in."""

    id: int
    name: str
    stored_as: str


@logged_change()
def keep_bill(*, upload: BillUpload, at: datetime) -> int:
    """A file came; the next sweep takes it in. Answers the import's id."""
    return BillImport.objects.create(
        **asdict(upload), state=BillImportState.WAITING, started_at=at
    ).id


@contextmanager
def alone() -> Iterator[bool]:
    """Whether nobody else takes uploads in; until the end nobody else begins to."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [TAKING])
        (is_alone,) = cursor.fetchone()
    try:
        yield is_alone
    finally:
        if is_alone:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TAKING])


@logged_change(count=answered)
@transaction.atomic
def claim_bill(*, at: datetime) -> ClaimedBill | None:
    """The oldest uploaded bill to be taken in; None: there is none. Only for who is `alone`.

    One whose worker died is begun again from its first row, but no more than MOST_TRIES times. The try is
    on record before the work begins.
    """
    _give_tries_back()
    for import_id in _tried_enough():
        drop_rows(import_id)
        BillImport.objects.filter(id=import_id).update(
            state=BillImportState.FAILED, failure=BROKEN_OFF, ended_at=at
        )
    batch = (
        BillImport.objects.select_for_update()
        .filter(state__in=UNDER_WAY)
        .exclude(stored_as="")
        .order_by("id")
        .first()
    )
    if batch is None:
        return None
    drop_rows(batch.id)
    RejectedBillRow.objects.filter(batch=batch).delete()
    batch.state, batch.alive_at, batch.rows, batch.rejected = BillImportState.RUNNING, at, 0, 0
    batch.failure = ""
    batch.unread_from = batch.unread_until = None
    batch.tries += 1
    batch.save(
        update_fields=[
            *("state", "alive_at", "rows", "rejected", "unread_from", "unread_until"),
            *("tries", "failure"),
        ]
    )
    return ClaimedBill(batch.id, batch.name, batch.stored_as)


@logged_change()
@transaction.atomic
def release_bill_import(*, import_id: int, reason: str) -> None:
    """Leave the file for a later sweep, for a reason that is not its own: that is no try of it."""
    drop_rows(import_id)
    BillImport.objects.filter(id=import_id, state=BillImportState.RUNNING).update(
        state=BillImportState.WAITING, alive_at=None, tries=F("tries") - 1, failure=reason
    )


@logged_change()
@transaction.atomic
def read_bill_again(*, import_id: int, at: datetime) -> None:
    """Have a file of which nothing was taken read again, from its first row. Refuses BillFileNotStored."""
    batch = BillImport.objects.select_for_update().get(id=import_id)
    if batch.state != BillImportState.FAILED or not batch.stored_as:
        raise BillFileNotStored(f"the file of {batch.name} is not kept: send it again")
    batch.state, batch.failure, batch.ended_at = BillImportState.WAITING, "", None
    batch.rows = batch.rejected = batch.tries = batch.furthest_rows = 0
    batch.alive_at = None
    batch.save()
    RejectedBillRow.objects.filter(batch=batch).delete()


def _give_tries_back() -> None:
    """Do not count a try that got further than all before it; the first one has none before it."""
    cut = BillImport.objects.filter(state=BillImportState.RUNNING).exclude(stored_as="")
    part = F("furthest_rows") / FURTHER_BY
    further = cut.filter(tries__gt=1, rows__gt=F("furthest_rows") + part)
    further.update(tries=F("tries") - 1)
    cut.filter(rows__gt=F("furthest_rows")).update(furthest_rows=F("rows"))


def _tried_enough() -> list[int]:
    """Imports whose workers died as often as a file is taken up; who is `alone` knows that none works on."""
    tried = BillImport.objects.filter(state__in=UNDER_WAY, tries__gte=MOST_TRIES)
    return list(tried.exclude(stored_as="").order_by("id").values_list("id", flat=True))


@logged_change()
@transaction.atomic
def call_off_bill(*, import_id: int, at: datetime) -> None:
    """Take nothing of the file. Refuses BillImportOver."""
    batch = BillImport.objects.select_for_update().get(id=import_id)
    if batch.state not in UNDER_WAY:
        raise BillImportOver(f"{batch.name} is {batch.get_state_display()}")
    drop_rows(batch.id)
    batch.state, batch.failure, batch.ended_at = BillImportState.FAILED, CALLED_OFF, at
    batch.save(update_fields=["state", "failure", "ended_at"])


def bill_files_to_forget(*, at: datetime) -> dict[int, str]:
    """Files of imports that are over, by import; of which nothing was taken, a day later."""
    failed = Q(state=BillImportState.FAILED, ended_at__gt=at - KEPT_FOR)
    may_be_read_again = failed & ~Q(failure=CALLED_OFF)
    over = BillImport.objects.exclude(state__in=UNDER_WAY).exclude(stored_as="")
    return dict(over.exclude(may_be_read_again).order_by("id").values_list("id", "stored_as"))


@logged_change()
def forget_bill_file(*, import_id: int) -> None:
    """The file is gone."""
    BillImport.objects.filter(id=import_id).update(stored_as="")
