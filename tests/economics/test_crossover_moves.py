"""Inputs that move, by themselves or by a slider, and the bands of both sides against volume."""

from dataclasses import replace
from datetime import date

import pytest

from apps.economics.crossover.answer import QUICK_ANSWER, CrossoverQuestion, answer_question
from apps.economics.crossover.bands import cost_bands
from apps.economics.crossover.moves import moved_inputs, question_with
from apps.economics.crossover.offers import OfferPrice
from apps.economics.crossover.scenario import cost_curves, savings
from apps.economics.crossover.sliders import moved_values, sliders_of
from apps.economics.crossover.uncertainty import InputRange, input_at, with_inputs
from tests.economics.crossovers import (
    api_offer,
    chances,
    crossover_scenario,
    replica_pool,
)

GPU_HOUR = ("self_host", "pools", 0, "gpu_hour")
VOLUME = ("demand", "million_tokens")


def test_each_move_says_what_it_alone_does_and_the_largest_stands_first() -> None:
    before = crossover_scenario()
    now = with_inputs(before, {GPU_HOUR: 2.1, VOLUME: 12_000.0})
    moves = moved_inputs(before, now)
    assert {move.name for move in moves} == {"self_host.pools[0].gpu_hour", "demand.million_tokens"}
    for move, path in zip(moves, (VOLUME, GPU_HOUR), strict=True):
        alone = savings(with_inputs(before, {path: input_at(now, path)})) - savings(before)
        assert move.savings_change == pytest.approx(alone)
    assert abs(moves[0].savings_change or 0) > abs(moves[1].savings_change or 0)
    assert moved_inputs(before, before) == []


def test_a_day_on_which_other_prices_hold_is_a_move_and_so_is_a_pool_that_is_new() -> None:
    later = OfferPrice(date(2026, 12, 1), input=1.0, output=1.0)
    offer = replace(api_offer(), prices=(*api_offer().prices, later))
    before = crossover_scenario(api=offer)
    (moved,) = moved_inputs(before, replace(before, on=date(2026, 12, 24)))
    assert (moved.name, moved.before, moved.now) == ("on", "2026-11-01", "2026-12-24")
    assert moved.savings_change == pytest.approx(9_000 * (1.0 - 6.5))
    engine = replica_pool(output_tokens_per_second=None)
    decode = replica_pool(name="decode", input_tokens_per_second=None)
    split = moved_inputs(before, crossover_scenario(api=offer, pools=(engine, decode)))
    assert any(
        move.name == "self_host.pools[1].gpu_hour" and move.savings_change is None for move in split
    )


def test_a_slider_moves_all_that_belongs_to_it_and_what_is_moved_is_certain() -> None:
    pools = (
        replica_pool(output_tokens_per_second=None, headroom=0.5),
        replica_pool(input_tokens_per_second=None, gpu_hour=3.0, headroom=0.8, spot_gpu_hour=1.0),
    )
    scenario = crossover_scenario(pools=pools, demand={"input_share": 0.5})
    question = CrossoverQuestion(
        scenario, ranges=(InputRange(GPU_HOUR, 1.0, 2.0, 3.0), InputRange(VOLUME, 1.0, 9e3, 2e4))
    )
    sliders = sliders_of(question, durable=40_000.0)
    by_name = {slider.name: slider for slider in sliders}
    assert by_name["million_tokens"].most == 60_000.0
    values = moved_values(scenario, sliders, {"gpu_hour": 3.0, "headroom": 0.75, "api_input": 6.5})
    moved = question_with(question, values)
    first, second = moved.scenario.self_host.pools
    assert (first.gpu_hour, second.gpu_hour, second.spot_gpu_hour) == (3.0, 4.5, 1.5)
    assert (first.headroom, second.headroom) == (0.75, 1.0), "no more than all of it"
    assert moved.scenario.api == scenario.api, "a slider that was not moved moves nothing"
    assert [each.path for each in moved.ranges] == [VOLUME]


def test_what_costs_nothing_has_no_slider() -> None:
    free = crossover_scenario(pools=(replica_pool(gpu_hour=0.0),))
    names = [slider.name for slider in sliders_of(CrossoverQuestion(free), None)]
    assert names == ["million_tokens", "headroom", "cached_share", "api_input", "api_cached_share"]


def test_bands_lie_around_both_lines_and_are_the_tenths_of_the_draws() -> None:
    prices = (("api", "prices", 0, "input"), ("api", "prices", 0, "output"))
    ranges = (
        InputRange(GPU_HOUR, 1.5, 2.0, 3.0),
        *(InputRange(path, 5.0, 6.5, 8.0, "api") for path in prices),
    )
    question = CrossoverQuestion(crossover_scenario(), ranges)
    low, high = cost_bands(question, [1_000.0, 9_000.0], 400, chances(3))
    curves = cost_curves(question.scenario)
    for band in (low, high):
        volume = band.million_tokens
        assert band.self_host_low < curves.self_host_month(volume) < band.self_host_high
        assert band.api_low < curves.api.month(volume) < band.api_high
    # A tenth of a triangle from 5 over 6.5 to 8 lies below 5 + sqrt(0.1 × 3 × 1.5).
    assert high.api_low / 9_000 == pytest.approx(5 + 0.45**0.5, rel=0.02)
    assert cost_bands(CrossoverQuestion(crossover_scenario()), [1.0], 9, chances(1)) == []


def test_a_quick_answer_draws_less_and_says_so() -> None:
    question = CrossoverQuestion(crossover_scenario(), (InputRange(GPU_HOUR, 1.0, 2.0, 3.0),))
    quick = answer_question(question, chances(1), QUICK_ANSWER)
    whole = answer_question(question, chances(1))
    assert quick.uncertainty is not None
    assert whole.uncertainty is not None
    assert (quick.uncertainty.draws, whole.uncertainty.draws) == (200, 5_000)
    assert quick.uncertainty.break_even_draws == 40
    assert (quick.search, quick.costs, quick.tornado) == (whole.search, whole.costs, whole.tornado)


def test_utilization_counts_gpus_of_all_pools() -> None:
    curves = cost_curves(crossover_scenario())
    (pool,) = curves.pools
    assert curves.utilization(9_000.0) == pytest.approx(
        pool.load(9_000.0) / pool.mean_replicas(9_000.0)
    )
