"""What jobs hold on which nodes, and which job a key stands for."""

from fractions import Fraction
from itertools import permutations

import pytest
from django.db import transaction

from apps.economics.jobs import AllocationRecord
from apps.fleet import actions as fleet
from apps.fleet.models import Node
from apps.workloads import queries
from apps.workloads.actions.node_names import link_allocations
from apps.workloads.models import Allocation, Job
from tests.apps.workloads.told import LONG_AGO, NOW, marked, node, tell
from tests.economics.job_statements import TEN, at, loosely, on, said
from tests.make import make_cluster, make_node, make_pool

pytestmark = pytest.mark.django_db


def _start(*nodes: str, minutes: int = 0, gpus: int = 8):
    return said("start", minutes, allocations=tuple(on(name, gpus) for name in nodes))


def test_what_is_held_is_cut_to_the_hour_asked_for():
    node_id = node()
    grant = AllocationRecord("gpu-01", Fraction(1), Fraction(6), Fraction(1, 4), ("GPU-a",))
    tell("4711", said("start", -30, submitted_at=at(-60), allocations=(grant,)))
    tell("4711", said("end", 30, submitted_at=at(-60)))
    (fact,) = queries.allocations_held([node_id], TEN, at(60))
    assert (fact.held_from, fact.held_to) == (TEN, at(30))
    assert (fact.gpus, fact.cpus, fact.device_uuids) == (Fraction(1, 4), 6, ("GPU-a",))
    assert queries.allocations_held([node_id], at(30), at(60)) == []
    assert queries.allocations_held([node_id + 1], TEN, at(60)) == []


def test_what_is_open_is_held_to_the_end_of_the_hour():
    node_id = node()
    tell("4711", _start("gpu-01"))
    (fact,) = queries.allocations_held([node_id], at(60), at(120))
    assert (fact.held_from, fact.held_to, fact.divided_evenly) == (at(60), at(120), False)
    assert fact.device_uuids is None


def test_names_nobody_bears_hold_nothing_and_are_listed():
    node("gpu-01")
    tell("1", _start("gpu-01", "gpu-08"), said("end", 60))
    tell("2", _start("gpu-08", "gpu-09", minutes=10))
    unknown = queries.unknown_nodes()
    assert [(one.cluster, one.node_name, one.allocations) for one in unknown] == [
        ("atlas", "gpu-08", 2),
        ("atlas", "gpu-09", 1),
    ]
    assert [(one.first_at, one.last_at) for one in unknown] == [(at(0), None), (at(10), None)]


def test_a_name_that_was_freed_says_until_when():
    tell("1", _start("gpu-08"), said("end", 60))
    assert [one.last_at for one in queries.unknown_nodes()] == [at(60)]


def test_a_node_that_comes_later_gets_what_was_held_on_its_name():
    tell("1", _start("gpu-08"), said("end", 90))
    node_id = make_node("gpu-08", cluster_id=make_cluster(), at=at(180), started_at=LONG_AGO)
    assert [fact.node_id for fact in queries.allocations_held([node_id], TEN, at(60))] == [node_id]
    assert {TEN, at(60)} <= marked(node_id)
    assert queries.unknown_nodes() == []
    assert link_allocations(at=NOW) == 0


def test_a_node_of_another_cluster_is_another_node():
    tell("1", _start("gpu-01"))
    node("gpu-01", cluster="hydra")
    assert link_allocations(at=NOW) == 0
    assert len(queries.unknown_nodes()) == 1


LIVES_AND_JOBS = {
    "first": lambda: life(0, 60),
    "second": lambda: life(120),
    "over both": lambda: tell("1", _start("gpu-01"), said("end", 200)),
    "between": lambda: tell("2", _start("gpu-01", minutes=70)),
}


def life(since: int, until: int | None = None) -> int:
    given = {} if until is None else {"ended_at": at(until)}
    pool_id = make_pool(f"pool since {since}")
    return make_node(
        "gpu-01", cluster_id=make_cluster(), pool_id=pool_id, started_at=at(since), at=NOW, **given
    )


def life_then_end() -> None:
    fleet.end_node(node_id=life(0), ended_at=at(60), reason="reclaimed", at=NOW)


