"""Rows of sacct that are odd, broken or from elsewhere: each has its answer, none takes others along."""

import contextlib
import tracemalloc
from datetime import UTC, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics import node_lists
from apps.workloads.providers import moments
from apps.workloads.providers.job_record import FieldUnreadable, JobRecord, JobRow, RejectedJobRow
from apps.workloads.providers.sacct import SacctOptions, clusters_tracking_gpus, read_sacct
from apps.workloads.providers.sacct_layout import LayoutUnknown, named_fields
from apps.workloads.providers.tres import read_tres
from apps.workloads.queries.job_row_errors import remark_in_words

COLUMNS = {
    "JobIDRaw": "7",
    "JobID": "7",
    "Cluster": "atlas",
    "User": "ada",
    "Submit": "2026-11-20T09:59:00",
    "Start": "2026-11-20T10:00:00",
    "End": "2026-11-20T11:00:00",
    "ElapsedRaw": "3600",
    "State": "COMPLETED",
    "AllocTRES": "cpu=8,gres/gpu=2,mem=62.50G,node=1",
    "NodeList": "node01",
    "JobName": "train",
}
HEADER = "|".join(COLUMNS)


def row(**changed: str) -> str:
    return "|".join((COLUMNS | changed).values())


def read(*lines: str, options: SacctOptions | None = None) -> list[JobRow]:
    return list(read_sacct([HEADER, *lines], options=options or SacctOptions()))


def read_one(**changed: str) -> JobRecord:
    (job,) = read(row(**changed))
    assert isinstance(job, JobRecord)
    return job


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"Start": "yesterday"}, "Start", "'yesterday' is not a time"),
        ({"End": "2026-11-20T09:00:00", "ElapsedRaw": ""}, "End", "is before the start"),
        ({"End": "Unknown"}, "End", "COMPLETED without an end"),
        ({"ElapsedRaw": "1h"}, "ElapsedRaw", "'1h' is not a length of time"),
        (
            {"Submit": "", "Start": "Unknown", "End": "Unknown", "State": "PENDING"},
            "Submit",
            "neither submitted, started nor ended",
        ),
        ({"State": ""}, "State", "is empty"),
        ({"Cluster": ""}, "Cluster", "--cluster was not given"),
        ({"JobIDRaw": "", "JobID": "7_1"}, "JobID", "ask sacct for JobIDRaw"),
        ({"AllocTRES": "cpu=8,gres/gpu=two"}, "AllocTRES", "'two' is not an amount"),
        ({"AllocTRES": "cpu=8,gpu"}, "AllocTRES", "'gpu' is not name=amount"),
        ({"AllocTRES": "gres/gpu=-2"}, "AllocTRES", "'-2' is not an amount"),
        ({"AllocTRES": "gres/gpu=1e999999999"}, "AllocTRES", "is not an amount"),
        ({"NodeList": "None assigned"}, "NodeList", "ran for 3600 s, but on no node"),
        ({"NodeList": "n[1-3"}, "NodeList", "brackets do not pair"),
        ({"NodeList": "n[3-1]"}, "NodeList", "runs backwards"),
        ({"NodeList": "n[1-9999999999]"}, "NodeList", "more than 100,000 nodes"),
        ({"NodeList": "n1,n1"}, "NodeList", "names a node twice"),
        ({"JobName": "a\0b"}, "row", "zero byte"),
    ],
)
def test_a_rejection_names_line_field_and_reason_and_spares_the_neighbours(changed, field, message):
    before, rejected, after = read(row(JobIDRaw="6"), row(**changed), row(JobIDRaw="8"))
    assert isinstance(before, JobRecord)
    assert isinstance(rejected, RejectedJobRow)
    assert isinstance(after, JobRecord)
    assert (rejected.line, rejected.field) == (3, field)
    assert message in rejected.message


def test_a_row_cut_short_is_rejected():
    (rejected,) = read("7|7|atlas")
    assert rejected == RejectedJobRow(2, "row", "has 3 fields, not 12")


def test_blank_lines_and_repeated_headers_are_no_rows_but_count_as_lines():
    first, second = read(row(), "", HEADER, row(JobIDRaw="8"))
    assert isinstance(first, JobRecord)
    assert isinstance(second, JobRecord)
    assert (first.line, second.line) == (2, 5)


