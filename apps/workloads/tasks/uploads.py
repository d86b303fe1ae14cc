"""Works on uploaded files: a first look, or the whole import, a chunk at a time."""

import logging
from collections.abc import Iterator
from itertools import islice

from django.utils import timezone

from apps.files import PlaceUnreachable
from apps.files.lines import FileUnreadable
from apps.files.stopping import STOP, WorkerStops, refuse_to_go_on, stopping_between_rows
from apps.uploads.files import STOPPED, forget_stored, stored_path, why_away, why_unread
from apps.workloads.actions import imports, uploads
from apps.workloads.providers.gpu_tracking import knowing_clusters
from apps.workloads.providers.job_file import JobFile, open_jobs
from apps.workloads.providers.job_file_preview import (
    LINES_TRIED,
    header_of,
    proposed,
    rows_of,
    sacct_options,
    samples,
    tried,
    what_it_is,
)
from apps.workloads.providers.job_mapping import MappingRefused
from apps.workloads.providers.job_record import JobRecord, JobRow, RejectedJobRow
from apps.workloads.providers.sacct import read_sacct
from apps.workloads.providers.sacct_layout import LayoutUnknown
from apps.workloads.queries.imports import clusters_with_gpus_accounted

log = logging.getLogger(__name__)

UNREADABLE = (MappingRefused, LayoutUnknown, FileUnreadable, OSError)


def work_on_files() -> None:
    """Take up one file after the other until none is due."""
    with stopping_between_rows():
        while not STOP.is_posted() and _work_on_next():
            pass


def _work_on_next() -> bool:
    """Take up one file; False: none is due."""
    claimed = uploads.claim_file(at=timezone.now())
    if claimed is None:
        return False
    try:
        with stored_path(claimed.stored_as) as path, open_jobs(str(path)) as file:
            _work_on_file(claimed, file)
    except WorkerStops:
        uploads.release_import_file(batch_id=claimed.id, reason=STOPPED, at=None)
    except PlaceUnreachable as away:
        log.warning("import_file_away batch=%s reason=%s", claimed.id, away)
        uploads.release_import_file(batch_id=claimed.id, reason=why_away(away), at=timezone.now())
    except UNREADABLE as broken:
        log.warning("import_broken_off batch=%s reason=%s", claimed.id, type(broken).__name__)
        failure = why_unread(broken)
        uploads.break_off(batch_id=claimed.id, failure=failure, at=timezone.now())
    return True


def forget_files() -> None:
    """Delete the files of imports that are over."""
    forget_stored(
        uploads.files_to_forget(),
        lambda batch_id: uploads.forget_file(batch_id=batch_id),
        at=timezone.now(),
    )


def _work_on_file(claimed: uploads.Claimed, file: JobFile) -> None:
    refuse_to_go_on()
    if claimed.kind:
        _import_file(claimed, file)
    else:
        _preview_file(claimed, file)


def _preview_file(claimed: uploads.Claimed, file: JobFile) -> None:
    lines = list(islice(file.lines(), LINES_TRIED))
    if not lines:
        raise LayoutUnknown("the file is empty")
    kind = what_it_is(lines[0])
    options = dict(claimed.asked) or proposed(kind, lines)
    findings: dict[str, object] = {
        "trial": tried(kind, options, lines),
        "columns": [],
        "samples": [],
    }
    if kind == "csv":
        findings |= {"columns": header_of(lines, options), "samples": samples(lines, options)}
    uploads.record_import_preview(
        batch_id=claimed.id, kind=kind, options=options, findings=findings
    )


def _rows_of_file(claimed: uploads.Claimed, file: JobFile) -> Iterator[JobRow]:
    if claimed.kind != "sacct":
        return rows_of(claimed.kind, claimed.asked, file.lines())
    options = knowing_clusters(file, sacct_options(claimed.asked), clusters_with_gpus_accounted())
    return read_sacct(file.lines(), options=options)


def _import_file(claimed: uploads.Claimed, file: JobFile) -> None:
    rows = _rows_of_file(claimed, file)
    for chunk in file.chunks(rows):
        refuse_to_go_on()
        at = timezone.now()
        if not uploads.still_wanted(batch_id=claimed.id, read_bytes=file.read_bytes, at=at):
            return
        jobs = [row for row in chunk if isinstance(row, JobRecord)]
        imports.import_job_records(batch_id=claimed.id, records=jobs, at=at)
        unreadable = [row for row in chunk if isinstance(row, RejectedJobRow)]
        imports.reject_rows(batch_id=claimed.id, rows=unreadable)
    imports.close_batch(batch_id=claimed.id, at=timezone.now())
