"""Runrate's own plan on spot: never late, cheaper than uniform progress, no cheaper than the optimum."""

from dataclasses import replace

import numpy as np
import pytest

from apps.economics.spot.hazards import BUCKETS, LEAST_SPELLS, zone_history
from apps.economics.spot.job import SpotJob, SpotMode
from apps.economics.spot.offers import NO_ZONE, offer_chain, spot_offers
from apps.economics.spot.optimum import optimum_costs
from apps.economics.spot.plan import solve_spot_plan
from apps.economics.spot.replay import (
    greedy_policy,
    on_demand_policy,
    planned_policy,
    replay,
    uniform_policy,
)
from apps.economics.spot.zones import chosen_zones, fitted_zones
from tests.economics.spot_traces import (
    FROM_START,
    coin_trace,
    coin_windows,
    offers_of,
    square_wave,
    trace_of,
)

JOB = SpotJob(work=24, deadline=30, restart=0.2, on_demand=3.0, spot=1.0)


def plan_of(job: SpotJob, *traces):
    histories = [zone_history(trace) for trace in traces]
    return solve_spot_plan(job, offer_chain(spot_offers(traces, histories), histories))


@pytest.mark.parametrize(
    ("deadline", "restart", "checkpoint"),
    [(24.2, 0.2, 0), (24.9, 0.2, 0), (27, 0.2, 0), (30, 0.0, 0), (30, 1.1, 0.7), (60, 0.2, 2)],
)
def test_no_deadline_is_missed_and_none_beats_the_optimum(deadline, restart, checkpoint) -> None:
    job = SpotJob(24 if restart < 1 else 23, deadline, restart, 3.0, 1.0, checkpoint)
    windows, origins = coin_windows(job, 50, seed=round(deadline))
    offers = offers_of(windows)
    least = optimum_costs(job, offers, origins)
    plan = plan_of(job, coin_trace(999, 2000))
    policies = (planned_policy(plan), uniform_policy(job), greedy_policy(job), on_demand_policy)
    for policy in policies:
        run = replay(job, offers, origins, policy)
        assert run.missed(job) == 0
        assert (run.cost >= least - 1e-6).all()
    bought = replay(job, offers, origins, on_demand_policy)
    assert bought.cost == pytest.approx(3.0 * (job.work + job.restart))


def test_a_plan_of_another_world_misses_no_deadline_either() -> None:
    always_up = plan_of(JOB, trace_of([*([1] * 3000), 0] * 6))
    windows, origins = coin_windows(JOB, 50, seed=5)
    run = replay(JOB, offers_of(windows), origins, planned_policy(always_up))
    assert run.missed(JOB) == 0


def test_it_is_cheaper_than_uniform_progress_where_spot_comes_and_goes() -> None:
    job = SpotJob(work=24, deadline=30, restart=0.2, on_demand=3.0, spot=1.0)
    windows, origins = coin_windows(job, 60, seed=100)
    offers = offers_of(windows)
    ours = replay(job, offers, origins, planned_policy(plan_of(job, windows)))
    theirs = replay(job, offers, origins, uniform_policy(job))
    assert ours.cost.mean() < 0.97 * theirs.cost.mean()


@pytest.mark.parametrize("checkpoint", [0.0, 0.05, 0.5, 3.0])
def test_what_it_expects_is_what_a_replay_of_its_own_world_costs(checkpoint: float) -> None:
    job = replace(JOB, checkpoint=checkpoint, deadline=34)
    draw = np.random.default_rng(1)
    up, seen = True, []
    for _ in range(340 * 200):
        up = up ^ bool(draw.random() < (0.04 if up else 0.08))
        seen.append(up)
    trace = trace_of(seen)
    plan = plan_of(job, trace)
    offers = offers_of(trace)
    origins = np.arange(200) * 340
    run = replay(job, offers, origins, planned_policy(plan))
    assert run.missed(job) == 0
    assert run.cost.mean() == pytest.approx(
        plan.expected_cost[offers.states[0, origins]].mean(), rel=0.03
    )


def test_spot_is_tried_again_where_it_lives_longer_than_it_ever_did() -> None:
    """A zone flapped for ten days and is steady since: its own history says nothing of a life of hours."""
    flapping = trace_of([1, 0] * 1200)
    steady = trace_of(([1] * 280 + [0] * 20) * 10)
    for checkpoint in (0.0, 1.0):
        job = replace(JOB, checkpoint=checkpoint)
        offers = offers_of(steady)
        run = replay(job, offers, np.arange(20) * 120, planned_policy(plan_of(job, flapping)))
        bought = replay(job, offers, np.arange(20) * 120, on_demand_policy)
        assert run.missed(job) == 0
        assert run.cost.mean() < 0.6 * bought.cost.mean()