def places(raw_id: str) -> list[tuple[object, ...]]:
    """On which life, from when to when, in minutes."""
    rows = Allocation.objects.filter(job__raw_id=raw_id).order_by("period")
    return [
        tuple(
            None if moment is None else int((moment - TEN).total_seconds() // 60)
            for moment in (row.node and row.node.period.lower, row.period.lower, row.period.upper)
        )
        for row in rows
    ]


def test_two_lives_under_one_name_share_a_job_in_whatever_order_they_are_told():
    for order in permutations(LIVES_AND_JOBS):
        with transaction.atomic():
            for fact in order:
                # Before a later life an earlier one is told with its end.
                ends_after = fact == "first" and "second" in order[order.index(fact) :]
                (life_then_end if ends_after else LIVES_AND_JOBS[fact])()
            assert places("1") == [(0, 0, 120), (120, 120, 200)], order
            assert places("2") == [(120, 70, None)], order
            second = Node.objects.get(period__startswith=at(120)).id
            assert marked(second) >= {at(60), at(120), at(180)}, order
            transaction.set_rollback(True)


def test_what_began_after_an_end_told_late_is_on_no_node():
    node_id = life(0)
    tell("1", _start("gpu-01", minutes=70))
    fleet.end_node(node_id=node_id, ended_at=at(60), reason="reclaimed", at=NOW)
    assert [one.node_name for one in queries.unknown_nodes()] == ["gpu-01"]


def _bearers(key: str, start, end):
    found = queries.jobs_of_keys({7: key}, start, end)
    return [(span.job_id, span.starts_at, span.ends_at) for span in found.get(7, [])]


def test_a_key_is_its_jobs_from_start_to_end_in_whole_minutes():
    (start, _) = tell("4711", said("start", 10.5), said("end", 20.5))
    assert _bearers("slurm/atlas/4711", TEN, at(60)) == [(start.job_id, at(10), at(21))]
    assert _bearers("slurm/atlas/4711", at(12), at(15)) == [(start.job_id, at(12), at(15))]


def test_a_key_that_no_job_bore_then_is_left_out():
    tell("4711", said("start", 10), said("end", 20))
    assert _bearers("slurm/atlas/4711", at(60), at(120)) == []
    for key in ("slurm/atlas/4712", "slurm/hydra/4711", "slurm/atlas", "pid 12", ""):
        assert _bearers(key, TEN, at(60)) == []


def test_several_keys_may_stand_for_one_job():
    (start,) = tell("ns/pod", said("start", 0))
    found = queries.jobs_of_keys({1: "k8s/atlas/ns/pod", 2: "x/atlas/ns/pod"}, TEN, at(60))
    assert [found[key][0].job_id for key in (1, 2)] == [start.job_id] * 2


def test_a_minute_of_a_requeued_job_belongs_to_the_attempt_that_began_last():
    (first, _) = tell("4711", said("start", 0), said("end", 20.5))
    (second,) = tell("4711", said("start", 20.6, restart_count=1))
    assert _bearers("slurm/atlas/4711", TEN, at(60)) == [
        (first.job_id, at(0), at(20)),
        (second.job_id, at(20), at(60)),
    ]


def test_a_key_seen_before_the_jobs_start_was_told_is_the_jobs():
    (submitted,) = tell("4711", said("submit", 0))
    assert _bearers("slurm/atlas/4711", at(5), at(60)) == [(submitted.job_id, at(5), at(60))]


def test_a_gap_between_two_jobs_of_a_key_is_nobodys():
    (first, _) = tell("4711", loosely("start", 0), loosely("end", 10))
    (second, _) = tell("4711", loosely("start", 30), loosely("end", 40))
    assert _bearers("slurm/atlas/4711", TEN, at(60)) == [
        (first.job_id, at(0), at(10)),
        (second.job_id, at(30), at(40)),
    ]


def test_only_allowed_labels_are_tags(settings):
    settings.TAG_KEYS = ("project", "tier")
    (one,) = tell("1", said("start", 0, labels=(("color", "red"), ("project", "llm"))))
    (two,) = tell("2", said("start", 0, labels=(("color", "red"),)))
    assert queries.tags_of_jobs([one.job_id, two.job_id]) == {one.job_id: {"project": "llm"}}


def test_each_attempt_counts_as_a_job():
    tell("1", said("start", 0), said("end", 9), said("start", 20, restart_count=1))
    assert Job.objects.filter(merged_into=None).count() == 2
    assert queries.job(0) is None
