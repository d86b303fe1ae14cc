"""`manage.py import_sacct` keeps the good rows, tells the bad ones, and may be run again."""

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from apps.workloads.models import Allocation, ImportBatch, Job, RejectedRow

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parent / "golden" / "sacct_debian_22.05.psv"
PHILLIPS = Path(__file__).resolve().parents[4] / "shared" / "data" / "slurm" / "phillips.sacct.gz"
FIELDS = "JobIDRaw,State,Start,End,AllocTRES,NodeList"
TRES = "cpu=8,gres/gpu=2,node=1"
GOOD = f"1|COMPLETED|2026-11-20T10:00:00|2026-11-20T11:00:00|{TRES}|node01\n"
BAD = f"2|COMPLETED|2026-11-20T10:00:00|Unknown|{TRES}|node01\n"


def import_sacct(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, float]:
    call_command("import_sacct", *map(str, arguments), "--json")
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_what_sacct_prints_by_itself_is_refused_with_the_command_that_asks_for_more(tmp_path):
    """It has neither times nor GPUs: `sacct --parsable2 --allusers`."""
    plain = tmp_path / "plain.psv"
    plain.write_text(
        "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n"
        "4711|pretrain|gpu|vision|96|COMPLETED|0:0\n"
    )
    with pytest.raises(CommandError, match="no start, end, alloctres, nodelist, which") as refused:
        call_command("import_sacct", str(plain))
    assert "sacct -aDX" in str(refused.value)
    assert not ImportBatch.objects.exists()


def test_the_golden_file_is_taken_in(capsys):
    assert import_sacct(capsys, GOLDEN, "--shards-per-gpu", 4) == {
        "rows": 37,
        "imported": 20,
        "unchanged": 0,
        "rejected": 0,
        "remarked": 0,
        "steps": 17,
        "never_started": 0,
        "outside_window": 0,
        "users": 2,
        "accounts": 2,
        "cpu_hours": round(226 / 3600, 6),
        "gpu_hours": round(291 / 3600, 6),
    }


def test_a_second_time_nothing_is_new(capsys):
    import_sacct(capsys, GOLDEN)
    jobs, allocations = Job.objects.count(), Allocation.objects.count()
    again = import_sacct(capsys, GOLDEN)
    assert (again["imported"], again["unchanged"], again["rejected"]) == (0, 19, 1)
    assert (Job.objects.count(), Allocation.objects.count()) == (jobs, allocations)


def test_what_the_job_held_is_kept_exactly_under_names_nobody_bears(capsys):
    import_sacct(capsys, GOLDEN)
    uneven = Allocation.objects.filter(job__name="uneven").order_by("node_name")
    kept = [
        (one.node_name, one.node_id, one.gpus_numerator, one.gpus_denominator, one.divided_evenly)
        for one in uneven
    ]
    assert kept == [("node01", None, 5, 2, True), ("node02", None, 5, 2, True)]


def test_both_attempts_of_a_requeued_job_are_jobs(capsys):
    import_sacct(capsys, GOLDEN)
    attempts = Job.objects.filter(name="again").order_by("started_at")
    assert [attempt.state for attempt in attempts] == ["REQUEUED", "COMPLETED"]


def test_a_rejected_row_is_told_and_kept_with_its_line(tmp_path, capsys):
    path = tmp_path / "jobs.psv"
    path.write_text(GOOD + BAD)
    call_command("import_sacct", str(path), "--fields", FIELDS, "--json")
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1])["rejected"] == 1
    assert told.err.split() == ["line", "2", "End", "COMPLETED", "without", "an", "end"]
    assert list(RejectedRow.objects.values_list("line", "field", "reason")) == [
        (2, "End", "COMPLETED without an end")
    ]
    batch = ImportBatch.objects.get()
    assert (batch.rows, batch.imported, batch.rejected) == (2, 1, 1)
    assert batch.ended_at is not None


def test_without_a_cluster_anywhere_the_jobs_are_slurms(tmp_path, capsys):
    path = tmp_path / "jobs.psv"
    path.write_text(GOOD)
    import_sacct(capsys, path, "--fields", FIELDS)
    assert Job.objects.get().cluster.name == "slurm"


def test_standard_input_and_gzip_are_read(monkeypatch, capsys):
    piped = io.BytesIO(gzip.compress(GOOD.encode()))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=piped))
    figures = import_sacct(capsys, "-", "--fields", FIELDS, "--cluster", "borealis")
    assert (figures["imported"], figures["gpu_hours"]) == (1, 2.0)


def test_a_file_that_breaks_off_keeps_what_was_whole(tmp_path, capsys):
    path = tmp_path / "jobs.psv.gz"
    rows = "".join(GOOD.replace("1|", f"{number}|", 1) for number in range(5_000))
    path.write_bytes(gzip.compress(rows.encode())[:-20])
    figures = import_sacct(capsys, path, "--fields", FIELDS)
    assert figures["imported"] > 0
    assert RejectedRow.objects.get().field == "file"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.psv"], "No such file"),
        ([str(GOLDEN), "--zone", "Mars/Base"], "no time zone 'Mars/Base'"),
        ([str(GOLDEN), "--shards-per-gpu", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_started_is_refused_in_words(arguments, message):
    with pytest.raises(CommandError, match=message):
        call_command("import_sacct", *arguments)


def test_a_file_nobody_can_read_leaves_no_import(tmp_path):
    path = tmp_path / "jobs.psv"
    path.write_text(GOOD)
    with pytest.raises(CommandError, match="name them with --fields"):
        call_command("import_sacct", str(path))
    assert not ImportBatch.objects.exists()


@pytest.mark.skipif(not PHILLIPS.exists(), reason="public job data is not beside the checkout")
def test_phillips_is_taken_in_to_its_hours(capsys):
    figures = import_sacct(capsys, PHILLIPS, "--fields", "xdmod")
    assert (figures["rows"], figures["imported"], figures["rejected"]) == (4285, 4285, 0)
    assert (figures["users"], figures["accounts"]) == (4, 3)
    assert figures["gpu_hours"] == pytest.approx(506.9128, abs=0.001)
    assert figures["cpu_hours"] == pytest.approx(11_767.9883, abs=0.001)
