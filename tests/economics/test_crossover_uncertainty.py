"""How sure an answer is: drawn ranges, the tornado, and what must be true."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.crossover.answer import (
    QUICK_ANSWER,
    CrossoverAdvice,
    CrossoverQuestion,
    answer_question,
)
from apps.economics.crossover.scenario import savings
from apps.economics.crossover.uncertainty import (
    InputRange,
    break_even_inputs,
    drawn_scenarios,
    input_at,
    path_label,
    savings_range,
    tornado,
    with_inputs,
)
from tests.economics.crossovers import api_offer, chances, crossover_scenario, replica_pool

THROUGHPUT = ("self_host", "pools", 0, "output_tokens_per_second")
GPU_HOUR = ("self_host", "pools", 0, "gpu_hour")
PEAK, STAFF = ("demand", "peak_to_mean"), ("self_host", "fixed", "staff")
PRICE, VOLUME = ("api", "prices", 0, "output"), ("demand", "million_tokens")
RANGES = (
    InputRange(THROUGHPUT, 1800, 2500, 3000),
    InputRange(GPU_HOUR, 1.6, 2.0, 2.8),
    InputRange(PEAK, 1.6, 2.0, 3.0),
    InputRange(STAFF, 4000, 6000, 12_000),
    InputRange(PRICE, 5.5, 6.5, 7.0),
    InputRange(VOLUME, 6000, 9000, 14_000),
)


def numpy_savings(draws: int) -> tuple[Callable[[], float], np.ndarray]:
    """The chances that numpy's generator (seed 11) takes for its triangles, and savings by arrays."""
    chance = np.random.default_rng(11).random((len(RANGES), draws))
    generator = np.random.default_rng(11)
    speed, rate, peak, staff, price, volume = (
        generator.triangular(one.low, one.likely, one.high, draws) for one in RANGES
    )
    replicas = np.maximum(2, np.ceil(volume / (speed * 0.7 / peak * 3600 * 730 / 1e6)))
    saved = volume * price - (staff + replicas * rate * 8 * 730)
    return iter(chance.T.ravel().tolist()).__next__, saved


def test_ranges_are_drawn_as_numpy_draws_triangles() -> None:
    chance, saved = numpy_savings(500)
    spread = savings_range(crossover_scenario(), RANGES, 500, chance)
    own = spread.savings
    assert [own.p10, own.p50, own.p90] == pytest.approx(np.quantile(saved, [0.1, 0.5, 0.9]))
    assert spread.self_host_cheaper_share == (saved > 0).mean()


@pytest.mark.proof
def test_a_published_simulation_comes_out_the_same() -> None:
    """20,000 draws: -30,914, -10,985 and 4,631 a month, cheaper in 18.9 %."""
    chance, _ = numpy_savings(20_000)
    spread = savings_range(crossover_scenario(), RANGES, 20_000, chance)
    saved = spread.savings
    assert [int(value) for value in (saved.p10, saved.p50, saved.p90)] == [-30_914, -10_985, 4_631]
    assert round(spread.self_host_cheaper_share, 3) == 0.189


def test_the_tornado_has_the_longest_bar_on_top() -> None:
    bars = tornado(crossover_scenario(), RANGES)
    assert [(bar.name, round(bar.savings_at_low), round(bar.savings_at_high)) for bar in bars] == [
        ("self_host.pools[0].gpu_hour", 15_124, -12_908),
        ("self_host.pools[0].output_tokens_per_second", -17_580, 5_780),
        ("demand.peak_to_mean", 5_780, -17_580),
        ("api.prices[0].output", -3_220, 10_280),
        ("self_host.fixed.staff", 7_780, -220),
        ("demand.million_tokens", -2_040, 3_240),
    ]
    assert (bars[0].low, bars[0].high) == (1.6, 2.8)


def test_what_moves_together_is_one_chance_and_one_bar() -> None:
    together = (
        InputRange(GPU_HOUR, 1.0, 2.0, 3.0, "hardware"),
        InputRange(PRICE, 5.5, 6.5, 7.5, "hardware"),
    )
    for drawn in islice(drawn_scenarios(crossover_scenario(), together, chances(1)), 20):
        moved = input_at(drawn, GPU_HOUR) - 2.0
        assert input_at(drawn, PRICE) - 6.5 == pytest.approx(moved)
    (bar,) = tornado(crossover_scenario(), together)
    assert (bar.name, bar.low, bar.high) == ("hardware", None, None)
    lowest = with_inputs(crossover_scenario(), {GPU_HOUR: 1.0, PRICE: 5.5})
    assert bar.savings_at_low == savings(lowest)


def test_the_same_seed_gives_the_same_range() -> None:
    first, second, other = (
        savings_range(crossover_scenario(), RANGES, 200, chances(seed)) for seed in (3, 3, 4)
    )
    assert first == second
    assert first.savings != other.savings


