"""A scheduler uses its ids again; what is said finds the attempt it is about."""

import random

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.job_attempts import Attempt, attempts
from apps.economics.jobs import JobSource, JobStatement
from tests.economics.job_statements import TEN, at, loosely, said, statements


def _shape(found: tuple[Attempt, ...]) -> list[object]:
    return [
        (one.submitted_at, one.opened_at, one.restart_count, frozenset(one.statements))
        for one in found
    ]


@given(st.lists(statements, max_size=8), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(
    told: list[JobStatement], chance: random.Random
) -> None:
    again = told + told[:3]
    chance.shuffle(again)
    assert _shape(attempts(again)) == _shape(attempts(told))


@given(st.lists(statements, max_size=8))
def test_every_statement_is_about_one_attempt(told: list[JobStatement]) -> None:
    placed = [each for attempt in attempts(told) for each in attempt.statements]
    assert len(placed) == len(set(placed))
    assert set(placed) == set(told)


@given(st.lists(statements, max_size=8))
def test_attempts_are_told_apart_by_opening_and_restart(told: list[JobStatement]) -> None:
    keys = [(one.opened_at, one.restart_count) for one in attempts(told)]
    assert len(keys) == len(set(keys))


def test_a_requeued_job_is_another_attempt() -> None:
    told = [said("start", 1), said("end", 9), said("start", 20, restart_count=1)]
    assert [one.restart_count for one in attempts(told)] == [0, 1]


def test_an_id_used_again_is_another_job() -> None:
    told = [said("start", 1), said("start", 500, submitted_at=at(499))]
    assert [one.submitted_at for one in attempts(told)] == [TEN, at(499)]


def test_a_submission_states_when_it_was() -> None:
    (one,) = attempts([loosely("submit", 0), said("start", 1)])
    assert (one.submitted_at, len(one.statements)) == (TEN, 2)


def test_a_loose_statement_joins_the_job_in_whose_time_it_falls() -> None:
    told = [
        said("start", 1),
        said("end", 30),
        said("start", 101, submitted_at=at(100)),
        loosely("update", 10, state="RUNNING"),
        loosely("end", 140, state="FAILED"),
    ]
    first, second = attempts(told)
    assert [each.at for each in first.statements] == [at(1), at(30), at(10)]
    assert [each.at for each in second.statements] == [at(101), at(140)]


def test_clocks_may_differ_by_minutes() -> None:
    told = [said("start", 1), said("end", 30), loosely("end", 33), loosely("start", -4)]
    assert len(attempts(told)) == 1


def test_a_loose_statement_outside_every_job_opens_one() -> None:
    told = [said("start", 1), said("end", 30), loosely("start", 60), loosely("end", 90)]
    _, second = attempts(told)
    assert (second.submitted_at, second.opened_at, len(second.statements)) == (None, at(60), 2)


def test_a_loose_job_after_a_loose_end_is_another() -> None:
    told = [loosely("start", 0), loosely("end", 10), loosely("start", 60), loosely("end", 70)]
    assert [one.opened_at for one in attempts(told)] == [at(0), at(60)]


def test_accounting_completes_what_was_loose() -> None:
    row = said("end", 30, started_at=at(1), source=JobSource.ACCOUNTING)
    (one,) = attempts([loosely("start", 1), loosely("end", 31), row])
    assert one.submitted_at == TEN


def test_a_loose_row_spans_from_its_start() -> None:
    row = loosely("end", 60, started_at=at(0), source=JobSource.ACCOUNTING)
    (one,) = attempts([row, loosely("update", 30, state="RUNNING")])
    assert one.opened_at == at(0)


def test_a_loose_statement_may_know_which_attempt_it_means() -> None:
    told = [
        said("start", 1),
        said("start", 2, restart_count=1),
        loosely("update", 10, restart_count=0, user="ada"),
        loosely("update", 11, user="ben"),
    ]
    first, second = attempts(told)
    assert [each.user for each in first.statements] == [None, "ada"]
    assert [each.user for each in second.statements] == [None, "ben"]


def test_a_next_attempt_with_a_submission_of_its_own_is_the_restart_that_its_node_tells() -> None:
    accounted = [
        said("start", 1),
        said("end", 20),
        said("start", 30, submitted_at=at(25)),
        said("end", 60, submitted_at=at(25)),
    ]
    node = [
        loosely("start", 1, restart_count=0),
        loosely("end", 20, restart_count=0),
        loosely("start", 30, restart_count=1),
        loosely("end", 60, restart_count=1),
    ]
    found = attempts([*accounted, *node])
    assert [(one.submitted_at, len(one.statements)) for one in found] == [(TEN, 4), (at(25), 4)]


def test_a_restart_that_accounting_has_not_told_yet_is_another_attempt() -> None:
    told = [said("start", 1), loosely("start", 1, restart_count=0)]
    found = attempts([*told, loosely("start", 30, restart_count=1)])
    assert [one.restart_count for one in found] == [0, 1]
    # Also where the id was another job's before.
    before = [said("start", -900, submitted_at=at(-901)), said("end", -800, submitted_at=at(-901))]
    found = attempts([*before, *told, loosely("start", 30, restart_count=1)])
    assert [one.restart_count for one in found] == [0, 0, 1]
