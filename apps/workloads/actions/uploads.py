"""Files of jobs that came by browser: kept, looked at, asked about, then imported by a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from apps.logs.changes import answered, logged_change
from apps.workloads.models import ImportBatch, ImportState, RejectedRow

SILENT_AFTER = timedelta(minutes=2)
"""Whoever works on a file says so with every chunk; after this long, somebody else takes it up."""
OVER = frozenset({ImportState.DONE, ImportState.DISCARDED})


class ImportNotReady(Exception):
    """The file cannot be imported as it would be read now, or nobody has looked at it yet."""


class ImportAlreadyOver(Exception):
    """What was imported or discarded is not changed any more."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that lies under RUNRATE_HOME/uploads as `stored_as`; `name` is what its owner said."""

    name: str
    stored_as: str
    size_bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A file that is this caller's to work on."""

    id: int
    kind: str
    stored_as: str
    asked: Mapping[str, object]


@logged_change()
def keep_upload(*, upload: Upload, at: datetime) -> int:
    """A file came; the next sweep looks at it. Answers the import's id."""
    return ImportBatch.objects.create(
        kind="csv",
        name=upload.name,
        digest=upload.digest,
        started_at=at,
        state=ImportState.LOOKING,
        stored_as=upload.stored_as,
        size_bytes=upload.size_bytes,
    ).id


@logged_change()
@transaction.atomic
def ask_reading(*, batch_id: int, asked: Mapping[str, object], at: datetime) -> None:
    """Have the file looked at again, read in this way. Refuses ImportAlreadyOver, ImportNotReady."""
    batch = _open_batch(batch_id)
    if batch.state not in {ImportState.ASKING, ImportState.LOOKING, ImportState.FAILED}:
        raise ImportNotReady(f"{batch.name} is being imported")
    batch.asked, batch.seen = dict(asked), {**batch.seen, "trial": None}
    batch.state, batch.alive_at, batch.failure = ImportState.LOOKING, None, ""
    batch.save(update_fields=["asked", "seen", "state", "alive_at", "failure"])


@logged_change()
@transaction.atomic
def start_import(*, batch_id: int, at: datetime) -> None:
    """Have the file imported as it was last looked at. Refuses ImportNotReady, ImportAlreadyOver."""
    batch = _open_batch(batch_id)
    if batch.state != ImportState.ASKING or not (batch.seen.get("trial") or {}).get("jobs"):
        raise ImportNotReady(f"{batch.name} cannot be imported as it would be read now")
    batch.state, batch.alive_at = ImportState.WAITING, None
    batch.save(update_fields=["state", "alive_at"])


@logged_change()
@transaction.atomic
def discard_import(*, batch_id: int, at: datetime) -> None:
    """Forget the file; what of it was imported stays. Refuses ImportAlreadyOver."""
    batch = _open_batch(batch_id)
    batch.state, batch.ended_at = ImportState.DISCARDED, at
    batch.save(update_fields=["state", "ended_at"])


@logged_change(count=answered)
@transaction.atomic
def claim_file(*, at: datetime) -> Claimed | None:
    """The oldest file to be looked at or imported that nobody works on; None: there is none.

    One whose worker fell silent is begun again from its first row: that changes nothing twice.
    """
    idle = Q(alive_at=None) | Q(alive_at__lt=at - SILENT_AFTER)
    due = [ImportState.LOOKING, ImportState.WAITING, ImportState.RUNNING]
    batch = (
        ImportBatch.objects.select_for_update(skip_locked=True)
        .filter(idle, state__in=due)
        .exclude(stored_as="")
        .order_by("id")
        .first()
    )
    if batch is None:
        return None
    batch.alive_at = at
    if batch.state != ImportState.LOOKING:
        RejectedRow.objects.filter(batch=batch).delete()
        batch.state = ImportState.RUNNING
        batch.rows = batch.imported = batch.unchanged = batch.rejected = batch.read_bytes = 0
    batch.save()
    kind = batch.kind if batch.state == ImportState.RUNNING else ""
    return Claimed(batch.id, kind, batch.stored_as, batch.asked)


def still_wanted(*, batch_id: int, read_bytes: int, at: datetime) -> bool:
    """Say that the import is worked on, and how far it is; False: somebody discarded it."""
    running = ImportBatch.objects.filter(id=batch_id, state=ImportState.RUNNING)
    return running.update(alive_at=at, read_bytes=read_bytes) == 1


@logged_change()
def tell_seen(
    *, batch_id: int, kind: str, asked: Mapping[str, object], seen: Mapping[str, object]
) -> None:
    """What a look at the file found; now it waits for a person."""
    ImportBatch.objects.filter(id=batch_id, state=ImportState.LOOKING).update(
        kind=kind, asked=dict(asked), seen=dict(seen), state=ImportState.ASKING
    )


@logged_change()
def break_off(*, batch_id: int, failure: str, at: datetime) -> None:
    """The file cannot be read to its end; what of it was imported stays."""
    ImportBatch.objects.filter(id=batch_id).exclude(state__in=OVER).update(
        state=ImportState.FAILED, failure=failure, ended_at=at
    )


def files_to_forget() -> dict[int, str]:
    """Files of imports that are over, by import."""
    rows = ImportBatch.objects.filter(state__in=OVER).exclude(stored_as="").order_by("id")
    return dict(rows.values_list("id", "stored_as"))


@logged_change()
def forget_file(*, batch_id: int) -> None:
    """The file is gone."""
    ImportBatch.objects.filter(id=batch_id).update(stored_as="")


def _open_batch(batch_id: int) -> ImportBatch:
    batch = ImportBatch.objects.select_for_update().get(id=batch_id)
    if batch.state in OVER:
        raise ImportAlreadyOver(f"{batch.name} is {batch.get_state_display()} already")
    return batch
