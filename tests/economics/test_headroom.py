"""Capacity to have ready: published and hand-made figures, and the least cost by trying."""

from collections.abc import Callable
from math import exp, factorial, inf
from statistics import NormalDist

import pytest

from apps.economics.forecast.names import SEEN_LEVELS
from apps.economics.headroom import (
    critical_level,
    demand_quantile,
    erlang_c,
    least_servers,
    mean_wait,
    square_root_servers,
)
from apps.economics.hours_ahead import HoursAhead

LEVELS = [round(0.1 * place, 1) for place in range(1, 10)]


def uniform(*tops: float) -> HoursAhead:
    """Hours whose demand is anywhere from 0 to its top, each value alike likely."""
    return HoursAhead(
        [top / 2 for top in tops], {level: [level * top for top in tops] for level in LEVELS}
    )


def test_the_level_is_the_critical_fractile() -> None:
    assert critical_level(3, 1) == 0.75
    assert critical_level(0.4, 0.6) == pytest.approx(0.4)


def test_erlang_c_has_the_figures_of_the_tables() -> None:
    assert erlang_c(10, 8) == pytest.approx(0.409180, abs=5e-7)
    assert mean_wait(10, 8) == pytest.approx(0.20459, abs=5e-6)
    assert least_servers(8, 0.1) == 13
    assert erlang_c(1, 0.5) == pytest.approx(0.5), "of one server it is the load"
    assert erlang_c(8, 8) == erlang_c(3, 8) == 1.0


@pytest.mark.parametrize(("servers", "load"), [(2, 1.5), (10, 8.0), (64, 50.0), (100, 99.0)])
def test_erlang_c_is_the_sum_of_its_definition(servers: int, load: float) -> None:
    terms = [load**busy / factorial(busy) * exp(-load) for busy in range(servers)]
    waits = load**servers / factorial(servers) * exp(-load) * servers / (servers - load)
    assert erlang_c(servers, load) == pytest.approx(waits / (sum(terms) + waits), rel=1e-9)


def test_the_fewest_servers_keep_the_promise_and_one_fewer_does_not() -> None:
    for load in (0.3, 8.0, 40.5, 100_000.0):
        servers = least_servers(load, 0.05)
        assert erlang_c(servers, load) <= 0.05 < erlang_c(servers - 1, load)
    assert square_root_servers(100, 1.5) == 115


def test_a_quantile_is_that_of_the_hour_and_goes_on_beyond_the_outermost() -> None:
    one = uniform(100)
    for level in (0.02, 0.1, 0.55, 0.9):
        assert demand_quantile(one, 0, 1, level) == pytest.approx(100 * level, abs=1e-6)


@pytest.mark.parametrize(
    "drawn", [NormalDist(100, 20).inv_cdf, lambda level: exp(4 + 0.6 * NormalDist().inv_cdf(level))]
)
@pytest.mark.parametrize("level", [0.93, 0.95, 0.99, 0.995])
def test_above_the_highest_quantile_capacity_suffices_as_often_as_asked(
    drawn: Callable[[float], float], level: float
) -> None:
    hour = HoursAhead([drawn(0.5)], {each: [drawn(each)] for each in LEVELS})
    found = demand_quantile(hour, 0, 1, level)
    assert found is not None
    assert drawn(level) <= found <= 1.5 * drawn(level), "safe, and no multiple of what is needed"


def test_hours_together_are_a_mixture_and_beyond_the_end_the_last_ones_come_again() -> None:
    two = uniform(100, 200)
    assert demand_quantile(two, 0, 2, 0.6) == pytest.approx(80), "80 % of one, 40 % of the other"
    assert demand_quantile(two, 1, 1, 0.75) == pytest.approx(150)
    # The last of two hours stands for the third and the fourth.
    assert demand_quantile(two, 0, 4, 0.5) == pytest.approx(80)