def test_a_header_with_a_trailing_delimiter_is_read():
    rows = list(read_sacct([HEADER + "|", row() + "|"], options=SacctOptions()))
    assert isinstance(rows[0], JobRecord)


def test_only_typed_gpus_add_up_among_themselves():
    job = read_one(AllocTRES="cpu=8,gres/gpu:h100=2,gres/gpu:a100=1")
    assert job.allocations[0].gpus == 3


def test_days_hours_minutes_and_seconds_are_read():
    assert moments.read_length("10-13:27:06", field_name="Elapsed") == 912_426
    assert moments.read_length("03:04.5", field_name="Elapsed") == Fraction(369, 2)


def test_memory_is_read_in_units_of_1024():
    assert read_tres("mem=62.50G", field_name="AllocTRES").memory_bytes == 62_500 * 2**30 // 1000
    assert read_tres("mem=31000M", field_name="AllocTRES").memory_bytes == 31_000 * 2**20


def test_epoch_times_are_read():
    job = read_one(Start="1795082400", End="1795086000")
    assert job.started_at == datetime(2026, 11, 19, 10, tzinfo=UTC)


def test_a_cluster_given_overrides_the_column():
    (job,) = read(row(), options=SacctOptions(cluster="borealis"))
    assert isinstance(job, JobRecord)
    assert job.cluster == "borealis"


def test_a_user_the_machine_forgot_is_known_by_number():
    header = HEADER.replace("ElapsedRaw", "UID")
    (job,) = read_sacct([header, row(User="", ElapsedRaw="1234")], options=SacctOptions())
    assert isinstance(job, JobRecord)
    assert job.user == "1234"


@pytest.mark.parametrize(
    ("resources", "gpus", "unknown"),
    [
        ("gres/gpu:a100.1g.10gb=1,gres/gpu=1", Fraction(1, 7), ""),
        ("gres/mig:1g.10gb=2,gres/mig=2", Fraction(2, 7), ""),
        ("gres/mig:h100_1g.10gb=1,gres/gpu=1", Fraction(8, 7), ""),
        ("gres/gpu:vgpu_10c=0,gres/gpu=1", Fraction(1), ""),
        ("gres/gpu:vgpu_10c=1,gres/gpu=1", 0, "gres/gpu:vgpu_10c"),
        ("gres/mig=1", 0, "gres/mig"),
        ("gres/mig:1g.10gb=1,gres/mig=2", 0, "gres/mig"),
        ("gres/mig:h100=1", 0, "gres/mig:h100"),
        ("gres/vgpu:a100=1", 0, "gres/vgpu"),
        ("gres/mps=200", 0, "gres/mps"),
    ],
)
def test_a_part_of_a_gpu_is_never_counted_as_the_whole_one(resources, gpus, unknown):
    job = read_one(AllocTRES=f"cpu=4,{resources}")
    (one,) = job.allocations
    assert (one.gpus, one.gpus_unknown) == (gpus, bool(unknown))
    assert job.remarks == ((unknown,) if unknown else ())
    assert not unknown or "how many GPUs it is is unknown" in remark_in_words(unknown)


@pytest.mark.parametrize(
    ("changed", "tracking"),
    [
        ({"AllocTRES": "cpu=8,gres/gpu=2"}, ["atlas"]),
        ({"AllocTRES": "cpu=8,gres/gpu:h100=2"}, ["atlas"]),
        ({"AllocTRES": "cpu=8,gres/shard=2"}, ["atlas"]),
        ({"AllocTRES": "cpu=8", "JobName": "test gres/gpu count"}, []),
        ({"AllocTRES": "cpu=8", "JobName": "sbatch --tres-per-node=gres/gpu:8"}, []),
        ({"AllocTRES": "cpu=8,gres/gpumem=2"}, []),
    ],
)
def test_a_cluster_tracks_gpus_where_its_resources_name_them_and_not_what_people_write(
    changed, tracking
):
    lines = [HEADER, row(**changed)]
    assert list(clusters_tracking_gpus(lines, options=SacctOptions())) == tracking


