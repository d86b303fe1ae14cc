"""What a file of sacct's does not say is unknown: it costs nobody's team, and is not called free."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from apps.economics.states import State
from apps.fleet.queries.not_understood import not_understood
from apps.ledger.models import Line
from apps.workloads.models import Allocation, Job, RejectedRow
from apps.workloads.queries.job_row_errors import DOUBLED
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

HEADER = (
    "JobIDRaw|JobID|Cluster|Partition|Account|User|Submit|Start|End|ElapsedRaw|State|NCPUS|"
    "AllocTRES|NodeList|JobName"
)
UNTRACKED = "billing=64,cpu=64,mem=800G,node=1"


def row(raw_id: int, tres: str, node: str, **given: str) -> str:
    cells = {
        "jobid": str(raw_id),
        "start": "2026-03-02T10:00:00",
        "end": "2026-03-02T11:00:00",
        "elapsed": "3600",
        "state": "COMPLETED",
    } | given
    return (
        f"{raw_id}|{cells['jobid']}|atlas|gpu|physics|u1|2026-03-02T09:00:00|{cells['start']}|"
        f"{cells['end']}|{cells['elapsed']}|{cells['state']}|64|{tres}|{node}|train"
    )


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def make_node(name: str, units: int) -> int:
    """A node of some GPUs at 8 an hour, alive since 10:00."""
    pool_id = make.make_pool(f"pool of {name}", gpus_per_node=units)
    scene.make_rate(pool_id, Decimal(8))
    cluster_id = make.make_cluster()
    return make.make_node(
        name,
        pool_id=pool_id,
        started_at=scene.TEN,
        at=scene.LATER,
        units=units,
        cluster_id=cluster_id,
    )


def import_rows(tmp_path: Path, *rows: str) -> None:
    file = tmp_path / "sacct.psv"
    file.write_text("\n".join((HEADER, *rows)) + "\n")
    call_command("import_sacct", str(file))


def lines() -> dict[tuple[bool, State], tuple[float, int]]:
    """(a job's, state) → (GPU-hours, micro-units) of the hour from ten."""
    scene.settle(ends_at=scene.TEN + scene.HOUR)
    sums: dict[tuple[bool, State], tuple[float, int]] = {}
    for line in Line.objects.all():
        key = (line.job_id is not None, State(line.state))
        hours, micros = sums.get(key, (0.0, 0))
        sums[key] = (
            round(hours + line.unit_milliseconds / 3_600_000, 6),
            micros + (line.effective_micros or 0),
        )
    assert audit_here().adds_up
    return sums


def test_gpus_that_accounting_does_not_track_are_unknown_and_nothing_is_called_unallocated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_node("g1", 8)
    import_rows(tmp_path, row(501, UNTRACKED, "g1"))
    assert "AccountingStorageTRES=gres/gpu in slurm.conf" in capsys.readouterr().err
    assert Allocation.objects.get().gpus_unknown
    assert lines() == {(False, State.UNOBSERVED): (8.0, 8_000_000)}


def test_beside_a_job_of_unknown_gpus_a_known_one_keeps_its_own(tmp_path: Path) -> None:
    make_node("g1", 8)
    import_rows(tmp_path, row(501, UNTRACKED, "g1"), row(502, "cpu=1,gres/mps=50", "g1"))
    import_rows(tmp_path, row(503, "cpu=8,gres/gpu=2,node=1", "g1"))
    assert lines() == {
        (False, State.UNOBSERVED): (6.0, 6_000_000),
        (True, State.UNOBSERVED): (2.0, 2_000_000),
    }


def test_on_seen_devices_the_rest_is_not_called_unallocated_either(tmp_path: Path) -> None:
    node_id = make_node("g1", 2)
    for place in range(2):
        make.make_device(f"GPU-{place}", node_id=node_id, at=scene.TEN)
    half_past = "2026-03-02T10:30:00"
    import_rows(tmp_path, row(501, UNTRACKED, "g1", end=half_past, elapsed="1800"))
    assert lines() == {
        (False, State.UNOBSERVED): (1.0, 4_000_000),
        (False, State.UNALLOCATED): (1.0, 4_000_000),
    }


@pytest.mark.parametrize("in_one_file", [True, False])
def test_where_accounting_tracks_gpus_a_job_without_them_holds_none(
    tmp_path: Path, *, in_one_file: bool
) -> None:
    make_node("g1", 8)
    rows = (row(501, "cpu=8,gres/gpu=2", "g1"), row(502, UNTRACKED, "g1"))
    for part in [rows] if in_one_file else [rows[:1], rows[1:]]:
        import_rows(tmp_path, *part)
    assert not Allocation.objects.filter(gpus_unknown=True).exists()
    assert lines() == {
        (True, State.UNOBSERVED): (2.0, 2_000_000),
        (False, State.UNALLOCATED): (6.0, 6_000_000),
    }


@pytest.mark.parametrize(
    ("tres", "hours", "micros"),
    [
        ("gres/gpu:a100_1g.10gb=1,gres/gpu=1", 0.142857, 1_142_857),
        ("gres/gpu:a100_1g.10gb=1", 0.142857, 1_142_857),
        ("gres/gpu:nvidia_h100_80gb_hbm3_3g.40gb=1,gres/gpu=1", 0.5, 4_000_000),
        ("gres/gpu:1g.10gb=2,gres/gpu=2", 0.285714, 2_285_714),
    ],
)
def test_a_slice_is_its_part_of_a_gpu(tmp_path: Path, tres: str, hours: float, micros: int) -> None:
    make_node("m1", 1)
    import_rows(tmp_path, row(601, f"billing=4,cpu=4,{tres},mem=40G,node=1", "m1"))
    found = lines()
    # GPU time is whole milliseconds, of which an hour's seventh is none: one micro-unit of it.
    assert found[True, State.UNOBSERVED] == (hours, pytest.approx(micros, abs=1))
    free = found[False, State.UNALLOCATED]
    assert free == (round(1 - hours, 6), pytest.approx(8_000_000 - micros, abs=1))
    assert found[True, State.UNOBSERVED][1] + free[1] == 8_000_000


def test_a_slice_of_unknown_size_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_node("m1", 1)
    import_rows(tmp_path, row(601, "cpu=4,gres/gpu:odd_9g.1gb=1,gres/gpu=1", "m1"))
    assert "gres/gpu:odd_9g.1gb is a slice" in capsys.readouterr().err
    assert lines() == {(False, State.UNOBSERVED): (1.0, 8_000_000)}


def test_a_row_that_contradicts_itself_is_refused_with_both_values(tmp_path: Path) -> None:
    start = "2026-03-02T10:30:00"
    import_rows(
        tmp_path,
        row(801, "cpu=4,gres/gpu=8", "e1", state="RUNNING", start=start, end=start, elapsed="7200"),
    )
    assert not Job.objects.exists()
    assert "7,200 s elapsed, but 0 s" in RejectedRow.objects.get().reason


def test_tasks_of_an_array_under_one_raw_id_are_jobs_of_their_own(tmp_path: Path) -> None:
    tres = "cpu=4,gres/gpu=1"
    import_rows(tmp_path, row(900, tres, "g1", jobid="900_1"), row(900, tres, "g1", jobid="900_2"))
    assert set(Job.objects.values_list("raw_id", flat=True)) == {"900_1", "900_2"}
    # A requeued job's attempts have one id, and one job each still.
    later = {"start": "2026-03-02T12:00:00", "end": "2026-03-02T13:00:00"}
    import_rows(tmp_path, row(901, tres, "g1"), row(901, tres, "g1", **later))
    assert sorted(Job.objects.filter(raw_id="901").values_list("restart_count", flat=True)) == [
        0,
        1,
    ]


def test_two_claims_of_a_whole_node_at_once_are_said(tmp_path: Path) -> None:
    make_node("g1", 8)
    tres = "cpu=8,gres/gpu=8"
    import_rows(tmp_path, row(1, tres, "g1"), row(2, tres, "g1"), row(3, "gres/gpu=1", "g1"))
    (told,) = not_understood("g1")
    assert (told.door, told.name, told.example, told.times) == ("sacct", DOUBLED, "1 2", 1)
