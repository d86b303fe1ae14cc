"""`manage.py import_jobs` reads a CSV by its mapping and counts the pool it ran on."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.fleet.models import Node, NodeCapacity
from apps.workloads.models import Allocation, ImportBatch, Job

pytestmark = pytest.mark.django_db

MAPPING = """
cluster = "lab"
[columns]
raw_id = "id"
started_at = "began"
ended_at = "done"
user = "who"
gpus = "gpus"
[times]
format = "epoch"
base = 2026-01-01T00:00:00Z
[pool]
name = "lab"
capacity = "peak"
"""
TABLE = "id,began,done,who,gpus\na,0,7200,ada,2\nb,3600,7200,ben,4\nc,,,cy,1\nd,10,x,dee,1\n"
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def import_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(table: str = TABLE, mapping: str = MAPPING) -> dict[str, float]:
        (tmp_path / "jobs.csv").write_text(table)
        (tmp_path / "jobs.toml").write_text(mapping)
        arguments = [str(tmp_path / "jobs.csv"), "--mapping", str(tmp_path / "jobs.toml")]
        call_command("import_jobs", *arguments, "--json")
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    return run


def test_every_row_is_accounted_for(import_jobs):
    assert import_jobs() == {
        "rows": 4,
        "imported": 2,
        "unchanged": 0,
        "rejected": 1,
        "remarked": 0,
        "steps": 0,
        "never_started": 1,
        "outside_window": 0,
        "users": 2,
        "accounts": 0,
        "cpu_hours": 0.0,
        "gpu_hours": 8.0,
    }


def test_the_pool_becomes_a_node_with_its_peak_and_holds_the_jobs(import_jobs):
    import_jobs()
    node = Node.objects.get(name="lab")
    assert (node.kind, node.period.lower) == ("pool", START)
    assert [one.units for one in NodeCapacity.objects.filter(node=node)] == [6]
    assert set(Allocation.objects.values_list("node_id", flat=True)) == {node.id}


def test_a_pool_of_the_past_costs_nothing_after_its_end(import_jobs, capsys):
    mapping = MAPPING + "ends_at = 2026-01-01T03:00:00Z\n"
    import_jobs()
    import_jobs(mapping=mapping)
    node = Node.objects.get(name="lab")
    assert node.period.upper == START + timedelta(hours=3)
    assert NodeCapacity.objects.get(node=node).period.upper == node.period.upper
    later = "id,began,done,who,gpus\ne,14400,18000,ada,2\n"
    assert import_jobs(later, mapping)["imported"] == 1
    assert Node.objects.count() == 1


def test_a_pool_ends_after_its_first_job_starts(tmp_path, capsys):
    (tmp_path / "jobs.csv").write_text(TABLE)
    (tmp_path / "jobs.toml").write_text(MAPPING + "ends_at = 2025-01-01T00:00:00Z\n")
    call_command(
        "import_jobs", str(tmp_path / "jobs.csv"), "--mapping", str(tmp_path / "jobs.toml")
    )
    assert "lab would end at 2025-01-01 00:00Z" in capsys.readouterr().err
    assert not Node.objects.exists()


WINDOW = """[window]
from = 2025-12-31T00:00:00Z
to = 2026-01-01T06:00:00Z
"""


def test_a_pool_lives_through_its_files_window_and_goes_on_with_the_next(import_jobs):
    mapping = MAPPING.replace("[pool]", WINDOW + "[pool]")
    import_jobs(mapping=mapping)
    (node,) = Node.objects.all()
    assert (node.period.lower, node.period.upper) == (
        START - timedelta(days=1), START + timedelta(hours=6),
    )  # fmt: skip
    import_jobs(mapping=mapping)
    assert Node.objects.count() == 1
    later = mapping.replace("2025-12-31T00", "2026-01-01T06").replace(
        "01T06:00:00Z\n[pool]", "02T06:00:00Z\n[pool]"
    )
    import_jobs("id,began,done,who,gpus\ne,28800,36000,ada,2\n", later)
    lives = Node.objects.order_by("period").values_list("period", flat=True)
    assert [(life.lower, life.upper) for life in lives] == [
        (START - timedelta(days=1), START + timedelta(hours=6)),
        (START + timedelta(hours=6), START + timedelta(hours=30)),
    ]


def test_the_files_of_a_trace_need_not_come_in_its_order(import_jobs):
    """Of two windows the later first."""

    def window(begins: str, ends: str) -> str:
        said = f"[window]\nfrom = 2026-01-0{begins}Z\nto = 2026-01-0{ends}Z\n"
        return MAPPING.replace("[pool]", said + "[pool]")

    day = 86_400
    import_jobs(
        f"id,began,done,who,gpus\nb,{day + 3600},{day + 7200},ada,2\n",
        window("2T00:00:00", "3T00:00:00"),
    )
    import_jobs("id,began,done,who,gpus\na,3600,7200,ada,2\n", window("1T00:00:00", "2T00:00:00"))
    again = import_jobs(
        "id,began,done,who,gpus\na,3600,7200,ada,2\n", window("1T00:00:00", "2T00:00:00")
    )
    assert again["unchanged"] == 1
    lives = Node.objects.order_by("period").values_list("period", flat=True)
    assert [(life.lower, life.upper) for life in lives] == [
        (START, START + timedelta(days=1)),
        (START + timedelta(days=1), START + timedelta(days=2)),
    ]
    held = Allocation.objects.order_by("period").values_list("node__period__startswith", flat=True)
    assert list(held) == [START, START + timedelta(days=1)]


def test_a_second_time_nothing_is_new(import_jobs):
    import_jobs()
    again = import_jobs()
    assert (again["imported"], again["unchanged"]) == (0, 2)
    assert (Job.objects.count(), Node.objects.count(), NodeCapacity.objects.count()) == (2, 1, 1)


def test_a_capacity_column_dates_the_pools_count(import_jobs):
    table = "id,began,done,who,gpus,size\na,0,9000,ada,2,8\nb,3600,9000,ben,4,16\n"
    import_jobs(table, MAPPING.replace('"peak"', '{ column = "size" }'))
    counts = NodeCapacity.objects.order_by("period").values_list("units", flat=True)
    assert list(counts) == [8, 16]


def test_an_earlier_count_than_the_pools_start_is_told_and_the_jobs_are_kept(import_jobs, capsys):
    import_jobs()
    earlier = "id,began,done,who,gpus\ne,-7200,0,ada,2\n"
    assert import_jobs(earlier)["imported"] == 1
    assert Node.objects.get(name="lab").period.lower == START


def test_a_mapping_that_does_not_fit_is_refused_and_leaves_no_import(import_jobs):
    with pytest.raises(CommandError, match=r"columns\.user: the file has no column 'whom'"):
        import_jobs(mapping=MAPPING.replace('"who"', '"whom"'))
    assert not ImportBatch.objects.exists()
