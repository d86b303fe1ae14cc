"""Several zones where moving a job's data costs: hops that pay are made, others are not, and all are charged."""

from dataclasses import replace

import numpy as np
import pytest

from apps.economics.spot.hazards import BUCKETS, zone_history
from apps.economics.spot.job import SpotJob
from apps.economics.spot.offers import NO_ZONE, OfferChain, SpotOffers, offer_chain, spot_offers
from apps.economics.spot.optimum import optimum_costs
from apps.economics.spot.plan import solve_spot_plan
from apps.economics.spot.replay import greedy_policy, planned_policy, replay, uniform_policy
from apps.economics.spot.trace import SpotTrace
from apps.economics.spot.zones import chosen_zones
from tests.economics.spot_traces import trace_of

JOB = SpotJob(work=24, deadline=30, restart=0.2, on_demand=3.0, spot=1.0)
TICKS = 300


def coins(seed: int, ending: tuple[float, float] = (0.05, 0.08), windows: int = 120) -> SpotTrace:
    """A zone whose outages and availability are each ended by a coin."""
    draw = np.random.default_rng(seed)
    up, seen = True, []
    for _ in range(TICKS * windows):
        up = up ^ bool(draw.random() < ending[0 if up else 1])
        seen.append(up)
    return trace_of(seen, name=f"coins {seed}")


@pytest.fixture(scope="module")
def zones() -> list[SpotTrace]:
    return [coins(1), coins(2)]


def world(job: SpotJob, zones: list[SpotTrace]) -> tuple[SpotOffers, OfferChain]:
    histories = [zone_history(zone) for zone in zones]
    offers = spot_offers(zones, histories, egress_hours=job.egress_hours)
    return offers, offer_chain(offers, histories)


ORIGINS = np.arange(0, 100 * TICKS, TICKS)


@pytest.mark.parametrize("egress", [0.0, 0.3, 1.0, 3.0])
def test_a_plan_expects_what_a_replay_of_its_own_world_costs_with_moves(zones, egress) -> None:
    job = replace(JOB, egress=egress)
    offers, chain = world(job, zones)
    plan = solve_spot_plan(job, chain)
    run = replay(job, offers, ORIGINS, planned_policy(plan))
    assert run.missed(job) == 0
    expected = plan.expected_cost[offers.states[0, ORIGINS]].mean()
    assert run.cost.mean() == pytest.approx(expected, rel=0.03)


def test_dearer_moves_are_fewer(zones) -> None:
    costs, moves, least = [], [], []
    for egress in (0.0, 0.3, 1.0, 3.0, 1000.0):
        job = replace(JOB, egress=egress)
        offers, chain = world(job, zones)
        run = replay(job, offers, ORIGINS, planned_policy(solve_spot_plan(job, chain)))
        costs.append(run.cost.mean())
        moves.append(run.moves.mean())
        least.append(optimum_costs(job, offers, ORIGINS).mean())
    assert costs[:3] == sorted(costs[:3])
    # Of the other zone a plan knows only what its own was seen to bring: near the border it moves a little too often.
    assert max(costs) <= 1.02 * costs[-1]
    assert least == sorted(least)
    assert moves == sorted(moves, reverse=True)
    assert moves[0] > 1
    assert moves[-1] == 0


def test_moves_that_cost_too_much_leave_the_job_where_its_data_is(zones) -> None:
    job = replace(JOB, egress=1000.0)
    offers, chain = world(job, zones)
    both = replay(job, offers, ORIGINS, planned_policy(solve_spot_plan(job, chain)))
    alone_offers, alone_chain = world(JOB, zones[:1])
    alone = replay(JOB, alone_offers, ORIGINS, planned_policy(solve_spot_plan(JOB, alone_chain)))
    assert both.cost == pytest.approx(alone.cost)
    assert optimum_costs(job, offers, ORIGINS) == pytest.approx(
        optimum_costs(JOB, alone_offers, ORIGINS)
    )


@pytest.mark.parametrize("egress", [0.0, 0.5])
def test_every_move_is_charged_and_none_beats_the_optimum(zones, egress) -> None:
    job = replace(JOB, egress=egress)
    offers, chain = world(job, zones)
    least = optimum_costs(job, offers, ORIGINS)
    for policy in (
        planned_policy(solve_spot_plan(job, chain)),
        uniform_policy(job),
        greedy_policy(job),
    ):
        run = replay(job, offers, ORIGINS, policy)
        assert (run.cost >= least - 1e-6).all()
        assert (run.moves > 0).any()
        assert (run.moves <= run.starts).all()
        # The same decisions, were data moved for nothing.
        free = replay(replace(job, egress=0.0), offers, ORIGINS, policy)
        assert run.cost - free.cost == pytest.approx(egress * run.moves)


def test_the_zone_that_still_lasts_longest_is_offered_unless_the_way_there_costs_more() -> None:
    shaky = trace_of(([1] * 4 + [0] * 2) * 100)
    steady = trace_of(([1] * 100 + [0] * 20) * 5)
    histories = [zone_history(shaky), zone_history(steady)]
    lasting = [history.up.lasting(0.1) for history in histories]
    assert lasting[1].min() > lasting[0].max()
    dear = spot_offers([shaky, steady], histories, egress_hours=float(lasting[1].max()))
    free = spot_offers([shaky, steady], histories)
    both_up = shaky.is_up() & steady.is_up()
    assert set(free.zones[0][both_up]) == {1}
    assert set(dear.zones[0][both_up]) == {0}
    assert set(dear.zones[0][~shaky.is_up() & steady.is_up()]) == {NO_ZONE}
    assert set(dear.zones[1][steady.is_up()]) == {1}


def test_chances_of_a_chain_by_place_sum_to_one(zones) -> None:
    _, chain = world(replace(JOB, egress=0.5), zones)
    for looked in (chain, chain.over(3)):
        assert np.hstack([looked.held, looked.lost]).sum(axis=1) == pytest.approx(1)
        assert looked.offered.sum(axis=1) == pytest.approx(1)
        assert len(looked.offered) == 2 * 3 * BUCKETS


def test_zones_are_chosen_with_what_moves_cost() -> None:
    halves = [trace_of(([1] * 40 + [0] * 40) * 32), trace_of(([0] * 40 + [1] * 40) * 32)]
    assert set(chosen_zones(replace(JOB, egress=1.0), halves).places) == {0, 1}
    assert len(chosen_zones(replace(JOB, egress=50.0), halves).places) == 1
