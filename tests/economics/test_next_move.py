"""What a running job should do now: the worked question, the edges of its deadline, and that following it is never late."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.spot.hazards import zone_history
from apps.economics.spot.job import SpotJob, SpotMode
from apps.economics.spot.next_move import (
    DeadlineState,
    MoveAction,
    MoveQuestion,
    MoveRule,
    next_move,
    plan_covers,
)
from apps.economics.spot.offers import offer_chain, spot_offers
from apps.economics.spot.plan import solve_spot_plan
from apps.economics.spot.zones import fitted_zone
from tests.economics.spot_traces import coin_trace

JOB = SpotJob(work=21, deadline=30, restart=0.1, on_demand=3.06, spot=0.918)


def asked(mode: SpotMode = SpotMode.SPOT, *, up: bool = True, **other) -> MoveQuestion:
    usual = {"job": JOB, "done": 0.0, "elapsed": 0.0, "state_hours": 2.0, "tick": 0.1}
    return MoveQuestion(mode=mode, spot_is_up=up, **usual | other)


def test_on_spot_with_21_hours_of_work_and_30_to_the_deadline_it_stays() -> None:
    move = next_move(asked(), None)
    assert (move.action, move.mode, move.deadline) == (
        MoveAction.STAY,
        SpotMode.SPOT,
        DeadlineState.GUARANTEED,
    )
    assert move.slack == pytest.approx(9)
    assert move.risk_hours == pytest.approx(9 - 0.3)


@pytest.mark.parametrize(
    ("mode", "up", "elapsed", "action", "rule"),
    [
        (SpotMode.SPOT, False, 0.0, MoveAction.WAIT, MoveRule.UNIFORM_PROGRESS),
        (SpotMode.SPOT, False, 8.8, MoveAction.FALL_BACK, MoveRule.SAFETY_NET),
        (SpotMode.SPOT, False, 1.0, MoveAction.FALL_BACK, MoveRule.UNIFORM_PROGRESS),
        (SpotMode.IDLE, True, 1.0, MoveAction.MOVE_TO_SPOT, MoveRule.UNIFORM_PROGRESS),
        (SpotMode.IDLE, True, 8.8, MoveAction.FALL_BACK, MoveRule.SAFETY_NET),
        (SpotMode.ON_DEMAND, True, 1.0, MoveAction.STAY, MoveRule.UNIFORM_PROGRESS),
        (SpotMode.ON_DEMAND, True, 8.8, MoveAction.STAY, MoveRule.SAFETY_NET),
    ],
)
def test_what_is_done_without_a_plan(mode, up, elapsed, action, rule) -> None:
    move = next_move(asked(mode, up=up, elapsed=elapsed), None)
    assert (move.action, move.rule) == (action, rule)
    assert move.deadline is DeadlineState.GUARANTEED


def test_no_move_to_spot_that_would_not_live_long_enough() -> None:
    idle = asked(SpotMode.IDLE)
    assert next_move(replace(idle, expected_life=0.15), None).action is MoveAction.MOVE_TO_SPOT
    short = next_move(replace(idle, expected_life=0.14), None)
    assert (short.action, short.rule) == (MoveAction.WAIT, MoveRule.SHORT_LIFE)
    assert short.break_even == pytest.approx(3.06 * 0.1 / (3.06 - 0.918))
    costly = next_move(replace(idle, expected_life=5.0, move_cost=20.0), None)
    assert costly.rule is MoveRule.SHORT_LIFE


@pytest.mark.parametrize(
    ("mode", "up", "slack", "action", "deadline"),
    [
        (SpotMode.SPOT, True, 0.1, MoveAction.STAY, DeadlineState.GUARANTEED),
        (SpotMode.SPOT, True, 0.05, MoveAction.STAY, DeadlineState.UNLESS_INTERRUPTED),
        (SpotMode.SPOT, True, -0.1, MoveAction.STAY, DeadlineState.LATE),
        (SpotMode.SPOT, False, 0.05, MoveAction.FALL_BACK, DeadlineState.LATE),
        (SpotMode.ON_DEMAND, True, 0.0, MoveAction.STAY, DeadlineState.GUARANTEED),
        (SpotMode.ON_DEMAND, True, -0.1, MoveAction.STAY, DeadlineState.LATE),
        (SpotMode.IDLE, True, 0.1, MoveAction.FALL_BACK, DeadlineState.GUARANTEED),
        (SpotMode.IDLE, True, 0.05, MoveAction.FALL_BACK, DeadlineState.LATE),
    ],
)
def test_what_is_said_of_a_deadline_near_its_edge(mode, up, slack, action, deadline) -> None:
    move = next_move(asked(mode, up=up, elapsed=9 - slack), None)
    assert (move.action, move.deadline) == (action, deadline)


def test_work_that_one_more_preemption_would_lose_leaves_spot_in_time() -> None:
    job = replace(JOB, checkpoint=1.0)
    assert next_move(asked(job=job, elapsed=7.0), None).action is MoveAction.STAY
    leaves = next_move(asked(job=job, elapsed=8.0), None)
    assert (leaves.action, leaves.rule) == (MoveAction.FALL_BACK, MoveRule.SAFETY_NET)
    assert leaves.deadline is DeadlineState.GUARANTEED


def test_a_plan_decides_where_it_covers_the_question() -> None:
    trace = coin_trace(4, 3000)
    histories = [zone_history(trace)]
    plan = solve_spot_plan(JOB, offer_chain(spot_offers([trace], histories), histories))
    later = asked(SpotMode.ON_DEMAND, job=replace(JOB, work=15, deadline=20))
    assert plan_covers(plan, later)
    assert next_move(later, plan).rule is MoveRule.PLAN
    assert not plan_covers(plan, asked(job=replace(JOB, deadline=31)))
    assert not plan_covers(plan, asked(job=replace(JOB, spot=1.0)))
    assert not plan_covers(plan, asked(job=replace(JOB, work=5)))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 500),
    slack=st.floats(0.15, 8),
    checkpoint=st.sampled_from([0.0, 0.3]),
    planned=st.booleans(),
)
def test_who_asks_every_tick_and_follows_is_never_late(seed, slack, checkpoint, planned) -> None:
    job = SpotJob(6.0, 6.1 + slack, 0.1, 3.0, 1.0, checkpoint)
    plan = fitted_zone(job, coin_trace(900, 1500)).plan if planned else None
    up = coin_trace(seed, 200).is_up()
    mode, done, saved, rest, age, at = SpotMode.IDLE, 0.0, 0.0, 0.0, 0.0, 0
    while done < job.work - 1e-9:
        if mode is SpotMode.SPOT and not up[at]:
            done = saved
        age = age + 0.1 if at and up[at] == up[at - 1] else 0.1
        question = MoveQuestion(job, mode, done, at * 0.1, bool(up[at]), age, 0.1)
        move = next_move(question, plan)
        assert move.deadline is DeadlineState.GUARANTEED
        if move.action is not MoveAction.STAY and move.mode is not SpotMode.IDLE:
            rest, saved = job.restart, done
        mode = move.mode
        if mode is not SpotMode.IDLE:
            used = min(0.1, rest)
            rest -= used
            done = min(job.work, done + 0.1 - used)
            if mode is SpotMode.ON_DEMAND or not checkpoint:
                saved = done
            else:
                saved += checkpoint * np.floor((done - saved) / checkpoint + 1e-9)
        at += 1
    assert at * 0.1 <= job.deadline + 0.1
