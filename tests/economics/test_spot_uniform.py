"""Uniform progress by its truth table, the break-even life of a move, and what a replay makes of both."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.economics.refusal import Refusal
from apps.economics.spot.job import SpotJob, SpotMode, refuse_impossible
from apps.economics.spot.optimum import optimum_costs
from apps.economics.spot.replay import (
    greedy_policy,
    uniform_policy,
    uniform_without_lead_policy,
)
from apps.economics.spot.uniform import (
    MODE_OF_REASON,
    UniformReason,
    break_even_life,
    has_slack,
    uniform_progress,
    without_lead,
)
from tests.economics.spot_traces import (
    FROM_START,
    SQUARE_JOB,
    coin_trace,
    offers_of,
    run_once,
    square_wave,
    trace_of,
)

IDLE, SPOT, ON_DEMAND = SpotMode.IDLE, SpotMode.SPOT, SpotMode.ON_DEMAND


@pytest.mark.parametrize(
    ("mode", "is_up", "done", "elapsed", "expected", "reason"),
    [
        (IDLE, True, 0, 0, SPOT, UniformReason.SPOT_IS_UP),
        (IDLE, False, 0, 0, IDLE, UniformReason.WAITS),
        (IDLE, False, 7.9, 10, ON_DEMAND, UniformReason.BEHIND),
        (IDLE, False, 8.0, 10, IDLE, UniformReason.WAITS),
        (SPOT, True, 1, 10, SPOT, UniformReason.ON_SPOT_STAYS),
        (SPOT, False, 1, 10, ON_DEMAND, UniformReason.BEHIND),
        (ON_DEMAND, True, 8.31, 10, ON_DEMAND, UniformReason.NOT_AHEAD),
        (ON_DEMAND, True, 8.33, 10, SPOT, UniformReason.AHEAD_AGAIN),
        (ON_DEMAND, False, 20, 10, ON_DEMAND, UniformReason.NOT_AHEAD),
        (IDLE, True, 35.7, 48, ON_DEMAND, UniformReason.SAFETY_NET),
        (IDLE, False, 48, 50, ON_DEMAND, UniformReason.OVERRUN),
    ],
)
def test_the_truth_table(mode, is_up, done, elapsed, expected, reason) -> None:
    decided = uniform_progress(
        SQUARE_JOB, np.array([mode]), np.array([is_up]), np.array([float(done)]), elapsed
    )
    assert UniformReason(decided[0]) is reason
    assert MODE_OF_REASON[decided[0]] == expected


@pytest.mark.parametrize(
    ("is_up", "done", "elapsed", "expected", "reason"),
    [
        (True, 8.31, 10, SPOT, UniformReason.SPOT_IS_UP),
        (True, 0, 10, SPOT, UniformReason.SPOT_IS_UP),
        (False, 20, 10, ON_DEMAND, UniformReason.NOT_AHEAD),
        (True, 35.7, 48, ON_DEMAND, UniformReason.NOT_AHEAD),
    ],
)
def test_without_its_lead_it_leaves_on_demand_while_a_start_may_fail(
    is_up, done, elapsed, expected, reason
) -> None:
    up, hours = np.array([is_up]), np.array([float(done)])
    reasons = uniform_progress(SQUARE_JOB, np.array([ON_DEMAND]), up, hours, elapsed)
    decided = without_lead(reasons, up, has_slack(SQUARE_JOB, elapsed, hours, 0.0))
    assert UniformReason(decided[0]) is reason
    assert MODE_OF_REASON[decided[0]] == expected


@pytest.mark.parametrize(
    ("mode", "move_cost", "hours"),
    [
        (ON_DEMAND, 0, 0.571429),
        (IDLE, 0, 0.285714),
        (ON_DEMAND, 2, 1.505135),
        (ON_DEMAND, 20, 9.908497),
    ],
)
def test_how_long_spot_must_live_for_a_move_to_pay(mode, move_cost, hours) -> None:
    job = SpotJob(48, 60, 0.2, on_demand=3.06, spot=0.918)
    assert break_even_life(job, mode, move_cost) == pytest.approx(hours, abs=5e-7)


def test_no_move_pays_where_spot_is_no_cheaper() -> None:
    assert break_even_life(SpotJob(48, 60, 0.2, 1.0, 1.0), IDLE) == np.inf


def test_without_spot_all_is_bought_and_with_it_always_up_nothing() -> None:
    never, always = trace_of([0] * 600), trace_of([1] * 600)
    policy = uniform_policy(SQUARE_JOB)
    assert run_once(SQUARE_JOB, never, policy).cost[0] == pytest.approx(3 * 48.2)
    assert run_once(SQUARE_JOB, always, policy).cost[0] == pytest.approx(48.2)


def test_on_a_square_wave_greedy_is_cheaper_and_the_optimum_much() -> None:
    wave = square_wave()
    greedy = run_once(SQUARE_JOB, wave, greedy_policy(SQUARE_JOB))
    uniform = run_once(SQUARE_JOB, wave, uniform_policy(SQUARE_JOB))
    assert (greedy.cost[0], uniform.cost[0]) == pytest.approx((112.2, 121.6), abs=0.05)
    assert optimum_costs(SQUARE_JOB, offers_of(wave), FROM_START)[0] == pytest.approx(84.0)


@settings(max_examples=40, deadline=None)
@given(
    work=st.floats(1, 30),
    slack=st.floats(0, 20),
    restart=st.floats(0, 2),
    checkpoint=st.floats(0, 3),
    tick=st.floats(0.02, 1.5),
    seed=st.integers(0, 1000),
)
@example(work=1.0, slack=0.0, restart=0.0, checkpoint=5e-324, tick=1.0, seed=0)
def test_every_deadline_that_can_be_met_is(work, slack, restart, checkpoint, tick, seed) -> None:
    job = SpotJob(work, work + restart + slack, restart, 3.0, 1.0, checkpoint)
    refuse_impossible(job)
    trace = coin_trace(seed, int(np.ceil(job.deadline / tick)) + 1, tick)
    for policy in (
        uniform_policy(job),
        uniform_without_lead_policy(job),
        greedy_policy(job),
    ):
        assert run_once(job, trace, policy).missed(job) == 0


def test_a_preemption_loses_what_came_since_the_last_checkpoint() -> None:
    up_then_down = trace_of([1] * 20 + [0] * 200)
    job = SpotJob(work=5, deadline=20, restart=0.0, on_demand=3.0, spot=1.0, checkpoint=0.75)
    lossless = run_once(SpotJob(5, 20, 0.0, 3.0, 1.0), up_then_down, uniform_policy(job))
    lossy = run_once(job, up_then_down, uniform_policy(job))
    assert lossless.cost[0] == pytest.approx(2 + 3 * 3)
    # Of 2 h on spot the 1.5 h before the second checkpoint are kept.
    assert lossy.cost[0] == pytest.approx(2 + 3 * 3.5)


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (SpotJob(48, 48.05, 0.1, 3, 1), "deadline_hours"),
        (SpotJob(0, 60, 0.1, 3, 1), "work_hours"),
        (SpotJob(48, 60, -0.1, 3, 1), "restart_hours"),
        (SpotJob(48, 60, 0.1, 0, 1), "on_demand"),
        (SpotJob(48, 60, 0.1, 3, float("nan")), "spot"),
        (SpotJob(48, 60, 0.1, 3, 1, -1), "checkpoint_hours"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(job: SpotJob, field: str) -> None:
    with pytest.raises(Refusal) as refused:
        refuse_impossible(job)
    assert refused.value.field == field


def test_a_deadline_that_on_demand_just_meets_is_met() -> None:
    job = SpotJob(48, 48.1, 0.1, 3, 1)
    refuse_impossible(job)
    run = run_once(job, coin_trace(1, 481), uniform_policy(job))
    assert run.missed(job) == 0
    assert run.spot_hours[0] == 0