def test_the_quantile_costs_least_of_all_capacities() -> None:
    tops, short, idle = (40.0, 100.0, 160.0), 5.0, 2.0

    def cost(capacity: float) -> float:
        """Expected, of demand that is uniform up to each top: E(c − D)⁺ is c − top ÷ 2 from the top on."""
        total = 0.0
        for top in tops:
            over = capacity - top / 2 if capacity >= top else capacity**2 / (2 * top)
            under = 0.0 if capacity >= top else (top - capacity) ** 2 / (2 * top)
            total += idle * over + short * under
        return total

    best = demand_quantile(uniform(*tops), 0, 3, critical_level(short, idle))
    assert best is not None
    tried = [step / 4 for step in range(4 * 160)]
    # Of the hour of up to 40 GPUs the tail lies beyond its highest quantile: that much is not known.
    assert cost(best) <= 1.0001 * min(map(cost, tried))


def test_flat_and_single_quantiles_are_steps_and_none_is_unknown() -> None:
    flat = HoursAhead([10.0], {level: [10.0] for level in LEVELS})
    assert demand_quantile(flat, 0, 24, 0.8) == pytest.approx(10)
    apart = HoursAhead([10.0, 50.0], {level: [10.0, 50.0] for level in LEVELS})
    assert demand_quantile(apart, 0, 2, 0.5) == pytest.approx(10)
    assert demand_quantile(apart, 0, 2, 0.51) == pytest.approx(50)
    assert demand_quantile(HoursAhead([7.0], {0.5: [7.0]}), 0, 1, 0.99) == pytest.approx(7)
    assert demand_quantile(HoursAhead([7.0], {}), 0, 1, 0.99) is None
    falls = HoursAhead([0.5], {0.1: [0.0], 0.9: [8.0]})
    assert demand_quantile(falls, 0, 1, 0.01) == pytest.approx(0, abs=1e-6), "never below nothing"


def rare(share: float, size: float = 8.0, ceiling: float = inf) -> HoursAhead:
    """Hours of which so small a share has demand that each of the nine quantiles is 0."""
    seen = [size if level > 1 - share else 0.0 for level in SEEN_LEVELS]
    return HoursAhead(
        [0.0] * 24, {level: [0.0] * 24 for level in LEVELS}, seen=seen, ceiling=ceiling
    )


@pytest.mark.parametrize("share", [0.03, 0.08])
def test_of_rare_demand_a_high_level_covers_what_came(share: float) -> None:
    assert demand_quantile(rare(share), 0, 24, 1 - share / 2) == pytest.approx(8, abs=1e-6)
    assert demand_quantile(rare(share), 0, 24, 0.9) == pytest.approx(0, abs=1e-6)
    assert demand_quantile(rare(0.0), 0, 24, 0.99) == pytest.approx(0, abs=1e-6)


def test_of_what_came_in_one_hour_of_two_hundred_the_level_says_how_much_is_covered() -> None:
    found = demand_quantile(rare(0.005), 0, 24, 0.98)
    assert found == pytest.approx(0, abs=1e-6), "in 99.5 of 100 hours nothing is enough"
    assert demand_quantile(rare(0.005), 0, 24, 0.999) == pytest.approx(8, abs=1e-6)


@pytest.mark.parametrize("level", [0.95, 0.99, 0.9999])
def test_no_tail_goes_above_the_ceiling_if_the_quantiles_are_not(level: float) -> None:
    spread = {each: [100 * each] for each in LEVELS}
    free = demand_quantile(HoursAhead([50.0], spread), 0, 1, level)
    held = demand_quantile(HoursAhead([50.0], spread, ceiling=95.0), 0, 1, level)
    assert free is not None
    assert held == pytest.approx(min(free, 95.0), abs=1e-6)
    low = demand_quantile(HoursAhead([50.0], spread, ceiling=20.0), 0, 1, level)
    assert low == pytest.approx(90, abs=1e-6), "what the quantiles say is needed stays needed"
