"""What is said of jobs may come in any order, twice, late and in pieces."""

import itertools
import random
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.economics.jobs import AllocationRecord, JobEventIn, JobSource, JobStatement
from apps.fleet.models import Node
from apps.fleet.queries import nodes_alive_between
from apps.marks.queries import Pass
from apps.workloads import queries
from apps.workloads.actions.recording import record_events
from apps.workloads.models import Allocation, Job, JobEvent, Run, RunSpan
from tests.apps.workloads.told import days_marked, forget_marks, held, jobs, marked, node, tell
from tests.economics.job_statements import TEN, at, loosely, on, said, statements
from tests.make import make_organisation

pytestmark = pytest.mark.django_db
FRESH = itertools.count(1)
KEPT_OF_JOBS = ("state", "started_at", "ended_at", "suspended_seconds", "account", "labels")
KEPT_OF_ALLOCATIONS = ("gpus_numerator", "gpus_denominator", "device_uuids", "divided_evenly")
START = said("start", 0, user="ada", account="research", allocations=(on("gpu-01"),))
END = said("end", 90, state="COMPLETED")


def _told_in_pieces(told: list[JobStatement], chance: random.Random) -> list[list[Any]]:
    """All that is then kept, without ids."""
    raw_id = f"any-{next(FRESH)}"
    rest = list(told)
    while rest:
        size = chance.randint(1, len(rest))
        tell(raw_id, *rest[:size])
        rest = rest[size:]
    kept = Job.objects.filter(raw_id=raw_id, merged_into=None)
    job = ("job__opened_at", "job__restart_count")
    spans = Allocation.objects.filter(job__raw_id=raw_id)
    runs = RunSpan.objects.filter(job__raw_id=raw_id)
    events = JobEvent.objects.filter(job__raw_id=raw_id)
    found = [
        kept.values_list("submitted_at", "opened_at", "restart_count", *KEPT_OF_JOBS),
        spans.values_list(*job, "node_name", "part", "period", "node_id", *KEPT_OF_ALLOCATIONS),
        runs.values_list(*job, "run__key", "period"),
        events.values_list(*job, "digest", "job__merged_into"),
    ]
    return [sorted(rows, key=repr) for rows in found]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(statements, min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_order_repetition_and_pieces_make_no_difference(
    db: None, told: list[JobStatement], chance: random.Random
) -> None:
    if not Node.objects.exists():
        node("gpu-01")
    shuffled = told + chance.choices(told, k=2)
    chance.shuffle(shuffled)
    assert _told_in_pieces(shuffled, chance) == _told_in_pieces(told, chance)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(statements, min_size=1, max_size=6))
def test_every_hour_in_which_something_changed_hands_is_marked(
    db: None, told: list[JobStatement]
) -> None:
    raw_id = f"any-{next(FRESH)}"
    node_id = Node.objects.values_list("id", flat=True).first() or node("gpu-01")
    hours = [TEN + timedelta(hours=hour) for hour in range(10)]
    for each in told:
        forget_marks()
        before = [_claims(node_id, hour) for hour in hours]
        tell(raw_id, each)
        after = [_claims(node_id, hour) for hour in hours]
        changed = {
            hour for hour, *was in zip(hours, before, after, strict=True) if was[0] != was[1]
        }
        assert changed <= marked(node_id)


def _claims(node_id: int, hour: datetime) -> set[tuple[Any, ...]]:
    """Who holds what of the node in this hour, and by which traits they are owned."""
    facts = queries.allocations_held([node_id], hour, hour + timedelta(hours=1))
    accounts = dict(Job.objects.values_list("id", "account"))
    return {(accounts[fact.job_id], fact._replace(allocation_id=0)) for fact in facts}


def test_a_job_is_kept_with_what_it_holds(db):
    node_id = node()
    (answer,) = tell("4711", START)
    assert (answer.state, answer.is_changed) == ("RUNNING", True)
    allocation = Allocation.objects.get(job_id=answer.job_id)
    assert (allocation.node_id, allocation.gpus_numerator) == (node_id, 8)
    assert allocation.period.upper is None


