"""Where self-hosting and an API change places: every volume, the first, and the durable one."""

from decimal import Decimal
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.crossover.crossings import SearchEnd, Side, find_crossings
from apps.economics.crossover.scenario import CostCurves, cost_curves
from apps.economics.tiers import Tier
from tests.economics.crossovers import api_offer, crossover_scenario, replica_pool

STEP, REPLICA_MONTH, FIXED = 2299.5, 11_680.0, 6_000.0


def near(value: float) -> object:
    return pytest.approx(value, rel=1e-9)


def closed_form(price: float, least: int) -> tuple[float | None, float | None]:
    """First and durable crossing of one static pool, by their formulas."""
    counts = range(least, 2000)
    first = next(
        (
            max((FIXED + n * REPLICA_MONTH) / price, 0 if n == least else (n - 1) * STEP)
            for n in counts
            if (FIXED + n * REPLICA_MONTH) / price <= n * STEP
        ),
        None,
    )
    if price * STEP <= REPLICA_MONTH:
        return first, None
    n = max(least, ceil((FIXED + REPLICA_MONTH) / (price * STEP - REPLICA_MONTH) - 1e-12))
    begins = (n - 1) * STEP if n > least else 0.0
    return first, max((FIXED + n * REPLICA_MONTH) / price, begins)


def test_every_crossing_is_found() -> None:
    search = find_crossings(cost_curves(crossover_scenario()))
    assert search.cheaper_at_first is Side.API
    assert [(near(one.million_tokens), one.cheaper) for one in search.crossings] == [
        (29_360 / 6.5, Side.SELF_HOST),
        (2 * STEP, Side.API),
        (41_040 / 6.5, Side.SELF_HOST),
        (3 * STEP, Side.API),
        (52_720 / 6.5, Side.SELF_HOST),
        (4 * STEP, Side.API),
        (64_400 / 6.5, Side.SELF_HOST),
        (5 * STEP, Side.API),
        (76_080 / 6.5, Side.SELF_HOST),
    ]
    assert [one.replicas for one in search.crossings] == [(n,) for n in (2, 3, 3, 4, 4, 5, 5, 6, 6)]
    assert search.first == near(4516.923076923077)
    assert search.durable == near(11704.615384615385)
    assert search.ended_by is SearchEnd.NOTHING_TURNS


@pytest.mark.parametrize("price", [5.0, 5.1, 5.3, 6.0, 6.5, 9.0, 20.0, 60.0])
@pytest.mark.parametrize("least", [1, 2, 5])
def test_first_and_durable_are_their_closed_forms(price, least) -> None:
    scenario = crossover_scenario(pools=(replica_pool(least_replicas=least),), api=api_offer(price))
    search = find_crossings(cost_curves(scenario))
    first, durable = closed_form(price, least)
    assert search.first == (None if first is None else near(first))
    assert search.durable == (None if durable is None else near(durable))


def test_below_the_price_floor_nothing_is_durable() -> None:
    floor = REPLICA_MONTH / STEP
    for price, is_durable in ((floor * 0.99, False), (floor * 1.01, True)):
        search = find_crossings(cost_curves(crossover_scenario(api=api_offer(price))))
        assert (search.durable is not None) is is_durable
        assert search.ended_by is SearchEnd.NOTHING_TURNS


def test_at_the_price_floor_the_search_says_where_it_stopped() -> None:
    curves = cost_curves(crossover_scenario(api=api_offer(REPLICA_MONTH / STEP)))
    search = find_crossings(curves, most_steps=50)
    assert search.ended_by is SearchEnd.STEP_LIMIT
    assert search.searched_to == near(50 * STEP)
    assert (search.crossings, search.first, search.durable) == ((), None, None)


def test_who_is_cheaper_from_the_start_is_said() -> None:
    scenario = crossover_scenario(api=api_offer(6.5, fixed=50_000.0), demand={"peak_to_mean": 1.0})
    search = find_crossings(cost_curves(scenario))
    assert search.cheaper_at_first is Side.SELF_HOST
    assert (search.crossings, search.first, search.durable) == ((), 0.0, 0.0)


def test_what_is_cheaper_at_small_volumes_alone_is_not_so_for_good() -> None:
    """Two replicas stand for 29,360; the API asks 40,000 a month, and then less a token than they cost."""
    scenario = crossover_scenario(api=api_offer(1.0, fixed=40_000.0))
    search = find_crossings(cost_curves(scenario))
    assert search.cheaper_at_first is Side.SELF_HOST
    assert search.first == 0.0
    assert search.crossings[-1].cheaper is Side.API
    assert search.durable is None


