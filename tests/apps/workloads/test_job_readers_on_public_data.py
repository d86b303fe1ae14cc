"""Real accounting of real clusters, read to the hours its publishers count."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.workloads.providers.job_mapping import read_mapping
from apps.workloads.providers.job_record import JobRecord, JobRow, SkippedRow
from apps.workloads.providers.job_table import JobTable
from apps.workloads.providers.sacct import SacctOptions, read_sacct
from apps.workloads.providers.sacct_layout import named_fields

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OPENB = """
cluster = "openb"
[columns]
raw_id = "name"
submitted_at = "creation_time"
started_at = "scheduled_time"
ended_at = "deletion_time"
state = "pod_phase"
qos = "qos"
gpus = "num_gpu"
gpu_share = "gpu_milli"
cpus = "cpu_milli"
[units]
gpu_share = "milli"
cpus = "milli"
[times]
format = "epoch"
unit = "s"
base = "2023-01-01T00:00:00Z"
[pool]
name = "openb"
capacity = 6212
"""


def lines_of(name: str) -> Iterator[str]:
    path = DATA / name
    if not path.exists():
        pytest.skip("public job data is not beside the checkout")
    with gzip.open(path, "rt", newline="") as lines:
        yield from lines


def jobs_in(rows: list[JobRow]) -> list[JobRecord]:
    return [row for row in rows if isinstance(row, JobRecord)]


@pytest.mark.parametrize("fields", [None, named_fields("xdmod")])
def test_phillips_is_read_to_its_hours_users_and_accounts(fields):
    rows = list(
        read_sacct(lines_of("slurm/phillips.sacct.gz"), options=SacctOptions(fields=fields))
    )
    jobs = jobs_in(rows)
    assert (len(rows), len(jobs)) == (4285, 4285)
    gpu_hours = float(sum(job.gpu_seconds for job in jobs)) / 3600
    cpu_hours = float(sum(job.cpu_seconds for job in jobs)) / 3600
    assert gpu_hours == pytest.approx(506.9128, abs=0.001)
    assert cpu_hours == pytest.approx(11_767.9883, abs=0.001)
    assert len({job.user for job in jobs}) == 4
    assert len({job.account for job in jobs}) == 3
    assert len([job for job in jobs if job.gpu_seconds]) == 2


def test_openb_is_read_to_its_gpu_hours_with_shares():
    table = JobTable(read_mapping(OPENB))
    rows = list(table.rows(lines_of("openb/openb_pod_list_default.csv.gz")))
    gpu_hours = float(sum(job.gpu_seconds for job in jobs_in(rows))) / 3600
    assert gpu_hours == pytest.approx(51_470.674, abs=0.001)
    assert len([row for row in rows if isinstance(row, SkippedRow)]) == 897
    assert len(rows) == 8152
    assert table.count is not None
    assert [units for _, units in table.count.dated()] == [6212]