def test_the_same_statement_again_changes_nothing(db):
    node_id = node()
    tell("4711", START, END)
    forget_marks()
    rows = list(Allocation.objects.values_list("id", "period"))
    assert [each.is_changed for each in tell("4711", END, START)] == [False, False]
    assert JobEvent.objects.count() == 2
    assert list(Allocation.objects.values_list("id", "period")) == rows
    assert marked(node_id) == set()


def test_an_end_before_its_start_is_kept_until_the_start_comes(db):
    node()
    tell("4711", END)
    assert held("4711") == []
    tell("4711", START)
    assert held("4711") == [("gpu-01", 8, 1, at(0), at(90))]


def test_the_hours_a_job_held_are_marked(db):
    node_id = node()
    forget_marks()
    tell("4711", START, END)
    assert marked(node_id) == {TEN, TEN + timedelta(hours=1)}


def test_an_open_job_marks_no_hour_that_is_yet_to_come(db):
    node_id = node()
    forget_marks()
    tell("4711", START)
    assert marked(node_id) == {TEN + timedelta(hours=hour) for hour in range(10)}


def test_an_end_marks_only_the_hours_it_frees(db):
    node_id = node()
    tell("4711", START)
    forget_marks()
    tell("4711", said("end", 9 * 60 + 30, state="COMPLETED"))
    assert marked(node_id) == {TEN + timedelta(hours=9)}


def test_a_new_account_marks_every_hour_the_job_held(db):
    node_id = node()
    tell("4711", START, END)
    forget_marks()
    tell("4711", said("update", 10, account="vision"))
    assert marked(node_id) == {TEN, TEN + timedelta(hours=1)}


def test_what_changes_nothing_that_is_held_marks_nothing(db):
    node_id = node()
    tell("4711", START, END)
    forget_marks()
    tell("4711", said("update", 10, qos="low", run="r1"))
    assert marked(node_id) == set()


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("UTC", ["2026-11-20T00:00Z", "2026-11-21T00:00Z"]),
        ("Asia/Kolkata", ["2026-11-19T19:00Z", "2026-11-20T19:00Z"]),
    ],
)
def test_another_tag_or_user_rolls_up_the_local_days_again(db, zone: str, days: list[str]):
    make_organisation(zone=zone)
    node_id = node()
    end = said("end", 24 * 60, state="COMPLETED")
    record = [JobEventIn("atlas", "4711", each) for each in (START, end)]
    record_events(events=record, at=at(9999))
    forget_marks()
    update = said("update", 5, labels=(("color", "red"),))
    record_events(events=[JobEventIn("atlas", "4711", update)], at=at(9999))
    assert days_marked() == []
    update = said("update", 5, labels=(("project", "llm"),))
    record_events(events=[JobEventIn("atlas", "4711", update)], at=at(9999))
    (fact,) = nodes_alive_between(TEN, at(60), [node_id])
    tagged = [(Pass.ROLLUP, fact.pool_id, datetime.fromisoformat(day)) for day in days]
    assert days_marked() == tagged
    forget_marks()
    record_events(events=[JobEventIn("atlas", "4711", said("update", 6, user="eve"))], at=at(9999))
    assert days_marked() == tagged


def test_a_job_that_moves_marks_both_nodes(db):
    first, second = node("gpu-01"), node("gpu-02")
    tell("4711", START, END)
    forget_marks()
    row = said(
        "end",
        90,
        state="COMPLETED",
        source=JobSource.ACCOUNTING,
        started_at=TEN,
        allocations=(on("gpu-02"),),
    )
    tell("4711", row)
    assert marked(first) == marked(second) == {TEN, TEN + timedelta(hours=1)}
    assert held("4711") == [("gpu-02", 8, 1, at(0), at(90))]


def test_a_change_of_many_days_is_one_range_a_node(db):
    node_id = node()
    forget_marks()
    tell("4711", said("start", -3000, submitted_at=at(-3000), allocations=(on("gpu-01"),)))
    assert len(marked(node_id)) == 60


def test_a_requeued_job_is_two_attempts(db):
    node()
    tell("4711", START, said("end", 30, state="REQUEUED"))
    again = {"restart_count": 1}
    tell("4711", said("start", 60, allocations=(on("gpu-01"),), **again))
    first, second = jobs("4711")
    assert (first.state, first.ended_at, second.state) == ("REQUEUED", at(30), "RUNNING")
    assert [(row[3], row[4]) for row in held("4711")] == [(at(0), at(30)), (at(60), None)]


