"""Records of an accounting come in by thousands, once however often the file is read."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from apps.economics.jobs import AllocationRecord, JobRecord, RejectedJobRow
from apps.workloads.actions import imports
from apps.workloads.models import ImportBatch, Job, JobEvent
from apps.workloads.models import RejectedRow as KeptRejection
from tests.apps.workloads.told import NOW, held, jobs, marked, node, tell
from tests.economics.job_statements import TEN, at, loosely, on

pytestmark = pytest.mark.django_db


def record(raw_id: str = "4711", **given: Any) -> JobRecord:
    """Two GPUs of gpu-01 for an hour."""
    values = {
        "line": int(raw_id),
        "cluster": "atlas",
        "raw_id": raw_id,
        "submitted_at": TEN,
        "started_at": TEN,
        "ended_at": at(60),
        "state": "COMPLETED",
        "allocations": (AllocationRecord("gpu-01", Fraction(2), Fraction(16)),),
    }
    return JobRecord(**values | given)


def batch() -> int:
    return imports.open_batch(kind="sacct", name="jobs.psv", digest="d", at=NOW)


def take(*records: JobRecord, batch_id: int | None = None) -> imports.ImportCounts:
    return imports.import_job_records(batch_id=batch_id or batch(), records=records, at=NOW)


def test_records_are_imported_once():
    node_id = node()
    assert take(record("1"), record("2")) == imports.ImportCounts(2, 0)
    assert take(record("1"), replace(record("2"), line=99), record("3")) == (
        imports.ImportCounts(1, 2)
    )
    assert held("1") == [("gpu-01", 2, 1, at(0), at(60))]
    assert TEN in marked(node_id)
    assert Job.objects.count() == JobEvent.objects.count() == 3


def test_a_job_still_running_is_completed_by_a_later_file():
    take(record("1", ended_at=None, state="RUNNING", elapsed_seconds=Fraction(9)))
    assert held("1") == [("gpu-01", 2, 1, at(0), None)]
    again = record("1", ended_at=None, state="RUNNING", elapsed_seconds=Fraction(99))
    assert take(again).unchanged == 1
    assert take(record("1")).imported == 1
    assert held("1") == [("gpu-01", 2, 1, at(0), at(60))]


def test_accounting_completes_what_the_scheduler_said():
    tell("1", loosely("start", 0, user="ada", allocations=(on("gpu-01", 8),)))
    take(record("1", account="research"))
    (job,) = jobs("1")
    assert (job.user, job.account, job.source_rank, job.submitted_at) == (
        "ada",
        "research",
        1,
        TEN,
    )
    assert held("1") == [("gpu-01", 2, 1, at(0), at(60))]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"cluster": "<i>atlas"}, "cluster"),
        ({"labels": {"project": "llm\u202e"}}, "labels.project"),
        ({"labels": {"pro\x07": "llm"}}, "labels"),
        ({"allocations": (AllocationRecord("gpu\u202e10", Fraction(1)),)}, "allocations[0].node"),
        ({"allocations": (AllocationRecord("g" * 254, Fraction(1)),)}, "allocations[0].node"),
    ],
)
def test_a_row_with_an_odd_name_is_rejected_with_its_line(given: dict[str, Any], field: str):
    counts = take(record("3", **given), record("4", name="lr<1e-4\u202e"))
    assert counts.imported == 1
    (rejected,) = counts.rejected
    assert (rejected.line, rejected.field) == (3, field)
    assert Job.objects.get().name == "lr<1e-4?"


def test_a_batch_says_what_came_of_it():
    batch_id = batch()
    take(record("1"), record("2"), batch_id=batch_id)
    take(record("2"), batch_id=batch_id)
    imports.reject_rows(batch_id=batch_id, rows=[RejectedJobRow(9, "End", "Unknown")])
    imports.close_batch(batch_id=batch_id, at=NOW)
    kept = ImportBatch.objects.get()
    assert (kept.rows, kept.imported, kept.unchanged, kept.rejected) == (4, 2, 1, 1)
    assert kept.ended_at == NOW
    assert str(KeptRejection.objects.get()) == "line 9: End: Unknown"


def test_a_record_without_time_is_rejected_and_its_neighbours_kept():
    counts = take(record("1", submitted_at=None, started_at=None, ended_at=None), record("2"))
    assert (counts.imported, [row.line for row in counts.rejected]) == (1, [1])
    assert KeptRejection.objects.get().field == "submitted_at"


def test_a_record_no_table_can_hold_is_rejected():
    counts = take(record("1", name="a\x00b"), record("2", ended_at=at(60).replace(year=9999)))
    assert [(row.line, row.field) for row in counts.rejected] == [(1, "name"), (2, "ended_at")]
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "gpus", [Fraction(10**23), Fraction(1, 10**39), Fraction(10**39 + 1, 10**20)]
)
def test_more_gpus_than_there_are_numbers_for_is_rejected_and_its_neighbours_kept(gpus):
    counts = take(record("1", allocations=(AllocationRecord("gpu-01", gpus),)), record("2"))
    assert (counts.imported, [(row.line, row.field) for row in counts.rejected]) == (
        1,
        [(1, "gpus")],
    )


def test_rejections_beyond_measure_are_only_counted(monkeypatch):
    monkeypatch.setattr(imports, "MOST_REJECTIONS_KEPT", 3)
    batch_id = batch()
    for first in (0, 2, 4):
        rows = [RejectedJobRow(first + n, "End", "bad\x00") for n in range(2)]
        imports.reject_rows(batch_id=batch_id, rows=rows)
    assert ImportBatch.objects.get().rejected == 6
    assert KeptRejection.objects.count() == 3


def test_no_records_are_no_trouble():
    assert take() == imports.ImportCounts(0, 0)
