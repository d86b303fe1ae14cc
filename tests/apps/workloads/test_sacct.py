"""What a real Slurm 22.05 wrote down is read as it happened; golden/make_golden.sh made the files."""

from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from apps.workloads.providers.job_record import JobRecord, JobRow, RejectedJobRow, SkippedRow
from apps.workloads.providers.sacct import SacctOptions, read_sacct
from apps.workloads.providers.sacct_layout import LayoutUnknown, named_fields

GOLDEN = Path(__file__).parent / "golden"
WITH_HEADER = GOLDEN / "sacct_debian_22.05.psv"
NO_HEADER = GOLDEN / "sacct_debian_22.05_noheader.psv"
NO_HEADER_FIELDS = (
    "JobID,JobIDRaw,Partition,Account,User,AllocCPUS,State,ExitCode,"
    "Submit,Start,End,AllocTRES,NodeList,JobName"
)
FOUR_SHARDS = SacctOptions(shards_per_gpu=4)


def read(lines: Iterable[str], options: SacctOptions | None = None) -> list[JobRow]:
    return list(read_sacct(lines, options=options or SacctOptions()))


def golden(options: SacctOptions = FOUR_SHARDS) -> list[JobRow]:
    return read(WITH_HEADER.read_text().splitlines(keepends=True), options)


def jobs_in(rows: Iterable[JobRow]) -> list[JobRecord]:
    return [row for row in rows if isinstance(row, JobRecord)]


def named(name: str) -> JobRecord:
    (job,) = [job for job in jobs_in(golden()) if job.name == name]
    return job


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-21T{clock}").replace(tzinfo=UTC)


def held(job: JobRecord) -> list[tuple[str, Fraction]]:
    return [(allocation.node, allocation.gpus) for allocation in job.allocations]


def test_every_row_is_a_job_or_a_step():
    rows = golden()
    assert len(jobs_in(rows)) == 20
    assert len([row for row in rows if isinstance(row, SkippedRow)]) == 17


def test_hours_are_those_counted_by_hand():
    jobs = jobs_in(golden())
    assert sum(job.gpu_seconds for job in jobs) == 291
    assert sum(job.cpu_seconds for job in jobs) == 226


def test_typed_gpus_are_not_added_to_their_total():
    assert held(named("paused")) == [("node02", 4)]


def test_two_gpu_types_in_one_job_are_counted_once():
    assert held(named("mixed")) == [("node01", 1), ("node03", 1)]


def test_array_tasks_keep_their_raw_id_and_name_their_array():
    tasks = [job for job in jobs_in(golden()) if job.name == "sweep"]
    assert [(job.raw_id, job.array_id) for job in tasks] == [("5", "3"), ("3", "3")]


def test_parts_of_a_heterogeneous_job_are_jobs_of_their_own():
    parts = [job for job in jobs_in(golden()) if job.name == "het"]
    assert [(job.raw_id, job.het_id, job.cpus) for job in parts] == [("8", "8", 1), ("9", "8", 4)]


def test_a_requeued_job_is_two_attempts_with_a_submission_each():
    first, second = (job for job in jobs_in(golden()) if job.name == "again")
    assert (first.state, first.submitted_at, first.ended_at) == (
        "REQUEUED",
        at("02:03:48"),
        at("02:03:53"),
    )
    assert (second.state, second.submitted_at, second.started_at) == (
        "COMPLETED",
        at("02:03:53"),
        at("02:05:54"),
    )


def test_five_gpus_on_two_nodes_are_halved_exactly_and_say_so():
    job = named("uneven")
    assert held(job) == [("node01", Fraction(5, 2)), ("node02", Fraction(5, 2))]
    assert all(allocation.divided_evenly for allocation in job.allocations)


def test_a_suspended_job_holds_its_gpus_to_the_end_but_not_its_cpus():
    job = named("paused")
    assert (job.started_at, job.ended_at) == (at("02:03:33"), at("02:03:43"))
    assert job.suspended_seconds == 8
    assert (job.gpu_seconds, job.cpu_seconds) == (40, 2)


def test_a_cancellation_by_a_user_is_a_cancellation():
    assert named("stopped").state == "CANCELLED"


def test_a_job_over_its_limit_lasted_until_slurm_looked():
    assert (named("overrun").state, named("overrun").gpu_seconds) == ("TIMEOUT", 89)


def test_a_failed_job_keeps_its_exit_code():
    assert (named("crash").state, named("crash").exit_code) == ("FAILED", "3:0")


def test_a_name_with_the_delimiter_in_it_is_read_whole():
    assert held(named("llama|sft")) == [("node01", 2)]


def test_a_running_job_has_no_end_and_holds_as_far_as_it_was_counted():
    job = named("serve")
    assert (job.started_at, job.ended_at, job.gpu_seconds) == (at("02:06:08"), None, 32)


def test_a_job_cancelled_in_the_queue_never_started():
    job = named("never")
    assert (job.state, job.started_at, job.ended_at) == ("CANCELLED", None, at("02:06:11"))
    assert job.allocations == ()


def test_a_pending_array_is_waiting_and_holds_nothing():
    job = named("later")
    assert (job.state, job.raw_id, job.array_id, job.started_at) == ("PENDING", "19", "19", None)


def test_shards_are_parts_of_a_gpu():
    assert held(named("shards")) == [("node03", Fraction(1, 2))]


def test_shards_are_rejected_where_nobody_says_how_many_make_a_gpu():
    (rejected,) = [row for row in golden(SacctOptions()) if isinstance(row, RejectedJobRow)]
    assert (rejected.line, rejected.field) == (19, "AllocTRES")
    assert "--shards-per-gpu" in rejected.message


def test_a_file_without_header_reads_the_same_by_named_fields():
    options = SacctOptions(fields=named_fields(NO_HEADER_FIELDS), cluster="atlas", shards_per_gpu=4)
    jobs = jobs_in(read(NO_HEADER.read_text().splitlines(), options))
    # sacct without -D leaves out the attempt that was sent back to the queue.
    same = [job for job in jobs_in(golden()) if job.state != "REQUEUED"]
    assert [(job.raw_id, job.submitted_at, job.state, held(job)) for job in jobs] == [
        (job.raw_id, job.submitted_at, job.state, held(job)) for job in same
    ]


def test_a_file_without_header_asks_for_its_fields():
    with pytest.raises(LayoutUnknown, match="14 fields: name them with --fields"):
        read(NO_HEADER.read_text().splitlines())


def test_a_header_wins_over_named_fields():
    options = SacctOptions(fields=named_fields("JobID,State"), shards_per_gpu=4)
    assert len(jobs_in(golden(options))) == 20


@pytest.mark.parametrize(
    ("comment", "labels"),
    [
        (
            "runrate:verdict=allow,quote=17,admission=3,made_at=1 kept",
            {"RUNRATE_QUOTE": "17", "RUNRATE_ADMISSION": "3"},
        ),
        ("by hand: quote=17", {}),
        ("", {}),
    ],
)
def test_what_the_controllers_script_wrote_is_a_label(comment: str, labels: dict[str, str]) -> None:
    header = "JobIDRaw|Cluster|State|Submit|Start|End|AllocTRES|NodeList|AdminComment"
    moments = "2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T11:00:00"
    row = f"7|atlas|COMPLETED|{moments}|cpu=1,gres/gpu=1|gpu-01|{comment}"

    (job,) = jobs_in(read([header, row]))

    assert job.labels == labels
