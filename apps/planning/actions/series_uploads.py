"""Files of a series' history that came by browser: kept, looked at, confirmed, then imported by a sweep."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.logs.changes import answered, logged_change
from apps.planning.actions.history import import_history
from apps.planning.models import RejectedSeriesRow, SeriesImport
from apps.planning.queries.series import SeriesKey
from apps.uploads import imports as steps
from apps.uploads.files import StoredFile, storable_text
from apps.uploads.imports import MOST_REJECTIONS_KEPT, ImportState, RejectedFact


@dataclass(frozen=True, slots=True)
class ClaimedSeries:
    """A file of a history that is this caller's: to be looked at, or imported where it `is_confirmed`."""

    id: int
    name: str
    stored_as: str
    asked: Mapping[str, object]
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class RowsRead:
    """How many rows a file has, and those of them that cannot be taken."""

    rows: int
    rejected: Sequence[RejectedFact] = ()


@logged_change()
def keep_series_file(*, upload: StoredFile, person_id: int | None, at: datetime) -> int:
    """A file came; the next sweep looks at it. Answers the import's id."""
    return SeriesImport.objects.create(
        **asdict(upload), person_id=person_id, started_at=at, state=ImportState.LOOKING
    ).id


@logged_change()
def request_series_reading(*, import_id: int, reading: Mapping[str, object], at: datetime) -> None:
    """Have the file looked at again, read in this way. Refuses ImportAlreadyOver, ImportNotReady."""
    steps.request_reread(SeriesImport, import_id, reading)


@logged_change()
def start_series_import(*, import_id: int, at: datetime) -> None:
    """Have the file imported as it was last looked at. Refuses ImportNotReady, ImportAlreadyOver."""
    steps.confirm(SeriesImport, import_id, "hours")


@logged_change()
def discard_series_import(*, import_id: int, at: datetime) -> None:
    """Forget the file, of which nothing is imported before all is. Refuses ImportAlreadyOver."""
    steps.discard(SeriesImport, import_id, at)


@logged_change(count=answered)
def claim_series_file(*, at: datetime) -> ClaimedSeries | None:
    """The oldest file to be looked at or imported that nobody works on; None: there is none.

    One whose worker fell silent is begun again: nothing of it was kept.
    """
    batch = steps.claim(SeriesImport, at)
    if batch is None:
        return None
    is_confirmed = batch.state == ImportState.RUNNING
    return ClaimedSeries(batch.id, batch.name, batch.stored_as, batch.asked, is_confirmed)


def still_wanted(*, claimed: ClaimedSeries, read_bytes: int, at: datetime) -> bool:
    """Say that the file is worked on, and how far it is; False: somebody discarded it, or wants it read in another way."""
    state = ImportState.RUNNING if claimed.is_confirmed else ImportState.LOOKING
    return steps.say_alive(SeriesImport, claimed.id, state, read_bytes, at)


@logged_change()
@transaction.atomic
def record_series_preview(
    *, import_id: int, reading: Mapping[str, object], preview: Mapping[str, object], read: RowsRead
) -> None:
    """Keep what a look at the file found; now it waits for a person."""
    fields = {
        "asked": dict(reading),
        "seen": dict(preview),
        "rows": read.rows,
        "rejected": len(read.rejected),
    }
    if steps.store_preview(SeriesImport, import_id, fields):
        _keep_rejected(import_id, read.rejected)


@logged_change(count=answered)
@transaction.atomic
def finish_series_import(
    *,
    import_id: int,
    series: SeriesKey,
    points: Sequence[tuple[datetime, float]],
    read: RowsRead,
    at: datetime,
) -> int:
    """Keep all hours of the file at once; answers how many are not as they were.

    Nothing is kept where somebody discarded it, or another worker took it up meanwhile and is done. Refuses HistoryAhead.
    """
    batch = (
        SeriesImport.objects.select_for_update()
        .filter(id=import_id, state=ImportState.RUNNING)
        .first()
    )
    if batch is None:
        return 0
    outcome = import_history(series=series, points=points, at=at)
    _keep_rejected(import_id, read.rejected)
    batch.state, batch.ended_at = ImportState.DONE, at
    batch.rows, batch.rejected = read.rows, len(read.rejected)
    batch.imported, batch.unchanged = outcome.written, outcome.hours - outcome.written
    batch.save()
    return outcome.written


@logged_change()
def break_off_series_import(*, import_id: int, failure: str, at: datetime) -> None:
    """The file cannot be read; nothing of it was imported."""
    steps.break_off(SeriesImport, import_id, failure, at)


@logged_change()
def release_series_import(*, import_id: int, reason: str, at: datetime | None) -> None:
    """Leave the file for later, for a reason that is not its own; `at` None: for whoever comes next."""
    steps.release_import(SeriesImport, import_id, at, reason)


def series_files_to_forget() -> dict[int, str]:
    """Files of imports that are over, by import."""
    return steps.files_over(SeriesImport)


@logged_change()
def forget_series_file(*, import_id: int) -> None:
    """The file is gone."""
    steps.forget(SeriesImport, import_id)


def _keep_rejected(import_id: int, rejected: Sequence[RejectedFact]) -> None:
    """The first of them, in place of those of an earlier look."""
    rejected = pseudonymise(rejected, arriving_personal_fields("planning.rejectedseriesrow"))
    RejectedSeriesRow.objects.filter(batch_id=import_id).delete()
    RejectedSeriesRow.objects.bulk_create(
        RejectedSeriesRow(
            batch_id=import_id,
            line=row.line,
            field=storable_text(row.field),
            reason=storable_text(row.reason),
        )
        for row in rejected[:MOST_REJECTIONS_KEPT]
    )