def test_no_volume_is_looked_at_that_the_replicas_allowed_cannot_serve() -> None:
    pool = replica_pool(most_replicas=3)
    search = find_crossings(cost_curves(crossover_scenario(pools=(pool,))))
    assert search.ended_by is SearchEnd.REPLICA_LIMIT
    assert search.searched_to == near(3 * STEP)
    assert [one.cheaper for one in search.crossings] == [Side.SELF_HOST, Side.API, Side.SELF_HOST]
    assert search.durable == near(41_040 / 6.5)


def test_a_pool_that_has_nothing_to_do_has_no_steps() -> None:
    pools = (
        replica_pool(name="prefill", output_tokens_per_second=None),
        replica_pool(name="decode", input_tokens_per_second=None),
    )
    search = find_crossings(cost_curves(crossover_scenario(pools=pools, api=api_offer(30.0))))
    assert search.crossings[-1].replicas == (2, 2)


def test_a_search_ends_where_nothing_has_a_step_and_nothing_costs_more() -> None:
    everything_cached = {"cached_share": 1.0, "fixed": {}}
    free = api_offer(tiers=(Tier(Decimal(1), Decimal(0)),))
    scenario = crossover_scenario(hosting=everything_cached, demand={"input_share": 1.0}, api=free)
    search = find_crossings(cost_curves(scenario))
    assert (search.crossings, search.cheaper_at_first) == ((), Side.API)


def test_a_pool_that_scales_to_nothing_begins_with_its_first_replica() -> None:
    pool = replica_pool(least_replicas=0)
    scenario = crossover_scenario(pools=(pool,), api=api_offer(20.0), hosting={"fixed": {}})
    search = find_crossings(cost_curves(scenario))
    assert search.first == near(REPLICA_MONTH / 20)


loads = st.lists(st.integers(0, 8), min_size=1, max_size=6).filter(any)
pools = st.builds(
    replica_pool,
    gpus=st.integers(1, 8),
    gpu_hour=st.sampled_from([0.0, 1.0, 2.5]),
    least_replicas=st.integers(0, 3),
    committed_replicas=st.integers(0, 3),
    committed_gpu_hour=st.sampled_from([0.5, 1.0]),
    lead_hours=st.sampled_from([None, 0, 1, 3]),
)
tier_lists = st.lists(
    st.tuples(st.integers(1, 20_000), st.sampled_from(["1", "0.8", "0.5"])),
    max_size=2,
    unique_by=lambda tier: tier[0],
).map(lambda tiers: tuple(Tier(Decimal(beyond), Decimal(part)) for beyond, part in sorted(tiers)))


@st.composite
def curves_drawn(draw: st.DrawFn) -> CostCurves:
    """One engine, or prefill and decode apart, under hours, discounts and prices of any kind."""
    engines = (draw(pools),)
    if draw(st.booleans()):
        engines = (
            draw(pools.map(lambda pool: _with_phase(pool, "output_tokens_per_second"))),
            draw(pools.map(lambda pool: _with_phase(pool, "input_tokens_per_second"))),
        )
    offer = api_offer(
        draw(st.floats(0.5, 30.0)), tiers=draw(tier_lists), fixed=draw(st.sampled_from([0.0, 3e4]))
    )
    asked = {"input_share": draw(st.sampled_from([0.0, 0.5])), "hours": tuple(draw(loads))}
    return cost_curves(crossover_scenario(pools=engines, api=offer, demand=asked))


def _with_phase(pool, left_out):
    return replica_pool(**{name: getattr(pool, name) for name in pool.__dict__} | {left_out: None})


@given(curves_drawn())
def test_between_crossings_the_side_that_is_said_is_the_cheaper(curves) -> None:
    """Brute force: both costs are worked out anew at many volumes of every stretch."""
    search = find_crossings(curves, most_steps=300)
    edges = [0.0, *(one.million_tokens for one in search.crossings), search.searched_to]
    sides = [search.cheaper_at_first, *(one.cheaper for one in search.crossings)]
    assert edges == sorted(edges)
    assert all(first is not second for first, second in pairwise(sides))
    for (start, end), side in zip(pairwise(edges), sides, strict=True):
        for part in range(1, 20):
            volume = start + (end - start) * part / 20
            saved = curves.savings(volume)
            slack = 1e-6 * max(1.0, curves.api.month(volume))
            assert saved >= -slack if side is Side.SELF_HOST else saved <= slack


@given(curves_drawn(), st.floats(1.0, 50.0))
def test_beyond_the_last_turn_nothing_turns(curves, times) -> None:
    search = find_crossings(curves, most_steps=300)
    if search.ended_by is SearchEnd.NOTHING_TURNS:
        last = search.crossings[-1].cheaper if search.crossings else search.cheaper_at_first
        volume = search.searched_to * times + 1e-3
        saved, slack = curves.savings(volume), 1e-6 * max(1.0, curves.api.month(volume))
        assert saved >= -slack if last is Side.SELF_HOST else saved <= slack