def test_the_parts_of_an_array_and_of_a_het_job_are_jobs_of_their_own(db):
    tell("101", said("start", 0, array_id="100_1"))
    tell("102", said("start", 0, array_id="100_2"))
    tell("201", said("start", 0, het_id="200+1"))
    assert [jobs(raw_id)[0].array_id for raw_id in ("101", "102")] == ["100_1", "100_2"]
    assert jobs("201")[0].het_id == "200+1"


def test_a_job_seen_without_submission_becomes_accountings(db):
    node()
    agent = {"source": JobSource.AGENT}
    (seen,) = tell("4711", loosely("start", 1, allocations=(on("gpu-01"),), **agent))
    row = said("end", 90, started_at=at(1), state="COMPLETED", source=JobSource.ACCOUNTING)
    (known,) = tell("4711", row)
    assert known.job_id == seen.job_id
    assert jobs("4711")[0].submitted_at == TEN
    assert held("4711") == [("gpu-01", 8, 1, at(1), at(90))]


def test_two_jobs_that_turn_out_to_be_one_become_one(db):
    node_id = node()
    agent = {"source": JobSource.AGENT, "allocations": (on("gpu-01"),)}
    early = tell("4711", loosely("start", 0, **agent), loosely("end", 10, source=JobSource.AGENT))
    late = tell("4711", loosely("start", 60, **agent), loosely("end", 80, source=JobSource.AGENT))
    forget_marks()
    tell("4711", said("end", 200, started_at=TEN, state="FAILED", source=JobSource.ACCOUNTING))
    (kept,) = jobs("4711")
    gone = Job.objects.exclude(merged_into=None).get()
    assert (kept.id, gone.id, gone.merged_into_id) == (early[0].job_id, late[0].job_id, kept.id)
    assert held("4711") == [("gpu-01", 8, 1, at(0), at(200))]
    assert marked(node_id) == {TEN + timedelta(hours=hour) for hour in range(4)}
    assert queries.job(gone.id) == queries.job(kept.id)


def test_late_accounting_corrects_the_end(db):
    node_id = node()
    tell("4711", START, END)
    forget_marks()
    tell("4711", said("end", 200, state="TIMEOUT", source=JobSource.ACCOUNTING))
    assert held("4711") == [("gpu-01", 8, 1, at(0), at(200))]
    assert marked(node_id) == {TEN + timedelta(hours=hour) for hour in (1, 2, 3)}


def test_a_suspended_job_keeps_its_gpus(db):
    tell("4711", START, said("update", 10, state="SUSPENDED"), said("update", 40, state="RUNNING"))
    tell("4711", END)
    assert held("4711") == [("gpu-01", 8, 1, at(0), at(90))]
    assert jobs("4711")[0].suspended_seconds == 30 * 60


def test_shares_and_pinned_devices_are_kept_exactly(db):
    grant = AllocationRecord("gpu-01", Fraction(1), share=Fraction("0.46"), devices=("GPU-a",))
    tell("4711", said("start", 0, allocations=(grant,), cpus=Fraction(64, 3)))
    allocation = Allocation.objects.get()
    assert (allocation.gpus_numerator, allocation.gpus_denominator) == (23, 50)
    assert allocation.device_uuids == ["GPU-a"]
    assert (jobs("4711")[0].cpus_numerator, jobs("4711")[0].cpus_denominator) == (64, 3)


def test_one_run_goes_on_in_many_jobs(db):
    tell("1", said("start", 0, run="pretrain"), said("end", 30))
    tell("2", said("start", 40, run="pretrain"))
    assert Run.objects.get().spans.count() == 2


def test_the_same_raw_id_in_two_clusters_is_two_jobs(db):
    tell("4711", START)
    tell("4711", START, cluster="hydra")
    assert [job.cluster.name for job in jobs("4711")] == ["atlas", "hydra"]


def test_nothing_told_is_nothing_done(db):
    assert tell("4711") == []
