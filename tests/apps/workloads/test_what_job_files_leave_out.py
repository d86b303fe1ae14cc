"""What a file or an event leaves out of a job is unknown: said with its field and row, and counted."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.fleet.queries.not_understood import not_understood
from apps.workloads.models import Allocation, Job, RejectedRow
from apps.workloads.providers.sacct_layout import LayoutUnknown, find_layout
from apps.workloads.queries.job_row_errors import remark_in_words
from tests import make
from tests.apps.console.people import signed_in
from tests.rest import with_token

pytestmark = pytest.mark.django_db

SACCT = "JobIDRaw|Cluster|User|Submit|Start|End|State|AllocTRES|NodeList"
ROW = "{}|atlas|{}|2026-03-02T09:00:00|2026-03-02T10:00:00|2026-03-02T11:00:00|COMPLETED|{}|{}"
TABLE = "id,start,end,state,who,node,gpus"
MAPPING = """
cluster = "atlas"
[columns]
raw_id = "id"
started_at = "start"
ended_at = "end"
state = "state"
user = "who"
node = "node"
"""
WITH_GPUS = f'{MAPPING}gpus = "gpus"\n'


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def import_table(folder: Path, *rows: str, mapping: str = WITH_GPUS) -> None:
    file, toml = folder / "jobs.csv", folder / "jobs.toml"
    file.write_text("\n".join((TABLE, *rows)) + "\n")
    toml.write_text(mapping)
    call_command("import_jobs", str(file), "--mapping", str(toml))


def row(raw_id: int, gpus: str, *, end: str = "2026-03-02T11:00:00", state: str = "") -> str:
    return f"{raw_id},2026-03-02T10:00:00,{end},{state},ada,n{raw_id},{gpus}"


def told() -> list[tuple[str, str, str, int]]:
    return [(each.door, each.name, each.example, each.times) for each in not_understood("atlas")]


def held() -> dict[str, tuple[int, bool]]:
    rows = Allocation.objects.values_list("job__raw_id", "gpus_numerator", "gpus_unknown")
    return {raw_id: (gpus, is_unknown) for raw_id, gpus, is_unknown in rows}


def test_an_empty_cell_of_a_table_is_unknown_and_a_zero_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_table(tmp_path, row(1, ""), row(2, "0"), row(3, "4"))
    assert held() == {"1": (0, True), "2": (0, False), "3": (4, False)}
    assert told() == [("csv", "gpus is empty", "job 1, line 2", 1)]
    said = capsys.readouterr().err
    assert "1 rows of atlas: gpus is empty: how many GPUs these jobs held is unknown" in said
    page = signed_in("platform").get("/setup/not-understood").content.decode()
    assert "tables of jobs" in page
    assert "write 0 where a job holds none" in page


def test_a_table_without_such_a_column_says_nothing_unless_it_says_that_there_are_none(
    tmp_path: Path,
) -> None:
    import_table(tmp_path, row(1, ""), mapping=MAPPING)
    assert held() == {"1": (0, True)}
    assert told() == [("csv", "no column of GPUs", "job 1, line 2", 1)]
    assert "no_gpus = true" in remark_in_words("no column of GPUs")
    import_table(tmp_path, row(2, ""), mapping=f"no_gpus = true\n{MAPPING}")
    assert held()["2"] == (0, False)
    with pytest.raises(CommandError, match=r"no_gpus: columns\.gpus says how many"):
        import_table(tmp_path, row(2, ""), mapping=f"no_gpus = true\n{WITH_GPUS}")
    with pytest.raises(CommandError, match="no_gpus: must be true or false"):
        import_table(tmp_path, row(2, ""), mapping=f'no_gpus = "no"\n{MAPPING}')


def test_a_job_that_is_over_without_an_end_would_hold_its_gpus_for_ever(tmp_path: Path) -> None:
    import_table(
        tmp_path, row(1, "4", end="", state="COMPLETED"), row(2, "4", end="", state="RUNNING")
    )
    assert set(Job.objects.values_list("raw_id", flat=True)) == {"2"}
    rejected = RejectedRow.objects.get()
    assert (rejected.line, rejected.field) == (2, "end")
    assert rejected.reason == "is empty, and the job is COMPLETED"


def test_an_event_that_leaves_out_the_number_is_kept_and_remarked_by_field_and_row() -> None:
    about = {"cluster": "atlas", "event": "start", "at": "2026-03-02T10:00:00Z"}
    allocations = [
        {"node": "a", "gpus": 2}, {"node": "b"}, {"node": "c", "gpus": None, "cpus": 8},
        {"node": "d", "gpus": 0}, {"node": "e", "devices": ["GPU-1", "GPU-2"]},
        {"node": "f", "share": "1/4"},
    ]  # fmt: skip
    events = [about | {"raw_id": "1", "allocations": allocations}, about | {"raw_id": "2"}]
    answer = with_token("jobs").post("jobs/bulk", {"events": events}).json()
    assert (answer["accepted"], answer["errors"]) == (2, [])
    assert [(each["row"], each["field"]) for each in answer["remarks"]] == [
        (0, "allocations[1].gpus"), (0, "allocations[2].gpus"),
    ]  # fmt: skip
    assert "say 0 where it holds none" in answer["remarks"][0]["message"]
    rows = Allocation.objects.order_by("node_name").values_list(
        "node_name", "gpus_numerator", "gpus_denominator", "gpus_unknown"
    )
    assert list(rows) == [
        ("a", 2, 1, False), ("b", 0, 1, True), ("c", 0, 1, True), ("d", 0, 1, False),
        ("e", 2, 1, False), ("f", 1, 4, False),
    ]  # fmt: skip
    assert told() == [("jobs", "allocations[].gpus left out", "1", 2)]
    alone = with_token("jobs").post("jobs", about | {"raw_id": "3", "allocations": [{"node": "g"}]})
    (remark,) = alone.json()["remarks"]
    assert (remark["row"], remark["field"]) == (None, "allocations[0].gpus")


def test_a_started_job_whose_tres_is_empty_is_unknown_also_where_gpus_are_tracked(
    tmp_path: Path,
) -> None:
    file = tmp_path / "sacct.psv"
    rows = [ROW.format(1, "ada", "", "n1"), ROW.format(2, "ada", "cpu=1,gres/gpu=2", "n2")]
    file.write_text("\n".join((SACCT, *rows, ROW.format(3, "ada", "cpu=1", "n3"))) + "\n")
    call_command("import_sacct", str(file))
    assert held() == {"1": (0, True), "2": (2, False), "3": (0, False)}
    assert told() == [("sacct", "AllocTRES is empty", "job 1, line 2", 1)]


@pytest.mark.parametrize("kind", ["sacct", "csv"])
def test_letters_that_were_lost_are_remarked(tmp_path: Path, kind: str) -> None:
    if kind == "csv":
        (tmp_path / "jobs.toml").write_text(WITH_GPUS)
        text = f"{TABLE}\n{row(1, '2').replace('ada', 'Björn')}\n"
        arguments = (
            "import_jobs",
            str(tmp_path / "file"),
            "--mapping",
            str(tmp_path / "jobs.toml"),
        )
    else:
        text = f"{SACCT}\n{ROW.format(1, 'Björn', 'gres/gpu=2', 'n1')}\n"
        arguments = ("import_sacct", str(tmp_path / "file"))
    (tmp_path / "file").write_bytes(text.encode("latin-1"))
    call_command(*arguments)
    assert told() == [(kind, "letters that are no UTF-8", "job 1, line 2", 1)]
    assert "save the file in UTF-8" in remark_in_words("letters that are no UTF-8")


def test_a_header_without_rows_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_table(tmp_path)
    assert "a header and no row: nothing is known by it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"jobs": [{"job_id": 1}]}', "this is JSON, as sacct --json writes it"),
        (
            "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode",
            "sacct's table for people",
        ),
    ],
)
def test_what_sacct_writes_otherwise_is_refused_with_the_command_that_asks_for_rows(
    line: str, words: str
) -> None:
    with pytest.raises(LayoutUnknown, match=words) as refused:
        find_layout(line, fields=None)
    assert "--parsable2 -o JobIDRaw" in str(refused.value)
