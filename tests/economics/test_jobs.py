"""A job is what all that was said about it comes to, by event time and trust."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.job_fold import fold
from apps.economics.job_holding import HeldSpan
from apps.economics.jobs import (
    AllocationRecord,
    JobRecord,
    JobSource,
    JobStatement,
    RecordHasNoTime,
    event_of_record,
)
from tests.economics.job_statements import TEN, at, on, said, statements


@given(st.lists(statements, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(
    told: list[JobStatement], chance: random.Random
) -> None:
    again = told + chance.choices(told, k=3)
    chance.shuffle(again)
    assert fold(again) == fold(told)


@given(st.lists(statements, min_size=1, max_size=8))
def test_a_job_holds_things_only_between_its_start_and_end(told: list[JobStatement]) -> None:
    job = fold(told)
    for span in job.held:
        assert job.started_at is not None
        assert job.started_at <= span.starts_at
        assert span.ends_at is None or span.starts_at < span.ends_at
        assert job.ended_at is None or (span.ends_at is not None and span.ends_at <= job.ended_at)


@given(st.lists(statements, min_size=1, max_size=8))
def test_one_grant_is_never_held_twice_at_a_time(told: list[JobStatement]) -> None:
    spans: dict[tuple[str, int], list[HeldSpan]] = {}
    for span in fold(told).held:
        spans.setdefault((span.node, span.part), []).append(span)
    for held in spans.values():
        assert all(
            one.ends_at is not None and one.ends_at <= other.starts_at
            for one, other in pairwise(held)
        )


@given(st.lists(statements, min_size=1, max_size=8))
def test_no_job_ends_before_it_starts(told: list[JobStatement]) -> None:
    job = fold(told)
    assert not job.started_at or not job.ended_at or job.started_at <= job.ended_at


def test_a_job_without_a_statement_is_no_job() -> None:
    with pytest.raises(ValueError, match="without a statement"):
        fold([])


def test_a_job_starts_holds_and_ends() -> None:
    job = fold(
        [
            said("submit", 0, account="research"),
            said("start", 2, user="ada", allocations=(on("gpu-01", cpus=Fraction(96)),)),
            said("end", 62, state="COMPLETED", exit_code="0"),
        ]
    )
    assert (job.state, job.started_at, job.ended_at) == ("COMPLETED", at(2), at(62))
    assert (job.user, job.account, job.exit_code) == ("ada", "research", "0")
    assert job.held == (
        HeldSpan("gpu-01", 0, Fraction(8), Fraction(96), None, False, at(2), at(62)),
    )


def test_a_job_that_only_waits_is_pending() -> None:
    job = fold([said("submit", 0, allocations=(on("gpu-01"),))])
    assert (job.state, job.started_at, job.held, job.runs) == ("PENDING", None, (), ())


def test_a_job_cancelled_while_it_waited_never_started() -> None:
    job = fold([said("submit", 0), said("end", 9, state="CANCELLED", run="r1")])
    assert (job.state, job.started_at, job.ended_at, job.held) == ("CANCELLED", None, at(9), ())


def test_an_end_nobody_explains_is_an_end_all_the_same() -> None:
    assert fold([said("start", 1), said("end", 9)]).state == "ENDED"


def test_an_end_is_final_for_the_scheduler() -> None:
    job = fold(
        [
            said("start", 1),
            said("end", 30, state="FAILED"),
            said("update", 40, state="RUNNING"),
            said("end", 50, state="COMPLETED"),
        ]
    )
    assert (job.state, job.ended_at) == ("FAILED", at(30))


def test_accounting_may_say_that_a_job_lives_on() -> None:
    told = [
        said("start", 1),
        said("end", 30, state="FAILED"),
        said("update", 40, state="RUNNING", source=JobSource.ACCOUNTING),
    ]
    assert (fold(told).state, fold(told).ended_at) == ("RUNNING", None)
    told.append(said("end", 50, state="COMPLETED"))
    assert (fold(told).state, fold(told).ended_at) == ("COMPLETED", at(50))


def test_accounting_has_the_last_word_on_the_end() -> None:
    job = fold(
        [
            said("start", 1),
            said("end", 30, state="COMPLETED"),
            said("end", 31, state="TIMEOUT", source=JobSource.ACCOUNTING),
        ]
    )
    assert (job.state, job.ended_at) == ("TIMEOUT", at(31))


def test_an_accounting_without_opinion_leaves_the_end_to_others() -> None:
    job = fold(
        [
            said("update", 5, source=JobSource.ACCOUNTING, user="ada"),
            said("end", 30, state="FAILED"),
        ]
    )
    assert (job.state, job.user) == ("FAILED", "ada")


def test_the_scheduler_is_trusted_over_an_agent_on_the_end() -> None:
    job = fold(
        [
            said("start", 1),
            said("end", 28, state="FAILED", source=JobSource.AGENT),
            said("end", 30, state="COMPLETED"),
        ]
    )
    assert (job.state, job.ended_at) == ("COMPLETED", at(30))


def test_the_later_event_says_more_and_trust_decides_a_tie() -> None:
    job = fold(
        [
            said("update", 9, account="late", source=JobSource.SCHEDULER),
            said("start", 5, account="early", source=JobSource.ACCOUNTING),
            said("update", 5, qos="low", source=JobSource.ACCOUNTING),
            said("update", 5, qos="high", source=JobSource.SCHEDULER),
        ]
    )
    assert (job.account, job.qos, job.source) == ("late", "low", JobSource.ACCOUNTING)


def test_an_agent_only_fills_what_nobody_else_said() -> None:
    job = fold(
        [
            said("start", 1, user="ada", labels=(("project", "llm"),)),
            said(
                "update",
                9,
                source=JobSource.AGENT,
                user="root",
                name="train.py",
                labels=(("project", "mine"), ("RUNRATE_TEAM", "vision")),
            ),
        ]
    )
    assert (job.user, job.name) == ("ada", "train.py")
    assert job.labels == (("RUNRATE_TEAM", "vision"), ("project", "llm"))


def test_the_most_trusted_start_counts() -> None:
    job = fold(
        [
            said("start", 1),
            said("end", 30, started_at=at(2), source=JobSource.ACCOUNTING, state="COMPLETED"),
        ]
    )
    assert job.started_at == at(2)


def test_a_job_first_seen_running_started_by_then() -> None:
    job = fold([said("update", 7, state="RUNNING", allocations=(on("gpu-01"),))])
    assert job.started_at == at(7)
    assert job.held[0].starts_at == at(7)


def test_times_that_contradict_each_other_leave_no_length() -> None:
    job = fold([said("start", 30, allocations=(on("gpu-01"),)), said("end", 20, state="FAILED")])
    assert (job.started_at, job.ended_at, job.held) == (at(30), at(30), ())


def test_suspended_time_is_counted_and_stays_held() -> None:
    job = fold(
        [
            said("start", 0, allocations=(on("gpu-01"),), state="RUNNING"),
            said("update", 10, state="SUSPENDED"),
            said("update", 25, state="RUNNING"),
            said("update", 50, state="SUSPENDED"),
            said("end", 60, state="COMPLETED"),
        ]
    )
    assert job.suspended_seconds == 25 * 60
    assert [(span.starts_at, span.ends_at) for span in job.held] == [(at(0), at(60))]


def test_what_a_source_says_of_suspension_beats_what_the_states_show() -> None:
    told = [said("start", 0), said("end", 9, state="FAILED", suspended_seconds=7)]
    assert fold(told).suspended_seconds == 7


def test_suspension_ends_with_the_job() -> None:
    job = fold(
        [
            said("update", 10, state="SUSPENDED"),
            said("end", 20, state="FAILED"),
            said("update", 30, state="SUSPENDED"),
            said("update", 40, state="RUNNING"),
        ]
    )
    assert job.suspended_seconds == 10 * 60


def test_a_suspended_job_that_gives_its_gpus_back_holds_none() -> None:
    job = fold(
        [
            said("start", 0, allocations=(on("gpu-01"),)),
            said("update", 10, state="SUSPENDED", allocations=()),
            said("update", 25, state="RUNNING", allocations=(on("gpu-01"),)),
            said("end", 60, state="COMPLETED"),
        ]
    )
    assert [(span.starts_at, span.ends_at) for span in job.held] == [
        (at(0), at(10)),
        (at(25), at(60)),
    ]


def test_a_job_that_grows_holds_the_new_node_from_then_on() -> None:
    job = fold(
        [
            said("start", 0, allocations=(on("gpu-01"),)),
            said("update", 30, allocations=(on("gpu-01"), on("gpu-02"))),
        ]
    )
    assert [(span.node, span.starts_at, span.ends_at) for span in job.held] == [
        ("gpu-01", at(0), None),
        ("gpu-02", at(30), None),
    ]


def test_several_grants_on_one_node_stay_apart() -> None:
    quarter = Fraction(1, 4)
    grants = (
        on("gpu-01", 1, share=quarter, devices=("GPU-b",)),
        on("gpu-01", 1, share=quarter, devices=("GPU-a",)),
    )
    spans = fold([said("start", 0, allocations=grants)]).held
    assert [(span.part, span.gpus, span.devices) for span in spans] == [
        (0, quarter, ("GPU-a",)),
        (1, quarter, ("GPU-b",)),
    ]


def test_the_row_of_an_ended_job_is_the_last_word_on_what_it_held() -> None:
    job = fold(
        [
            said("start", 0, allocations=(on("gpu-01", 4),)),
            said(
                "end",
                60,
                state="COMPLETED",
                source=JobSource.ACCOUNTING,
                started_at=at(0),
                allocations=(on("gpu-01", 8),),
            ),
            said("update", 30, allocations=(on("gpu-09", 1),)),
        ]
    )
    assert [(span.node, span.gpus) for span in job.held] == [("gpu-01", 8)]


def test_an_end_tells_what_was_held_where_nobody_did_at_the_time() -> None:
    end = said("end", 60, state="COMPLETED", allocations=(on("gpu-02"),))
    assert [span.node for span in fold([said("start", 0), end]).held] == ["gpu-02"]
    told = [said("start", 0, allocations=(on("gpu-01"),)), end]
    assert [span.node for span in fold(told).held] == ["gpu-01"]


def test_an_end_that_names_nothing_takes_nothing_back() -> None:
    told = [said("start", 0, allocations=(on("gpu-01"),)), said("end", 60, allocations=())]
    assert [span.ends_at for span in fold(told).held] == [at(60)]


def test_each_agent_speaks_for_its_own_node() -> None:
    agent = {"source": JobSource.AGENT}
    told = [
        said("start", 0, allocations=(on("gpu-01"),), **agent),
        said("start", 1, allocations=(on("gpu-02"),), **agent),
        said("update", 30, allocations=(on("gpu-02", 4),), **agent),
        said("update", 31, allocations=(), **agent),
    ]
    assert [(s.node, s.gpus, s.starts_at, s.ends_at) for s in fold(told).held] == [
        ("gpu-01", 8, at(0), None),
        ("gpu-02", 8, at(1), at(30)),
        ("gpu-02", 4, at(30), None),
    ]


def test_an_agent_pins_what_the_scheduler_only_counted() -> None:
    told = [
        said("start", 0, allocations=(on("gpu-01", 1), on("gpu-02", 2))),
        said(
            "update", 1, source=JobSource.AGENT, allocations=(on("gpu-01", 1, devices=("GPU-a",)),)
        ),
        said(
            "update", 2, source=JobSource.AGENT, allocations=(on("gpu-02", 1, devices=("GPU-b",)),)
        ),
    ]
    assert [(span.node, span.devices) for span in fold(told).held] == [
        ("gpu-01", ("GPU-a",)),
        ("gpu-02", None),
    ]


def test_a_job_carries_one_run_after_another() -> None:
    job = fold(
        [
            said("submit", 0, run="r1"),
            said("start", 5),
            said("update", 10, run="r1"),
            said("update", 20, run="r2"),
            said("end", 60, run="r2"),
        ]
    )
    assert [(part.key, part.starts_at, part.ends_at) for part in job.runs] == [
        ("r1", at(5), at(20)),
        ("r2", at(20), at(60)),
    ]


def test_an_end_tells_the_run_where_nobody_did_before() -> None:
    told = [said("start", 0), said("end", 10, run="r1")]
    assert [part.key for part in fold(told).runs] == ["r1"]


def test_a_run_named_after_the_end_was_never_carried() -> None:
    told = [said("start", 0), said("end", 10), said("update", 20, run="r1")]
    assert fold(told).runs == ()


def _record(**given: object) -> JobRecord:
    values = {
        "line": 2,
        "cluster": "atlas",
        "raw_id": "4711",
        "submitted_at": TEN,
        "started_at": at(1),
        "ended_at": at(31),
        "state": "COMPLETED",
        "suspended_seconds": 600,
        "cpus": Fraction(64),
        "allocations": (
            AllocationRecord("gpu-01", Fraction(2)),
            AllocationRecord("gpu-02", Fraction(1), share=Fraction(1, 2)),
        ),
    }
    return JobRecord(**values | given)  # type: ignore[arg-type]


def test_an_accountings_row_states_the_whole_attempt() -> None:
    event = event_of_record(_record(user="ada", labels={"b": "2", "a": "1"}))
    job = fold([event.statement])
    assert (event.cluster, event.raw_id) == ("atlas", "4711")
    assert (job.started_at, job.ended_at, job.state) == (at(1), at(31), "COMPLETED")
    assert (job.user, job.labels) == ("ada", (("a", "1"), ("b", "2")))
    assert [(span.node, span.gpus) for span in job.held] == [
        ("gpu-01", 2),
        ("gpu-02", Fraction(1, 2)),
    ]


def test_a_row_of_a_running_job_leaves_it_running() -> None:
    job = fold([event_of_record(_record(ended_at=None, state="RUNNING")).statement])
    assert (job.state, job.ended_at, job.held[0].ends_at) == ("RUNNING", None, None)


def test_a_row_of_a_waiting_job_leaves_it_waiting() -> None:
    row = _record(started_at=None, ended_at=None, state="PENDING")
    assert fold([event_of_record(row).statement]).state == "PENDING"


def test_a_row_without_any_time_is_refused() -> None:
    with pytest.raises(RecordHasNoTime, match="4711"):
        event_of_record(_record(submitted_at=None, started_at=None, ended_at=None))


def test_gpus_are_held_while_suspended_and_cpus_are_not() -> None:
    record = _record()
    assert record.held_seconds == 1_800
    assert record.gpu_seconds == Fraction(5, 2) * 1_800
    assert record.cpu_seconds == 64 * 1_200


def test_a_job_without_an_end_is_measured_as_far_as_it_was_counted() -> None:
    record = _record(ended_at=None, elapsed_seconds=Fraction(60), suspended_seconds=30)
    assert record.held_seconds == 90
    assert _record(started_at=None).held_seconds == 0
    assert _record(ended_at=None, elapsed_seconds=None, suspended_seconds=0).cpu_seconds == 0