def test_a_spell_older_than_all_that_were_counted_lasts_as_long_again() -> None:
    chances = zone_history(trace_of([1, 0] * 1200)).up.next_chances(0.1)
    assert chances.sum(axis=1) == pytest.approx(np.ones(BUCKETS))
    assert chances[:, 2] == pytest.approx([1.0, 0.4, 0.1, 0.025], rel=0.01)


def test_the_least_slack_leaves_on_demand_alone() -> None:
    plan = plan_of(JOB, square_wave(3000))
    states = np.arange(2 * BUCKETS)
    idle = np.zeros(len(states), np.int64)
    tight = plan.next_modes(idle, states, np.zeros(len(states)), JOB.deadline - JOB.work - 0.3)
    assert set(tight) == {SpotMode.ON_DEMAND}
    early = plan.next_modes(idle, states, np.zeros(len(states)), 0.0)
    assert set(early[BUCKETS:]) == {SpotMode.SPOT}
    assert SpotMode.SPOT not in early[:BUCKETS]


@pytest.mark.parametrize("ticks", [1, 2, 7])
def test_chances_of_a_chain_sum_to_one(ticks: int) -> None:
    traces = [coin_trace(seed, 3000) for seed in (1, 2)]
    histories = [zone_history(trace) for trace in traces]
    chain = offer_chain(spot_offers(traces, histories), histories).over(ticks)
    whole = np.hstack([chain.held, chain.lost]).sum(axis=1)
    assert whole == pytest.approx(np.ones(2 * BUCKETS))
    assert chain.offered.sum(axis=1) == pytest.approx(np.ones(3 * BUCKETS))
    assert min(chain.held.min(), chain.lost.min(), chain.offered.min()) >= 0


def test_an_offer_is_of_a_zone_that_is_up_and_still_lasts_longest() -> None:
    steady, shaky = trace_of([1] * 50 + [0] * 10), trace_of([1, 0] * 30)
    offers = offers_of(shaky, steady)
    assert set(offers.zones[0, :50]) == {1}
    assert list(offers.zones[0, 50:]) == [0, NO_ZONE] * 5


def test_unknown_ticks_are_not_up_and_teach_nothing() -> None:
    known = [1] * 30 + [0] * 30
    history = zone_history(trace_of([*known, *[float("nan")] * 40, *known]))
    assert history.known_hours == pytest.approx(12)
    assert history.up_share == 0.5
    assert (history.up.spells, history.down.spells) == (2, 0)
    assert history.up.exposed.sum() == 60
    # Of each outage the last tick is not followed by a known one.
    assert history.down.exposed.sum() == 58


def test_counts_of_nodes_are_up_where_there_are_enough() -> None:
    trace = trace_of([0, 1, 3, 4, float("nan")])
    assert list(trace.is_up(3)) == [False, False, True, True, False]


def test_a_thin_history_is_said_and_uniform_progress_used() -> None:
    short = square_wave(40 * LEAST_SPELLS)
    zones = fitted_zones(JOB, [short], [0])
    assert zones.plan is None
    assert "ends of availability" in zones.thin
    enough = fitted_zones(JOB, [square_wave(60 * (LEAST_SPELLS + 1))], [0])
    assert enough.plan is not None
    assert not enough.thin


def test_zones_that_only_cost_starts_are_not_chosen() -> None:
    steady = trace_of(([1] * 300 + [0] * 20) * 8, name="steady")
    flapping = trace_of([1, 0] * 1280, name="flapping")
    assert chosen_zones(JOB, [flapping, steady]).places[0] == 1
    halves = [trace_of(([1] * 40 + [0] * 40) * 32), trace_of(([0] * 40 + [1] * 40) * 32)]
    both = chosen_zones(JOB, halves)
    assert set(both.places) == {0, 1}
    offers = both.offers(JOB, halves, 1)
    alone = replay(JOB, offers_of(halves[0]), FROM_START, uniform_policy(JOB))
    assert replay(JOB, offers, FROM_START, both.policy(JOB)).cost[0] < alone.cost[0]


def test_a_coarser_grid_says_about_the_same() -> None:
    trace = coin_trace(3, 4000, tick=0.05)
    fine = plan_of(replace(JOB, deadline=27), trace)
    coarse = plan_of(replace(JOB, deadline=120), trace)
    assert fine.step == pytest.approx(0.05)
    assert coarse.step > 0.05
    windows, origins = coin_windows(coarse.job, 20, seed=3)
    run = replay(coarse.job, offers_of(windows), origins, planned_policy(coarse))
    assert run.missed(coarse.job) == 0
