"""Imports of files of jobs: each a batch that says what came of it, safe to run again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from django.db import transaction
from django.db.models import F

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.job_fold import TEXTS
from apps.economics.job_names import name_faults
from apps.economics.jobs import (
    JobEventIn,
    JobRecord,
    RecordHasNoTime,
    RejectedJobRow,
    event_of_record,
)
from apps.fleet.actions.not_understood import Unread, count_not_understood
from apps.logs.changes import field_of, items_of, logged_change
from apps.uploads.imports import MOST_REJECTIONS_KEPT, ImportState
from apps.workloads.actions.recording import record_events
from apps.workloads.models import ImportBatch
from apps.workloads.models import RejectedRow as KeptRejection
from apps.workloads.queries.double_claims import double_claims
from apps.workloads.queries.job_row_errors import DOUBLED

NUL = "\x00"
# Of an exact fraction, above or below the line; products of two still fit a column.
LARGEST_PART = 10**9
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """The outcome of an import of records; `rejected` are those that could be read but not kept."""

    imported: int
    unchanged: int
    rejected: tuple[RejectedJobRow, ...] = ()


@logged_change()
def open_batch(*, kind: str, name: str, digest: str, at: datetime) -> int:
    """Begin an import of a file (`kind` is sacct or csv); answers its id."""
    return ImportBatch.objects.create(
        kind=kind, name=name, digest=digest, started_at=at, state=ImportState.RUNNING
    ).id


@logged_change(count=field_of("imported"))
@transaction.atomic
def import_job_records(
    *, batch_id: int, records: Sequence[JobRecord], at: datetime
) -> ImportCounts:
    """Take in some thousand records as accounting's word; those taken before change nothing."""
    refusals = {record.line: _refusal_of_record(record) for record in records}
    accepted = [record for record in records if refusals[record.line] is None]
    recorded = record_events(events=[event_of_record(record) for record in accepted], at=at)
    imported = sum(1 for record_event in recorded if record_event.is_changed)
    counts = ImportCounts(
        imported=imported,
        unchanged=len(recorded) - imported,
        rejected=tuple(row for row in refusals.values() if row is not None),
    )
    ImportBatch.objects.filter(id=batch_id).update(
        rows=F("rows") + len(recorded),
        imported=F("imported") + counts.imported,
        unchanged=F("unchanged") + counts.unchanged,
    )
    door = _note_held(batch_id, accepted)
    doubled = _doubled(
        [record_event.job_id for record_event in recorded if record_event.is_changed]
    )
    count_not_understood(unread=[*_unread_of(accepted, door), *doubled], at=at)
    reject_rows(batch_id=batch_id, rows=counts.rejected)
    return counts


@logged_change(count=items_of("rows"))
@transaction.atomic
def reject_rows(*, batch_id: int, rows: Iterable[RejectedJobRow]) -> None:
    """Count every rejected row, and keep the first MOST_REJECTIONS_KEPT with line and reason."""
    rejected = pseudonymise(
        [*rows], arriving_personal_fields("workloads.rejectedrow", reason="message")
    )
    if not rejected:
        return
    batch = ImportBatch.objects.select_for_update().get(id=batch_id)
    room = max(0, MOST_REJECTIONS_KEPT - batch.rejected)
    KeptRejection.objects.bulk_create(
        [
            KeptRejection(
                batch=batch, line=row.line, field=row.field, reason=_without_nul(row.message)
            )
            for row in rejected[:room]
        ],
        ignore_conflicts=True,
    )
    batch.rejected += len(rejected)
    batch.rows += len(rejected)
    batch.save(update_fields=["rejected", "rows"])


@logged_change()
def close_batch(*, batch_id: int, at: datetime) -> None:
    """The file came to its end."""
    ImportBatch.objects.filter(id=batch_id).update(ended_at=at, state=ImportState.DONE)


def _doubled(job_ids: Sequence[int]) -> list[Unread]:
    """Nodes of which two jobs of one scheduler held all GPUs at once."""
    return [
        Unread(
            "sacct",
            DOUBLED,
            place=double_claim.node,
            example=f"{double_claim.first_job} {double_claim.second_job}",
        )
        for double_claim in (double_claims(job_ids) if job_ids else ())
    ]


def _unread_of(records: Sequence[JobRecord], door: str) -> Iterator[Unread]:
    for record in records:
        for remark in record.remarks:
            example = f"job {record.raw_id}, line {record.line}"
            yield Unread(door, remark, place=record.cluster, example=example)


def _note_held(batch_id: int, records: Sequence[JobRecord]) -> str:
    """When these jobs held something, and what the file calls the GPUs of their nodes; its kind."""
    batch = ImportBatch.objects.select_for_update().get(id=batch_id)
    started_records = [job_record for job_record in records if job_record.started_at is not None]
    if not started_records:
        return batch.kind
    begun = [
        job_record.started_at for job_record in started_records if job_record.started_at is not None
    ]
    ended = [
        job_record.ended_at or job_record.started_at
        for job_record in started_records
        if job_record.started_at is not None
    ]
    batch.jobs_from = min(filter(None, (batch.jobs_from, *begun)))
    batch.jobs_until = max(filter(None, (batch.jobs_until, *ended)))
    for record in started_records:
        if record.gpu_type:
            of_cluster = batch.gpu_types.setdefault(record.cluster, {})
            of_cluster |= {one.node: record.gpu_type for one in record.allocations if one.gpus}
    batch.save(update_fields=["jobs_from", "jobs_until", "gpu_types"])
    return batch.kind


def _refusal_of_record(record: JobRecord) -> RejectedJobRow | None:
    """Why the tables cannot hold a record, if they cannot."""
    try:
        event = event_of_record(record)
    except RecordHasNoTime as refused:
        return RejectedJobRow(record.line, "submitted_at", str(refused))
    for name, message in _record_faults(record, event):
        return RejectedJobRow(record.line, name, message)
    return None


def _record_faults(record: JobRecord, event: JobEventIn) -> Iterator[tuple[str, str]]:
    for name in ("submitted_at", "started_at", "ended_at"):
        moment: datetime | None = getattr(record, name)
        if moment is not None and not EARLIEST <= moment <= LATEST:
            yield name, f"{moment.isoformat()} is no time of a job"
    for name, text in _texts_of_record(record):
        if NUL in text:
            yield name, "holds a NUL character, which no text may"
    yield from name_faults(event)
    for name, amount in _amounts_of_record(record):
        if max(amount.numerator, amount.denominator) > LARGEST_PART:
            yield name, "is no amount that a job holds"


def _amounts_of_record(record: JobRecord) -> Iterator[tuple[str, Fraction]]:
    yield "cpus", record.cpus or Fraction(0)
    yield "restart_count", Fraction(record.restart_count)
    yield "suspended_seconds", Fraction(record.suspended_seconds)
    for one in record.allocations:
        yield "gpus", one.held_gpus
        yield "cpus", one.cpus or Fraction(0)


def _texts_of_record(record: JobRecord) -> Iterator[tuple[str, str]]:
    for name in ("cluster", "raw_id", "state", *TEXTS):
        yield name, getattr(record, name, "")
    yield "labels", "".join(text for pair in record.labels.items() for text in pair)
    for one in record.allocations:
        yield "allocations", "".join((one.node, *(one.devices or ())))


def _without_nul(text: str) -> str:
    return text.replace(NUL, "\N{REPLACEMENT CHARACTER}")
