"""One import of a file of jobs: in chunks into the action, every rejection told, totals at the end."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from itertools import chain

from django.utils import timezone

from apps.workloads.actions import imports
from apps.workloads.providers.job_file import JobFile
from apps.workloads.providers.job_record import (
    JobRecord,
    JobRow,
    RejectedJobRow,
    SkippedRow,
    SkipReason,
)
from apps.workloads.queries.job_row_errors import remark_in_words

SECONDS_PER_HOUR = 3_600


@dataclass(slots=True)
class ImportTotals:
    """The outcome of the rows so far."""

    imported: int = 0
    unchanged: int = 0
    rejected: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    remarks: Counter[tuple[str, str]] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)
    accounts: set[str] = field(default_factory=set)
    cpu_seconds: Fraction = Fraction(0)
    gpu_seconds: Fraction = Fraction(0)

    def add(self, job: JobRecord) -> None:
        """Count what one job names and holds."""
        self.users.update(filter(None, [job.user]))
        self.accounts.update(filter(None, [job.account]))
        self.remarks.update((job.cluster, remark) for remark in job.remarks)
        self.cpu_seconds += job.cpu_seconds
        self.gpu_seconds += job.gpu_seconds

    def figures(self) -> dict[str, int | float]:
        """The last line of standard output; docs/guides/import-jobs.md says what each means."""
        settled = self.imported + self.unchanged + self.rejected
        return {
            "rows": settled + self.skipped.total(),
            "imported": self.imported,
            "unchanged": self.unchanged,
            "rejected": self.rejected,
            "remarked": self.remarks.total(),
            **{reason.value: self.skipped[reason] for reason in SkipReason},
            "users": len(self.users),
            "accounts": len(self.accounts),
            "cpu_hours": round(float(self.cpu_seconds / SECONDS_PER_HOUR), 6),
            "gpu_hours": round(float(self.gpu_seconds / SECONDS_PER_HOUR), 6),
        }


def import_rows(*, kind: str, file: JobFile, rows: Iterator[JobRow], at: datetime) -> ImportTotals:
    """Take the file in; each chunk is kept as soon as it is done.

    The first one is read before anything is written: a file nobody can read leaves no import.
    """
    chunks = file.chunks(rows)
    first = next(chunks, [])
    batch_id = imports.open_batch(kind=kind, name=file.name, digest=file.digest, at=at)
    totals = ImportTotals()
    for chunk in chain([first], chunks):
        _import_chunk(chunk, batch_id=batch_id, totals=totals, at=at)
    imports.close_batch(batch_id=batch_id, at=timezone.now())
    return totals


def print_figures(totals: ImportTotals, *, as_json: bool) -> None:
    """On standard output: one line of JSON, or a figure a line; what was not understood on the other."""
    if not totals.figures()["rows"]:
        print("the file has a header and no row: nothing is known by it", file=sys.stderr)
    for (cluster, remark), rows in sorted(totals.remarks.items()):
        print(f"{rows:,} rows of {cluster}: {remark_in_words(remark)}", file=sys.stderr)
    figures = totals.figures()
    if as_json:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        print(f"{name:16} {figure:>16,}")


def _import_chunk(
    chunk: list[JobRow], *, batch_id: int, totals: ImportTotals, at: datetime
) -> None:
    jobs = [row for row in chunk if isinstance(row, JobRecord)]
    unreadable = [row for row in chunk if isinstance(row, RejectedJobRow)]
    counts = imports.import_job_records(batch_id=batch_id, records=jobs, at=at)
    imports.reject_rows(batch_id=batch_id, rows=unreadable)
    rejected = sorted([*unreadable, *counts.rejected], key=lambda row: row.line)
    _print_rejected(rejected)
    totals.imported += counts.imported
    totals.unchanged += counts.unchanged
    totals.rejected += len(rejected)
    totals.skipped.update(row.reason for row in chunk if isinstance(row, SkippedRow))
    refused = {row.line for row in counts.rejected}
    for job in jobs:
        if job.line not in refused:
            totals.add(job)


def _print_rejected(rejected: Iterable[RejectedJobRow]) -> None:
    for row in rejected:
        print(f"line {row.line:>8}  {row.field:16}  {row.message}", file=sys.stderr)
