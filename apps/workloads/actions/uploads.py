"""Files of jobs that came by browser: kept, looked at, asked about, then imported by a sweep."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from apps.logs.changes import answered, logged_change
from apps.uploads import imports as steps
from apps.uploads.files import StoredFile
from apps.uploads.imports import ImportState
from apps.workloads.models import ImportBatch, RejectedRow


@dataclass(frozen=True, slots=True)
class Claimed:
    """A file that is this caller's to work on."""

    id: int
    kind: str
    stored_as: str
    asked: Mapping[str, object]


@logged_change()
def keep_upload(*, upload: StoredFile, at: datetime) -> int:
    """A file came; the next sweep looks at it. Answers the import's id."""
    return ImportBatch.objects.create(
        **asdict(upload), kind="csv", started_at=at, state=ImportState.LOOKING
    ).id


@logged_change()
def request_import_reading(*, batch_id: int, options: Mapping[str, object], at: datetime) -> None:
    """Have the file looked at again, read in this way. Refuses ImportAlreadyOver, ImportNotReady."""
    steps.request_reread(ImportBatch, batch_id, options)


@logged_change()
def start_import(*, batch_id: int, at: datetime) -> None:
    """Have the file imported as it was last looked at. Refuses ImportNotReady, ImportAlreadyOver."""
    steps.confirm(ImportBatch, batch_id, "jobs")


@logged_change()
def discard_import(*, batch_id: int, at: datetime) -> None:
    """Forget the file; what of it was imported stays. Refuses ImportAlreadyOver."""
    steps.discard(ImportBatch, batch_id, at)


@logged_change(count=answered)
@transaction.atomic
def claim_file(*, at: datetime) -> Claimed | None:
    """The oldest file to be looked at or imported that nobody works on; None: there is none.

    One whose worker fell silent is begun again from its first row: that changes nothing twice.
    """
    batch = steps.claim(ImportBatch, at)
    if batch is None:
        return None
    if batch.state == ImportState.RUNNING:
        RejectedRow.objects.filter(batch=batch).delete()
    kind = batch.kind if batch.state == ImportState.RUNNING else ""
    return Claimed(batch.id, kind, batch.stored_as, batch.asked)


def still_wanted(*, batch_id: int, read_bytes: int, at: datetime) -> bool:
    """Say that the import is worked on, and how far it is; False: somebody discarded it."""
    return steps.say_alive(ImportBatch, batch_id, ImportState.RUNNING, read_bytes, at)


@logged_change()
def record_import_preview(
    *, batch_id: int, kind: str, options: Mapping[str, object], findings: Mapping[str, object]
) -> None:
    """Record what a look at the file found; now it waits for a person."""
    steps.store_preview(
        ImportBatch, batch_id, {"kind": kind, "asked": dict(options), "seen": dict(findings)}
    )


@logged_change()
def break_off(*, batch_id: int, failure: str, at: datetime) -> None:
    """The file cannot be read to its end; what of it was imported stays."""
    steps.break_off(ImportBatch, batch_id, failure, at)


@logged_change()
def release_import_file(*, batch_id: int, reason: str, at: datetime | None) -> None:
    """Leave the file for later, for a reason that is not its own; `at` None: for whoever comes next."""
    steps.release_import(ImportBatch, batch_id, at, reason)


def files_to_forget() -> dict[int, str]:
    """Files of imports that are over, by import."""
    return steps.files_over(ImportBatch)


@logged_change()
def forget_file(*, batch_id: int) -> None:
    """The file is gone."""
    steps.forget(ImportBatch, batch_id)
