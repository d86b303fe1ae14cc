"""A month of self-hosting hour by hour, written down anew from its formulas, against the staircase."""

from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.crossover.crossings import SearchEnd, find_crossings
from apps.economics.crossover.replicas import ReplicaPool
from apps.economics.crossover.scenario import CrossoverScenario, cost_curves
from tests.economics.crossovers import api_offer, crossover_scenario, replica_pool

IN, OUT = "input_tokens_per_second", "output_tokens_per_second"
loads = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)
shares = st.sampled_from([0.0, 0.25, 0.5, 0.8])
pools = st.fixed_dictionaries(
    {
        "gpus": st.sampled_from([0.5, 1, 8]),
        "gpu_hour": st.sampled_from([1.0, 2.5]),
        IN: st.sampled_from([2000.0, 30_000.0]),
        OUT: st.sampled_from([500.0, 3000.0]),
        "headroom": st.sampled_from([0.5, 0.7, 1.0]),
        "least_replicas": st.integers(0, 3),
        "lead_hours": st.sampled_from([None, 0, 1, 3, 20]),
        "committed_replicas": st.integers(0, 4),
        "committed_gpu_hour": st.sampled_from([0.5, 1.0]),
        "spot_share": shares,
        "spot_gpu_hour": st.sampled_from([0.3, 0.9]),
        "spot_redone_share": st.sampled_from([0.0, 0.1]),
    }
)


def pool_month(pool: ReplicaPool, scenario: CrossoverScenario, volume: float) -> float:
    """730 hours of one pool: ρ(t), n(t), and each replica at the price of its place."""
    demand, hosting = scenario.demand, scenario.self_host
    mean = sum(demand.hours) / len(demand.hours)
    needed = []
    for load in demand.hours:
        tokens = volume * 1e6 / 730 * load / mean
        computed = (
            tokens * demand.input_share * (1 - hosting.cached_share * (1 - hosting.cached_work))
        )
        rho = 0.0
        if pool.input_tokens_per_second is not None:
            rho += computed / pool.input_tokens_per_second / 3600
        if pool.output_tokens_per_second is not None:
            rho += tokens * (1 - demand.input_share) / pool.output_tokens_per_second / 3600
        busy = rho * demand.peak_to_mean / pool.headroom
        needed.append(max(pool.least_replicas, ceil(busy * (1 - 1e-12) - 1e-12)))
    if pool.lead_hours is None:
        standing = [max(needed)] * len(needed)
    else:
        standing = [
            max(needed[(hour + ahead) % len(needed)] for ahead in range(pool.lead_hours + 1))
            for hour in range(len(needed))
        ]
    spot = pool.spot_gpu_hour * (1 + pool.spot_redone_share)
    mixed = (1 - pool.spot_share) * pool.gpu_hour + pool.spot_share * spot
    cost = 0.0
    for count in standing:
        for place in range(max(count, pool.committed_replicas, pool.least_replicas)):
            if place < pool.committed_replicas:
                rate = pool.committed_gpu_hour
            else:
                rate = pool.gpu_hour if place < pool.least_replicas else mixed
            cost += pool.gpus * rate
    return cost / len(standing) * 730


def split(stated: dict[str, Any], other: dict[str, Any]) -> tuple[ReplicaPool, ...]:
    """Prefill and decode on pools of their own."""
    return (
        replica_pool(**stated | {"name": "prefill", OUT: None}),
        replica_pool(**other | {"name": "decode", IN: None}),
    )


engines = st.one_of(
    pools.map(lambda stated: (replica_pool(**stated),)), st.builds(split, pools, pools)
)


@st.composite
def scenarios(draw: st.DrawFn) -> CrossoverScenario:
    """One engine, or two phases apart, with caches, peaks and hours of any kind."""
    return crossover_scenario(
        pools=draw(engines),
        api=api_offer(
            draw(st.sampled_from([0.3, 2.0, 9.0])), fixed=draw(st.sampled_from([0.0, 5e3]))
        ),
        demand={
            "input_share": draw(shares),
            "hours": tuple(map(float, draw(loads))),
            "peak_to_mean": draw(st.sampled_from([1.0, 1.3, 2.0])),
        },
        hosting={"cached_share": draw(shares), "cached_work": draw(st.sampled_from([0.0, 0.1]))},
    )


@given(scenarios(), st.floats(1, 60_000))
def test_the_staircase_is_what_its_hours_add_up_to(scenario, volume) -> None:
    own = cost_curves(scenario).self_host_month(volume)
    by_hours = scenario.self_host.fixed_month + sum(
        pool_month(pool, scenario, volume) for pool in scenario.self_host.pools
    )
    assert own == pytest.approx(by_hours, rel=1e-9)


@given(scenarios(), st.lists(st.floats(0.0, 1.0), min_size=20, max_size=20))
def test_no_volume_below_the_first_is_cheaper_and_none_above_the_durable_is_dearer(
    scenario, parts
) -> None:
    search = find_crossings(cost_curves(scenario), most_steps=400)
    price = scenario.api.prices[0].input
    for part in parts:
        volume = search.searched_to * part
        if not volume:
            continue
        own = scenario.self_host.fixed_month + sum(
            pool_month(pool, scenario, volume) for pool in scenario.self_host.pools
        )
        api = scenario.api.fixed + volume * price
        slack = 1e-6 * max(own, api)
        if search.first is None or volume < search.first:
            assert own > api - slack
        if search.ended_by is not SearchEnd.STEP_LIMIT and search.durable is not None:
            assert volume < search.durable or own <= api + slack


@pytest.mark.parametrize("most", [2, 3, 7])
def test_a_limit_of_replicas_ends_where_they_are_full(most) -> None:
    """Beyond it the busiest hour, found by halving, asks for one more than is allowed."""
    hours = (1.0, 2.0, 5.0)
    pool = replica_pool(most_replicas=most, least_replicas=1, lead_hours=1)
    scenario = crossover_scenario(pools=(pool,), demand={"hours": hours})
    search = find_crossings(cost_curves(scenario))
    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        rho = middle * 1e6 / 730 * 5 / (8 / 3) / 2500 / 3600 * 2 / 0.7
        low, high = (middle, high) if ceil(rho) <= most else (low, middle)
    assert cost_curves(scenario).most_volume == pytest.approx(low, rel=1e-9)
    assert search.searched_to <= low * (1 + 1e-9)
