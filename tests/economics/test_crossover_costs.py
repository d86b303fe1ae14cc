"""What self-hosting and an API cost at a volume: closed forms to nine digits."""

from datetime import date
from decimal import Decimal

import pytest

from apps.economics.crossover.demand import RoutedTraffic, TokenDemand, load_levels
from apps.economics.crossover.offers import NoPriceInForce, OfferPrice, PricedVolume, mix_price
from apps.economics.crossover.replicas import Staircase
from apps.economics.crossover.scenario import cost_curves, savings
from apps.economics.tiers import Tier
from tests.economics.crossovers import DAY, api_offer, crossover_scenario, replica_pool

DAY_OF_LOADS = (1.0, 1.0, 2.0, 4.0, 4.0, 2.0, 1.0, 1.0)


def near(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def of_mix(**given) -> Staircase:
    """A replica that reads 30,000 tokens a second or writes 3,000, asked for six of input to one."""
    pool = replica_pool(input_tokens_per_second=30_000.0, output_tokens_per_second=3_000.0)
    return cost_curves(
        crossover_scenario(
            pools=(pool,), demand={"input_share": 9000 / 10500, "peak_to_mean": 1.0}, hosting=given
        )
    ).pools[0]


MIX_VOLUME = 10_500 * 3600 * 730 / 1e6


def test_a_replica_carries_its_throughput_less_headroom_and_peaks() -> None:
    curves = cost_curves(crossover_scenario())
    assert curves.pools[0].capacity == near(2500 * 0.7 / 2 * 3600 * 730 / 1e6)
    assert curves.pools[0].step_cost == near(8 * 2 * 730)
    assert curves.cost_at_scale == near(11_680 / 2299.5)
    assert curves.break_even_utilization == near(11_680 / (6.5 * 2500 * 3600 * 730 / 1e6))


@pytest.mark.parametrize(
    ("volume", "replicas", "month"),
    [(4516, 2, 29_360), (4600, 3, 41_040), (7500, 4, 52_720), (11_600, 6, 76_080)],
)
def test_replicas_are_whole(volume, replicas, month) -> None:
    curves = cost_curves(crossover_scenario())
    assert curves.pools[0].replicas_at(volume) == ((replicas, 1),)
    assert curves.self_host_month(volume) == near(month)
    assert curves.savings(volume) == near(6.5 * volume - month)


def test_a_replica_that_is_full_to_its_last_token_is_one() -> None:
    pool = cost_curves(crossover_scenario()).pools[0]
    for count in range(2, 200):
        assert pool.replicas_at(count * pool.capacity) == ((count, 1),)


def test_load_is_of_both_phases_and_what_the_cache_finds_is_not_computed() -> None:
    assert of_mix().load(MIX_VOLUME) == near(0.8)
    assert of_mix(cached_share=0.5).load(MIX_VOLUME) == near(0.65)
    assert of_mix(cached_share=0.5, cached_work=1.0).load(MIX_VOLUME) == near(0.8)


def test_prefill_and_decode_on_pools_of_their_own_share_the_load() -> None:
    pools = (
        replica_pool(
            name="prefill", input_tokens_per_second=30_000.0, output_tokens_per_second=None
        ),
        replica_pool(name="decode", input_tokens_per_second=None, output_tokens_per_second=3_000.0),
    )
    scenario = crossover_scenario(pools=pools, demand={"input_share": 9000 / 10500})
    prefill, decode = cost_curves(scenario).pools
    assert prefill.load(MIX_VOLUME) == near(0.3)
    assert decode.load(MIX_VOLUME) == near(0.5)


@pytest.mark.parametrize(
    ("lead", "replica_hours"), [(0, 16), (1, 19), (7, 32), (100, 32), (None, 32)]
)
def test_scaling_stands_ready_for_the_hours_ahead(lead, replica_hours) -> None:
    mean = sum(DAY_OF_LOADS) / len(DAY_OF_LOADS)
    assert sum(level * hours for level, hours in load_levels(DAY_OF_LOADS, lead)) == near(
        replica_hours / mean
    )
    pool = replica_pool(lead_hours=lead, least_replicas=1)
    scenario = crossover_scenario(
        pools=(pool,), demand={"hours": DAY_OF_LOADS, "peak_to_mean": 1.0}
    )
    stairs = cost_curves(scenario).pools[0]
    # One replica for each unit of load: what the hours themselves ask for.
    assert stairs.mean_replicas(stairs.capacity * mean) * len(DAY_OF_LOADS) == near(replica_hours)


def test_each_replica_has_the_price_of_its_place() -> None:
    pool = replica_pool(
        committed_replicas=3,
        committed_gpu_hour=1.0,
        least_replicas=4,
        spot_share=0.5,
        spot_gpu_hour=0.6,
        spot_redone_share=0.1,
    )
    curves = cost_curves(crossover_scenario(pools=(pool,), hosting={"fixed": {}}))
    standing = 8 * (3 * 1.0 + 1 * 2.0) * 730
    assert curves.self_host_month(1) == near(standing)
    sixth = 8 * (0.5 * 2.0 + 0.5 * 0.6 * 1.1) * 730
    assert curves.self_host_month(5.5 * curves.pools[0].capacity) == near(standing + 2 * sixth)


def test_a_commitment_is_paid_for_where_nothing_needs_it() -> None:
    pool = replica_pool(committed_replicas=9, committed_gpu_hour=1.0, least_replicas=1)
    curves = cost_curves(crossover_scenario(pools=(pool,), hosting={"fixed": {}}))
    assert curves.self_host_month(1) == near(8 * 9 * 730)
    assert curves.pools[0].mean_replicas(1) == 9


def test_what_is_spent_once_is_spread_over_its_life() -> None:
    spread = crossover_scenario(hosting={"one_time": 36_000.0, "life_months": 24.0})
    assert savings(crossover_scenario()) - savings(spread) == near(1_500)


def test_the_price_of_a_mix_has_its_cached_and_its_batched_parts() -> None:
    price = OfferPrice(DAY, input=3.0, output=15.0, cached=0.30, batch_discount=0.5)
    assert mix_price(price, api_offer(cached_share=0.5), 0.75) == near(4.9875)
    assert mix_price(price, api_offer(cached_share=0.5, batch_share=0.4), 0.75) == near(3.99)
    whole = OfferPrice(DAY, input=3.0, output=15.0)
    assert mix_price(whole, api_offer(cached_share=0.5), 0.75) == near(6.0)


def test_discounts_by_volume_are_of_what_lies_beyond() -> None:
    tiers = (Tier(Decimal(1000), Decimal("0.9")), Tier(Decimal(5000), Decimal("0.8")))
    api = PricedVolume(price=2.0, fixed=100.0, tiers=tiers, token_ratio=1.25)
    assert api.month(8000) == near(100 + 2 * (1000 + 4000 * 0.9 + 5000 * 0.8))
    assert api.corners == (800, 4000)
    assert api.price_at_scale == near(2 * 0.8 * 1.25)
    assert PricedVolume(2.0, token_ratio=1.25).month(800) == near(2000)


def test_no_utilization_breaks_even_with_what_is_free() -> None:
    free = (Tier(Decimal(1000), Decimal(0)),)
    assert cost_curves(crossover_scenario(api=api_offer(tiers=free))).break_even_utilization is None


def test_the_price_is_the_one_in_force_on_the_day() -> None:
    prices = tuple(
        OfferPrice(date(2026, month, 1), input=price, output=price)
        for month, price in ((12, 4.0), (3, 8.0), (9, 6.0))
    )
    offer = api_offer(prices=prices)
    assert [offer.price_on(date(2026, month, 15)).input for month in (3, 8, 9, 12)] == [8, 8, 6, 4]
    assert [price.input for price in offer.changes_after(DAY)] == [4.0]
    with pytest.raises(NoPriceInForce, match="no price in force on 2026-02-01"):
        offer.price_on(date(2026, 2, 1))


def test_a_rate_limit_is_met_in_the_busiest_hour() -> None:
    demand = TokenDemand(1.0, 0.5, peak_to_mean=1.5, hours=(1.0, 3.0))
    offer = api_offer(tokens_per_minute=1e6, token_ratio=2.0)
    assert offer.most_volume(demand) == near(60 * 730 / (1.5 * 1.5 * 2))
    assert api_offer().most_volume(demand) is None


def test_what_a_small_model_cannot_answer_is_answered_twice() -> None:
    routing = RoutedTraffic(share=0.5, escalation_rate=0.2, work_ratio=0.25, price_ratio=0.1)
    assert routing.work_factor == near(0.5 + 0.1 + 0.125)
    assert routing.price_factor == near(0.5 + 0.1 + 0.05)
    plain, routed = (
        cost_curves(crossover_scenario(**given)) for given in ({}, {"routing": routing})
    )
    assert routed.pools[0].capacity == near(plain.pools[0].capacity / 0.725)
    assert routed.api.price == near(plain.api.price * 0.65)


def test_growth_says_when_a_volume_is_there() -> None:
    growing = TokenDemand(1000.0, 0.5, monthly_growth=0.1)
    assert growing.months_until(1210.0) == near(2)
    assert growing.months_until(900.0) == 0
    assert TokenDemand(1000.0, 0.5).months_until(1210.0) is None
