"""What a node's agent may say of a job: multi-node jobs work, and nobody's word moves another's."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from apps.economics.job_fold import JobFold, fold
from apps.economics.job_voices import word_of_node
from apps.economics.jobs import AllocationRecord, EventKind, JobSource, JobStatement

EIGHT = datetime(2026, 3, 2, 8, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ADA = {"user": "ada", "account": "research", "name": "train"}


def says(node: str, kind: str, minute: float = 0, gpus: int | None = None, **given: Any):
    """The agent of `node`; with `gpus` it holds so many of its own."""
    held = None if gpus is None else (AllocationRecord(node, Fraction(gpus)),)
    at = EIGHT + minute * MINUTE
    return JobStatement(
        EventKind[kind.upper()], at, JobSource.AGENT, node=node, **{"allocations": held} | given
    )


def scheduler(kind: str, minute: float = 0, *nodes: str, **given: Any) -> JobStatement:
    held = tuple(AllocationRecord(node, Fraction(8)) for node in nodes) if nodes else None
    at = EIGHT + minute * MINUTE
    return JobStatement(EventKind[kind.upper()], at, JobSource.SCHEDULER, allocations=held, **given)


def heard(*told: JobStatement) -> list[JobStatement]:
    """What is kept when these come one after the other."""
    kept: list[JobStatement] = []
    for each in told:
        if each.source is not JobSource.AGENT:
            kept.append(each)
        elif (word := word_of_node(each, kept).statement) is not None:
            kept.append(word)
    return kept


def held(job: JobFold) -> dict[str, tuple[float, float | None]]:
    """From which minute to which each node was held."""
    return {
        span.node: (
            (span.starts_at - EIGHT) / MINUTE,
            None if span.ends_at is None else (span.ends_at - EIGHT) / MINUTE,
        )
        for span in job.held
    }


def test_a_job_of_two_nodes_ends_with_the_last_of_them() -> None:
    told = [
        says("a", "start", 0, 8, **ADA),
        says("b", "start", 0.1, 8, **ADA),
        says("a", "end", 30, state="COMPLETED"),
    ]
    first = fold(heard(*told))
    assert (first.state, first.ended_at, held(first)) == (
        "RUNNING",
        None,
        {"a": (0, 30), "b": (0.1, None)},
    )
    job = fold(heard(*told, says("b", "end", 42, state="COMPLETED")))
    assert (job.state, held(job)) == ("COMPLETED", {"a": (0, 30), "b": (0.1, 42)})
    assert job.ended_at == EIGHT + 42 * MINUTE


def test_its_owner_is_who_told_first() -> None:
    kept = heard(says("a", "start", 0, 8, **ADA), says("b", "start", 0, 8, **ADA | {"run": "r"}))
    job = fold(kept)
    assert (job.user, job.account, job.runs) == ("ada", "research", ())
    # Alone on it, a node corrects what it told.
    job = fold(heard(says("a", "start", 0, 8, **ADA), says("a", "update", 1, 8, account="other")))
    assert job.account == "other"
    word = word_of_node(says("a", "update", 1, 8, account="other"), kept)
    assert (word.contradicted, fold([*kept, word.statement]).account) == (("account",), "research")


@pytest.mark.parametrize(
    "fact", ["user", "account", "partition", "namespace", "name", "qos", "run"]
)
def test_a_node_that_tells_otherwise_takes_no_part(fact: str) -> None:
    kept = [says("a", "start", 0, 8, **ADA | {fact: "ours"})]
    word = word_of_node(says("b", "start", 1, 8, **{fact: "mine"}), kept)
    assert (word.statement, word.contradicted) == (None, (fact,))


def test_the_scheduler_outranks_both() -> None:
    kept = [scheduler("start", 0, "a", "b", account="research")]
    assert word_of_node(says("c", "start", 0, 8), kept).statement is None
    both = heard(*kept, says("b", "start", 0, 8, account="mine", name="train"))
    assert (fold(both).account, fold(both).name) == ("research", "")
    agents = heard(*kept, says("a", "end", 10), says("b", "end", 20, state="FAILED"))
    assert (fold(agents).state, held(fold(agents))) == ("FAILED", {"a": (0, 10), "b": (0, 20)})
    ended = fold([*agents, scheduler("end", 25, state="TIMEOUT")])
    assert (ended.state, held(ended)) == ("TIMEOUT", {"a": (0, 25), "b": (0, 25)})


def test_a_job_starts_again_on_another_node_before_the_first_has_told_its_end() -> None:
    kept = [says("a", "start", 0, 8, restart_count=0, **ADA)]
    again = says("b", "start", 20, 8, restart_count=1, **ADA)
    assert word_of_node(again, kept).statement == again
    evil = says("b", "start", 20, 8, restart_count=1, **ADA | {"account": "mine"})
    assert word_of_node(evil, kept).statement is None
    assert word_of_node(says("b", "start", 20, 8, restart_count=1), kept).statement is None
    # What is over is nobody's any more: a scheduler uses its ids again.
    over = [*kept, says("a", "end", 10, restart_count=0)]
    assert word_of_node(evil, over).statement == evil


def test_a_pod_that_leaves_a_node_ends_with_what_is_left() -> None:
    kept = heard(
        says("a", "start", 0, 1, **ADA),
        says("b", "start", 1, 1, **ADA),
        says("a", "update", 10, 0, **ADA),
        says("b", "end", 20, state="COMPLETED"),
    )
    job = fold(kept)
    assert (job.state, job.ended_at) == ("COMPLETED", EIGHT + 20 * MINUTE)


def test_a_name_with_and_without_its_domain_is_one_node() -> None:
    kept = [scheduler("start", 0, "gpu-01")]
    end = says("gpu-01.example.org", "end", 9)
    assert word_of_node(end, kept).statement == end
    assert fold([*kept, end]).ended_at == EIGHT + 9 * MINUTE