def test_break_even_volumes_have_a_range_and_those_without_one_lie_above() -> None:
    low = crossover_scenario(api=api_offer(5.2))
    ranges = (InputRange(PRICE, 4.0, 5.2, 6.5),)
    spread = savings_range(low, ranges, 300, chances(2))
    assert spread.durable_break_even.p90 is None
    assert 0 < spread.durable_share < 0.8
    assert spread.first_break_even.p10 is not None
    assert spread.break_even_draws == 200


def test_what_the_replicas_allowed_cannot_serve_is_not_cheaper() -> None:
    scenario = crossover_scenario(pools=(replica_pool(most_replicas=2),), api=api_offer(60.0))
    ranges = (InputRange(VOLUME, 4000, 4500, 5000),)
    spread = savings_range(scenario, ranges, 500, chances(2))
    assert spread.savings.p10 is not None
    assert spread.savings.p10 > 0
    assert 0.5 < spread.self_host_cheaper_share < 1
    assert spread.self_host_cheaper_share == spread.served_share
    none = savings_range(scenario, (InputRange(VOLUME, 9000, 9500, 9900),), 20, chances(2))
    assert (none.savings.p50, none.self_host_cheaper_share, none.served_share) == (None, 0.0, 0.0)


@given(st.floats(0.5, 60.0), st.integers(2, 8), st.floats(1000, 30_000))
def test_an_answer_with_a_ceiling_of_replicas_never_contradicts_itself(
    price: float, most: int, volume: float
) -> None:
    scenario = crossover_scenario(
        pools=(replica_pool(most_replicas=most),),
        api=api_offer(price),
        demand={"million_tokens": volume},
    )
    answer = answer_question(CrossoverQuestion(scenario), chances(1), QUICK_ANSWER)
    assert answer.advice.value == answer.costs.cheaper.value
    assert answer.costs.is_served or answer.advice is CrossoverAdvice.API
    for needed in answer.must_be_true:
        at, _, name = needed.name.rpartition(".")
        assert answer.costs.is_served or name not in ("gpu_hour", "output"), at
    limit = answer.search.searched_to
    assert all(one.million_tokens <= limit for one in answer.search.crossings)


def test_with_a_ceiling_what_must_be_true_is_what_lets_the_replicas_serve() -> None:
    scenario = crossover_scenario(pools=(replica_pool(most_replicas=2),), api=api_offer(60.0))
    inputs = {one.name: one for one in break_even_inputs(scenario)}
    speed = inputs["self_host.pools[0].output_tokens_per_second"]
    assert speed.at_least
    # Two replicas carry 9,000 million a month at peaks of twice the mean from so many tokens a second on.
    assert speed.needed == pytest.approx(9e9 * 2 / (2 * 0.7 * 3600 * 730))


def test_what_must_be_true_turns_the_answer_just_there() -> None:
    scenario = crossover_scenario(demand={"input_share": 0.3})
    inputs = {one.name: one for one in break_even_inputs(scenario)}
    assert {"demand.peak_to_mean", "self_host.pools[0].headroom"} <= inputs.keys()
    price, rate = inputs["api.prices[0].output"], inputs["self_host.pools[0].gpu_hour"]
    # 52,720 a month for 9,000 million tokens, 0.3 of them at 6.5.
    assert price.needed == pytest.approx((52_720 / 9000 - 0.3 * 6.5) / 0.7)
    assert price.at_least
    assert rate.needed == pytest.approx((58_500 - 6000) / (4 * 8 * 730))
    assert (rate.at_least, rate.now) == (False, 2.0)


def test_an_input_that_turns_nothing_is_left_out() -> None:
    inputs = break_even_inputs(crossover_scenario(api=api_offer(60.0)))
    assert "demand.peak_to_mean" in [one.name for one in inputs]
    assert "self_host.cached_share" not in [one.name for one in inputs]


def test_each_pool_has_the_phase_that_it_does() -> None:
    pools = (
        replica_pool(name="prefill", output_tokens_per_second=None),
        replica_pool(name="decode", input_tokens_per_second=None),
    )
    scenario = crossover_scenario(pools=pools, demand={"input_share": 0.5})
    names = [one.name for one in break_even_inputs(scenario) if "tokens_per" in one.name]
    assert names == [
        "self_host.pools[0].input_tokens_per_second",
        "self_host.pools[1].output_tokens_per_second",
    ]


def test_inputs_are_named_as_files_have_them() -> None:
    assert path_label(("self_host", "pools", 1, "gpu_hour")) == "self_host.pools[1].gpu_hour"


@given(st.floats(0, 1), st.tuples(*[st.floats(-1e6, 1e6)] * 3).map(sorted))
def test_a_triangle_stays_between_its_ends(chance, corners) -> None:
    low, likely, high = corners
    value = InputRange(("x",), low, likely, high).at(chance)
    assert low - 1e-6 <= value <= high + 1e-6