def test_what_is_missing_from_elapsed_was_suspended():
    assert read_one(ElapsedRaw="3000").suspended_seconds == 600


@pytest.mark.parametrize(
    ("elapsed", "suspended", "taken"),
    [
        ("3600", "00:00:00", True), ("3000", "00:10:00", True), ("3541", "00:00:00", True),
        ("1800", "00:00:00", False), ("1800", "00:10:00", False), ("3600", "00:10:00", False),
    ],
)  # fmt: skip
def test_elapsed_and_suspended_make_the_time_from_start_to_end(elapsed, suspended, taken):
    line = row(ElapsedRaw=elapsed) + f"|{suspended}"
    (job,) = read_sacct([f"{HEADER}|Suspended", line], options=SacctOptions())
    assert isinstance(job, JobRecord) is taken
    if isinstance(job, RejectedJobRow):
        assert job.field == "Elapsed"
        assert "but 3,600 s from start to end" in job.message


def test_attempts_of_one_submission_are_counted_by_their_start():
    later = row(Start="2026-11-20T12:00:00", End="2026-11-20T13:00:00")
    rows = read(later, row(), row(JobIDRaw="8"))
    assert [job.restart_count for job in rows if isinstance(job, JobRecord)] == [1, 0, 0]


def test_local_times_are_read_in_the_zone_given():
    options = SacctOptions(zone=ZoneInfo("Asia/Kolkata"))
    (job,) = read(row(), options=options)
    assert isinstance(job, JobRecord)
    assert job.started_at == datetime(2026, 11, 20, 4, 30, tzinfo=UTC)


def test_an_hour_that_a_clock_change_repeats_is_told_by_the_length():
    berlin = SacctOptions(zone=ZoneInfo("Europe/Berlin"))
    times = {"Start": "2026-10-25T02:30:00", "End": "2026-10-25T02:45:00"}
    (short,) = read(row(**times, ElapsedRaw="900"), options=berlin)
    (long,) = read(row(**times, ElapsedRaw="4500"), options=berlin)
    assert isinstance(short, JobRecord)
    assert isinstance(long, JobRecord)
    assert (short.held_seconds, long.held_seconds) == (900, 4500)


@pytest.mark.parametrize("missing", ["State", "AllocTRES", "NodeList"])
def test_a_file_without_a_needed_field_is_refused_by_name(missing):
    fields = named_fields(",".join(name for name in COLUMNS if name != missing))
    with pytest.raises(LayoutUnknown, match=missing.lower()):
        list(read_sacct([row()], options=SacctOptions(fields=fields)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-3,5,8-9]", ("n1", "n2", "n3", "n5", "n8", "n9")),
        ("gpu[008-011]", ("gpu008", "gpu009", "gpu010", "gpu011")),
        ("r[1-2]n[1-2]-ib", ("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib")),
        (
            "cpn-f13-03-[01-02],cpn-f13-04-[01-02]",
            ("cpn-f13-03-01", "cpn-f13-03-02", "cpn-f13-04-01", "cpn-f13-04-02"),
        ),
        ("login", ("login",)),
    ],
)
def test_node_ranges_are_written_out(text, names):
    assert node_lists.expand(text) == names


@given(st.text(alphabet="n0123[]-, ", max_size=30))
def test_any_text_of_nodes_is_read_or_refused(text):
    with contextlib.suppress(FieldUnreadable):
        assert all(node_lists.expand(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu-[1-999999999]", "more than 100,000 nodes"),
        ("n[" + ",".join(["1-99999"] * 2_000) + "]", "more than 100,000 nodes"),
        ("r[1-1000]n[1-1000]", "more than 100,000 nodes"),
        ("n[1-60000],m[1-60000]", "more than 100,000 nodes"),
        ("n[1-" + "9" * 5_000 + "]", "no range"),
        ("n" * 100_000 + "[1-90000]", "more than 255 characters"),
    ],
)
def test_a_list_that_would_fill_the_memory_is_refused_before_it_is_written_out(text, why):
    tracemalloc.start()
    try:
        with pytest.raises(FieldUnreadable, match=why) as refused:
            node_lists.expand(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(str(refused.value)) < 300
    assert most < 12_000_000
