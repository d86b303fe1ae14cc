"""Any CSV of jobs is read as its mapping says."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from apps.workloads.providers.job_mapping import MappingRefused, read_mapping
from apps.workloads.providers.job_record import JobRecord, JobRow, RejectedJobRow, SkippedRow
from apps.workloads.providers.job_table import JobTable

HEADER = "id,queued,began,done,who,where,gpus,part,cores,status\n"
COLUMNS = """
cluster = "lab"
[columns]
raw_id = "id"
submitted_at = "queued"
started_at = "began"
ended_at = "done"
user = "who"
node = "where"
gpus = "gpus"
gpu_share = "part"
cpus = "cores"
state = "status"
"""
EPOCH = COLUMNS + '[times]\nformat = "epoch"\nbase = "2026-01-01T00:00:00Z"\n'
POOL = EPOCH.replace('node = "where"\n', "") + '[pool]\nname = "lab"\n'
ROW = {
    "id": "1",
    "queued": "0",
    "began": "3600",
    "done": "7200",
    "who": "ada",
    "where": "n1",
    "gpus": "2",
    "part": "",
    "cores": "8",
    "status": "Running",
}


def row(**changed: str) -> str:
    return ",".join((ROW | changed).values()) + "\n"


def read(mapping: str, *rows: str) -> list[JobRow]:
    return list(JobTable(read_mapping(mapping)).rows([HEADER, *rows]))


def read_one(mapping: str, **changed: str) -> JobRecord:
    (job,) = read(mapping, row(**changed))
    assert isinstance(job, JobRecord)
    return job


def at(hour: int) -> datetime:
    return datetime(2026, 1, 1, hour, tzinfo=UTC)


def test_a_row_is_a_job():
    job = read_one(EPOCH)
    assert (job.cluster, job.raw_id, job.user, job.state) == ("lab", "1", "ada", "RUNNING")
    assert (job.submitted_at, job.started_at, job.ended_at) == (at(0), at(1), at(2))
    assert (job.gpu_seconds, job.cpu_seconds) == (7200, 28800)
    assert [allocation.node for allocation in job.allocations] == ["n1"]


@pytest.mark.parametrize(
    ("unit", "written", "hours"),
    [("us", "3600000000", 1), ("ms", "3600000", 1), ("min", "90", 1.5), ("h", "1.5", 1.5)],
)
def test_epoch_times_come_in_any_unit(unit, written, hours):
    job = read_one(EPOCH + f'unit = "{unit}"\n', queued="", began="0", done=written)
    assert job.held_seconds == Fraction(hours) * 3600


def test_a_time_to_the_millisecond_is_kept():
    job = read_one(EPOCH, began="0.125", done="1")
    assert job.held_seconds == Fraction(7, 8)


def test_iso_times_without_zone_are_read_in_the_one_given():
    mapping = COLUMNS + '[times]\nzone = "Asia/Kolkata"\n'
    job = read_one(
        mapping, queued="", began="2026-01-01 05:30:00", done="2026-01-01T06:30:00+05:30"
    )
    assert (job.started_at, job.ended_at) == (at(0), at(1))


def test_times_are_read_like_a_pattern():
    mapping = COLUMNS + '[times]\nformat = "%d/%m/%Y %H:%M"\n'
    job = read_one(mapping, queued="", began="01/01/2026 01:00", done="01/01/2026 02:00")
    assert (job.started_at, job.ended_at) == (at(1), at(2))


def test_a_length_stands_in_for_an_end():
    mapping = EPOCH.replace("ended_at", "duration") + 'duration_unit = "min"\n'
    assert read_one(mapping, done="30").ended_at == datetime(2026, 1, 1, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("units", "gpus", "part", "held"),
    [
        ("", "2", "", 2),
        ("", "1", "0.46", Fraction(23, 50)),
        ('gpu_share = "milli"', "1", "460", Fraction(23, 50)),
        ('gpu_share = "milli"', "8", "1000", 8),
        ('gpu_share = "percent"', "2", "25", Fraction(1, 2)),
        ('gpus = "milli"', "1500", "", Fraction(3, 2)),
        ('gpu_share = "milli"', "0", "0", 0),
        ("", "", "0.25", Fraction(1, 4)),
        ("", "", "", 0),
    ],
)
def test_gpus_are_counts_or_parts(units, gpus, part, held):
    job = read_one(EPOCH + f"[units]\n{units}\n", gpus=gpus, part=part)
    assert sum(allocation.held_gpus for allocation in job.allocations) == held


def test_a_row_without_start_never_started():
    (skipped,) = read(EPOCH, row(began=""))
    assert skipped == SkippedRow(2, "never_started")


def test_an_open_ended_row_ends_with_the_window():
    window = EPOCH + '[window]\nto = "2026-01-01T03:00:00Z"\n'
    assert read_one(window, done="").ended_at == at(3)


def test_an_open_ended_row_without_a_window_stays_open():
    assert read_one(EPOCH, done="").ended_at is None


def test_nothing_outside_the_window_counts():
    window = EPOCH + "[window]\nfrom = 2026-01-01T02:00:00Z\nto = 2026-01-01T03:00:00Z\n"
    across, before = read(window, row(done="14400"), row(id="2"))
    assert isinstance(across, JobRecord)
    assert (across.started_at, across.ended_at) == (at(2), at(3))
    assert before == SkippedRow(3, "outside_window")


def test_states_are_put_in_the_schedulers_words():
    mapping = EPOCH + '[states]\nSucceeded = "COMPLETED"\n'
    assert read_one(mapping, status="Succeeded").state == "COMPLETED"
    assert read_one(mapping, status="Failed").state == "FAILED"


def test_labels_come_from_columns():
    assert read_one(EPOCH + '[labels]\nproject = "who"\n').labels == {"project": "ada"}


def test_several_nodes_in_a_cell_share_evenly():
    (job,) = read(EPOCH, row(where='"n[1-2],n7"'))
    assert isinstance(job, JobRecord)
    assert [(one.node, one.gpus, one.divided_evenly) for one in job.allocations] == [
        ("n1", Fraction(2, 3), True),
        ("n2", Fraction(2, 3), True),
        ("n7", Fraction(2, 3), True),
    ]


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"id": ""}, "id", "is empty"),
        ({"began": "noon"}, "began", "'noon' is not a count of time"),
        ({"began": "9" * 30}, "began", "out of range"),
        ({"done": "60"}, "done", "is before the start"),
        ({"gpus": "many"}, "gpus", "'many' is not a number"),
        ({"gpus": "nan"}, "gpus", "'nan' is not a number"),
        ({"gpus": "-1"}, "gpus", "'-1' is not a number"),
        ({"part": "1.5"}, "part", "1.5 is over one GPU"),
        ({"where": ""}, "where", "is empty"),
        ({"where": "n[1"}, "where", "brackets do not pair"),
        ({"who": "ada,ben"}, "row", "has 11 fields, not 10"),
        ({"who": "a\0"}, "row", "zero byte"),
    ],
)
def test_a_rejection_names_line_column_and_reason_and_spares_the_neighbours(
    changed, field, message
):
    before, rejected, after = read(EPOCH, row(id="a"), row(**changed), row(id="c"))
    assert isinstance(before, JobRecord)
    assert isinstance(rejected, RejectedJobRow)
    assert isinstance(after, JobRecord)
    assert (rejected.line, rejected.field) == (3, field)
    assert message in rejected.message


def test_a_second_row_of_one_job_is_rejected_with_the_line_of_the_first():
    _, rejected = read(EPOCH, row(), row(where="n2"))
    assert rejected == RejectedJobRow(3, "id", "job 1 was in line 2")


def test_a_row_is_known_by_the_line_it_begins_in():
    lines = (row(who='"a\nb"') + row(id="2")).splitlines(keepends=True)
    first, second = read(EPOCH, *lines)
    assert isinstance(first, JobRecord)
    assert isinstance(second, JobRecord)
    assert (first.line, second.line) == (2, 4)


def capacity(mapping: str, *rows: str) -> tuple[tuple[datetime, int], ...]:
    table = JobTable(read_mapping(mapping))
    assert all(isinstance(job, JobRecord) for job in table.rows([HEADER, *rows]))
    assert table.count is not None
    return table.count.dated()


def test_capacity_is_a_number_from_the_first_start():
    assert capacity(POOL + "capacity = 64\n", row()) == ((at(1), 64),)


def test_capacity_is_the_peak_of_use_in_whole_gpus():
    rows = [
        row(id="1", began="0", done="3600", gpus="2"),
        row(id="2", began="3600", done="7200", gpus="1", part="0.5"),
        row(id="3", began="3600", done="7200", gpus="3"),
    ]
    assert capacity(POOL + 'capacity = "peak"\n', *rows) == ((at(0), 4),)


def test_capacity_is_a_column_that_changes_with_time():
    rows = [
        row(id="1", began="0", cores="8"),
        row(id="2", began="7200", cores="16", done="9000"),
        row(id="3", began="3600", cores="8"),
    ]
    assert capacity(POOL + 'capacity = { column = "cores" }\n', *rows) == ((at(0), 8), (at(2), 16))


def test_a_pool_without_nodes_holds_its_jobs_itself():
    assert [one.node for one in read_one(POOL).allocations] == ["lab"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns\n", "not TOML"),
        ('[columns]\nraw_id = "id"\n', "columns.started_at: is needed"),
        (EPOCH + "[pool]\n" + 'name = "lab"\n', "either columns.node or \\[pool\\]"),
        (EPOCH + '[units]\ngpus = "dozen"\n', "units.gpus: 'dozen' is not one of count, milli"),
        (EPOCH + 'zoe = "UTC"\n', "times.zoe: no such key"),
        (EPOCH + 'zone = "Mars/Base"\n', "times.zone: no time zone 'Mars/Base'"),
        (EPOCH + "[window]\nfrom = 2026-02-01\n", "window.from: must be a time"),
        (COLUMNS + 'colour = "red"\n', "columns.colour: no such key"),
        (POOL + "capacity = 0\n", "pool.capacity: give a number"),
        (POOL + "capacity = true\n", "pool.capacity: give a number"),
        ("delimiter = ';;'\n" + EPOCH.lstrip(), "delimiter: must be one character"),
    ],
)
def test_a_mapping_is_refused_by_the_key_at_fault(text, message):
    with pytest.raises(MappingRefused, match=message):
        read_mapping(text)


def test_a_column_the_file_does_not_have_is_refused_by_name():
    mapping = read_mapping(EPOCH.replace('"who"', '"whom"'))
    with pytest.raises(MappingRefused, match=r"columns\.user: the file has no column 'whom'"):
        list(JobTable(mapping).rows([HEADER, row()]))


def test_an_empty_file_is_refused():
    mapping = read_mapping(EPOCH)
    with pytest.raises(MappingRefused, match="the file has no column"):
        list(JobTable(mapping).rows([]))


RAN_BEFORE = EPOCH + (
    '[window]\nfrom = "2026-01-01T02:00:00Z"\nto = "2026-01-01T09:00:00Z"\nwithout_start = '
)


def test_a_row_without_a_start_never_started_unless_the_mapping_says_otherwise():
    window = EPOCH + '[window]\nfrom = "2026-01-01T02:00:00Z"\n'
    assert read(window, row(began="")) == [SkippedRow(2, "never_started")]
    assert read(RAN_BEFORE + '"never_started"\n', row(began="")) == [SkippedRow(2, "never_started")]


def test_a_row_without_a_start_may_have_run_when_the_window_began():
    job = read_one(RAN_BEFORE + '"running"\n', began="", done="10800")
    assert (job.started_at, job.ended_at) == (at(2), at(3))
    still = read_one(RAN_BEFORE + '"running"\n', began="", done="")
    assert (still.started_at, still.ended_at) == (at(2), at(9))
    assert read(RAN_BEFORE + '"running"\n', row(began="", done="3600")) == [
        SkippedRow(2, "outside_window")
    ]


def test_which_rows_without_a_start_ran_may_go_by_their_state():
    mapping = RAN_BEFORE + '{ Running = "running" }\n'
    never = row(id="2", began="", done="10800", status="Pending")
    ran, waited = read(mapping, row(began="", done="10800"), never)
    assert isinstance(ran, JobRecord)
    assert waited == SkippedRow(3, "never_started")


def test_how_long_a_job_ran_from_a_start_that_nobody_knows_says_no_end():
    mapping = RAN_BEFORE.replace('ended_at = "done"', 'duration = "done"') + '"running"\n'
    (rejected,) = read(mapping, row(began=""))
    assert isinstance(rejected, RejectedJobRow)
    assert (rejected.field, "nobody knows" in rejected.message) == ("done", True)


@pytest.mark.parametrize(
    ("window", "match"),
    [
        ('without_start = "running"\n', "window.without_start: needs window.from"),
        ('from = 2026-01-01T02:00:00Z\nwithout_start = "ran"\n', "window.without_start: 'ran'"),
        ("from = 2026-01-01T02:00:00Z\nwithout_start = { Done = 1 }\n", "without_start.Done: 1"),
    ],
)
def test_what_a_missing_start_means_must_be_clear(window: str, match: str):
    with pytest.raises(MappingRefused, match=match):
        read_mapping(EPOCH + "[window]\n" + window)
