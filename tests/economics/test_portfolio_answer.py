"""Scenarios of demand, the rules that a mix is compared with, the ladder, and the answer's reasons."""

from datetime import date
from typing import Any

import numpy as np
import pytest

from apps.economics.portfolio.answer import (
    LadderPlan,
    PortfolioAnswer,
    SolvedMix,
    answer_portfolio,
)
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.ladder import equal_parts, purchase_ladder
from apps.economics.portfolio.question import CapacityHeld, PortfolioQuestion
from apps.economics.portfolio.reading import portfolio_request_of
from apps.economics.portfolio.rules import all_committed_lots, lookback_lots
from apps.economics.portfolio.scenarios import WEEK, DemandGrowth, demand_scenarios
from apps.economics.refusal import Refusal
from tests.economics.portfolios import (
    capacity_offer,
    choices,
    gpu_family,
    hour_by_hour,
    portfolio,
    weighed,
)

FLAT = DemandGrowth()


def drawn(history: np.ndarray, growth: DemandGrowth = FLAT, count: int = 20, hours: int = 500):
    return demand_scenarios(history, growth, hours, count, np.random.default_rng(1))


def test_weeks_of_history_are_put_together_whole() -> None:
    history = np.arange(4 * WEEK + 5, dtype=float)
    demand = drawn(history, count=60)
    assert demand.shape == (60, 500)
    begins = demand[:, ::WEEK]
    assert set(begins.ravel()) == {5.0 + WEEK * week for week in range(4)}
    assert (np.diff(demand[:, :WEEK]) == 1).all()


def test_a_block_a_quarter_of_the_plan_older_is_drawn_half_as_often() -> None:
    two_days = np.repeat([1.0, 2.0], 24)
    demand = drawn(two_days, count=2000, hours=96)[:, ::24]
    assert (demand == 2).mean() == pytest.approx(2 / 3, abs=0.02)


def test_a_short_history_is_drawn_by_days_and_a_shorter_one_repeated() -> None:
    demand = drawn(np.arange(72, dtype=float))
    assert set(demand[:, ::24].ravel()) == {0.0, 24.0, 48.0}
    assert (drawn(np.array([3.0, 4.0]))[:, :4] == [3, 4, 3, 4]).all()


def test_hours_not_observed_are_the_median_of_their_hour_of_the_day() -> None:
    history = np.tile(np.arange(24.0), 3)
    history[[30, 55]] = np.nan
    assert (drawn(history)[:, :24] == np.arange(24)).all()
    history[7::24] = np.nan
    assert (drawn(history)[:, 7] == np.nanmedian(history)).all()


def test_growth_is_by_the_month_and_differs_between_scenarios() -> None:
    ones = np.ones(24)
    assert drawn(ones, DemandGrowth(0.1), hours=1461)[:, [0, 730, 1460]] == pytest.approx(
        np.tile([1, 1.1, 1.21], (20, 1))
    )
    spread = np.log(drawn(ones, DemandGrowth(0.0, 0.2), count=200, hours=731)[:, 730])
    assert (spread.mean(), spread.std()) == (
        pytest.approx(0, abs=1e-9),
        pytest.approx(0.2, rel=0.03),
    )


def test_a_starting_level_scales_what_is_drawn_and_keeps_its_shape() -> None:
    weeks = np.concatenate([np.tile(np.arange(24.0), 7 * 6), np.tile(np.arange(24.0) * 3, 7 * 6)])
    plain, scaled = drawn(weeks), drawn(weeks, DemandGrowth(starting_gpus=40.0), count=20)
    assert scaled == pytest.approx(plain * (scaled.sum() / plain.sum()))
    assert drawn(weeks, DemandGrowth(starting_gpus=40.0), 400, 336).mean() == pytest.approx(
        40, rel=0.03
    )
    assert (drawn(np.zeros(24), DemandGrowth(starting_gpus=40.0)) == 0).all(), (
        "nothing has no shape"
    )


def test_the_look_back_rule_buys_what_would_have_been_best() -> None:
    offers = (
        capacity_offer(name="dear", hourly=0.9),
        capacity_offer(name="best", hourly=0.6),
        capacity_offer(name="later", hourly=0.1, starts_in=2),
        capacity_offer(name="few", family="L4", hourly=0.2, lot=2, most_lots=3),
        capacity_offer(name="unknown", family="T4", hourly=0.2),
    )
    names = ("H100", "L4", "T4")
    question = portfolio(
        *(gpu_family(name=name) for name in names),
        offers=offers,
        held=(CapacityHeld("old", "H100", 6, 0.5, 3), CapacityHeld("over", "H100", 6, 0.5, 0)),
    )
    ten = np.array([10, 12, 14, 16, 18, 20, 22, 24, 26, 40, np.nan])
    histories = {"H100": ten, "L4": ten, "T4": np.array([np.nan])}
    assert list(lookback_lots(question, histories)) == [0, 10, 0, 3, 0]
    levels = {"H100": 40.0, "L4": 5.0, "T4": 7.5}
    assert list(all_committed_lots(question, levels)) == [0, 34, 0, 3, 8]


def test_tranches_are_whole_and_sum_to_what_is_bought() -> None:
    parts = equal_parts(np.array([7.0, 2.0, 0.0]), 3)
    assert [list(part) for part in parts] == [[3, 1, 0], [2, 1, 0], [2, 0, 0]]


def test_the_surest_part_is_bought_first() -> None:
    question = portfolio(gpu_family(spot=None), offers=(capacity_offer(hourly=0.6),))
    ladder = purchase_ladder(PortfolioCosts(question), np.array([30.0]), 3, 2)
    assert [(step.number, step.in_months, step.lots) for step in ladder] == [
        (1, 0, {"a year": 10}), (2, 2, {"a year": 10}), (3, 4, {"a year": 10}),
    ]  # fmt: skip
    assert [(step.from_gpus, step.to_gpus) for step in ladder] == [(0, 10), (10, 20), (20, 30)]
    # Demand is 10, 20, 30, 20 and 12, 41, 60, 38: above 20 in one hour of four, and in three.
    assert [step.expected_utilization for step in ladder] == [1.0, 0.775, 0.5]
    assert [step.pays_in for step in ladder] == [1.0, 1.0, 0.5]
    assert [step.break_even_utilization for step in ladder] == pytest.approx([0.6] * 3)
    assert ladder[1].waiting_cost == pytest.approx(0.175 * 4 * 10)


def brute_mixer(question: PortfolioQuestion, costs: PortfolioCosts) -> SolvedMix:
    def weight(lots: tuple[int, ...]) -> float:
        return weighed(question, hour_by_hour(question, lots))

    return SolvedMix(min(choices(question), key=weight), 0.0, True)


def answered(question: PortfolioQuestion) -> PortfolioAnswer:
    costs = PortfolioCosts(question)
    history = {one.name: one.demand.ravel() for one in question.families}
    return answer_portfolio(costs, history, LadderPlan(), brute_mixer)


@pytest.fixture(scope="module")
def example() -> PortfolioAnswer:
    offers = (
        capacity_offer(name="best", hourly=0.5, most_lots=11, lot=2),
        capacity_offer(name="dear", hourly=0.9, upfront=0.2, most_lots=2),
        capacity_offer(name="beyond", hourly=0.1, starts_in=50, most_lots=1),
    )
    return answered(portfolio(gpu_family(spot=None), offers=offers, risk_weight=0.0))


def test_the_answer_compares_what_is_chosen_with_what_people_do(example) -> None:
    assert example.chosen.lots == {"best": 10}
    # 20 GPUs at 0.50, and beyond them 0, 0, 10, 0 and 0, 21, 40, 18 on demand.
    assert example.chosen.mean_cost == pytest.approx(40 + (10 + 79) / 2)
    assert [choice.name for choice in example.compared] == [
        "nothing new", "look-back rule", "all committed",
    ]  # fmt: skip
    assert min(choice.mean_cost for choice in example.compared) >= example.chosen.mean_cost
    nothing = example.compared[0]
    assert (nothing.lots, nothing.effective_savings_rate) == ({}, 0.0)
    assert example.chosen.effective_savings_rate == pytest.approx(1 - 84.5 / 115.5)
    assert nothing.tail_cost == pytest.approx(151)


def test_each_offer_says_what_one_more_and_one_less_would_come_to(example) -> None:
    best, dear, beyond = example.offers
    assert (best.gpus, best.break_even_utilization) == (20, 0.5)
    # One more pair of GPUs: 4 hours × 2 × 0.50, used in 4 of 8 hours, as the last pair in 6 of 8 are.
    assert best.one_more_lot == pytest.approx(0.0)
    assert best.last_lot == pytest.approx(2 * 6 / 2 - 4)
    assert best.pays_up_to == pytest.approx(0.5)
    assert dear.one_more_lot == pytest.approx(4 / 2 - 3.8)
    assert dear.pays_up_to == pytest.approx(0.5)
    assert (dear.last_lot, beyond.one_more_lot, beyond.break_even_utilization) == (None, None, None)


def test_each_family_says_where_its_hours_come_from(example) -> None:
    (family,) = example.families
    parts = family.parts
    assert parts.committed_used_hours + parts.on_demand_hours == pytest.approx(parts.demand_hours)
    assert family.utilization == pytest.approx((70 + 72) / 160)
    assert family.tenth_utilization == pytest.approx((70 + 0.1 * 2) / 80)
    assert family.gpu_hour_worth == pytest.approx(0.5)


def test_the_answer_says_what_would_change_it(example) -> None:
    assert {change.name: change.lots for change in example.changes}["demand -20%"] == {"best": 8}
    assert len(example.changes) == 5
    assert [step.lots for step in example.ladder] == [{"best": 4}, {"best": 3}, {"best": 3}]


def test_without_offers_there_is_nothing_to_change() -> None:
    nothing = answered(portfolio(gpu_family(np.zeros((1, 4))), offers=()))
    assert (nothing.offers, nothing.ladder, nothing.changes) == ((), (), ())
    assert nothing.chosen.effective_savings_rate is None
    assert nothing.families[0].utilization is None


def document(**given: Any) -> dict[str, Any]:
    family = {"name": "H100", "on_demand": 2.0, "demand": {"hours": [4.0] * 24}}
    offer = {"name": "a year", "family": "H100", "kind": "reserved", "term_months": 12, "hourly": 1}
    stated = {"name": "x", "on": date(2026, 12, 1), "currency": "USD", "months": 1}
    return stated | {"families": [family], "offers": [offer]} | given


def test_a_document_is_read_with_its_defaults() -> None:
    held = {"name": "old", "family": "H100", "gpus": 1, "rate": 1, "ends_on": date(2026, 12, 3)}
    request = portfolio_request_of(document(held=[held]))
    question = request.question([np.full(24, 4.0)])
    assert question.families[0].demand.shape == (50, 730)
    assert question.held[0].ends_in == 48
    assert (question.risk_weight, question.tail, request.plan) == (0.3, 0.9, LadderPlan(3, 1))
    assert question.offers[0].rate == 1


def family_with(**given: Any) -> dict[str, Any]:
    return document(families=[document()["families"][0] | given])


def offer_with(**given: Any) -> dict[str, Any]:
    return document(offers=[document()["offers"][0] | given])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (document(months=0), r"months: 0 is not a whole number from 1"),
        (document(families=[]), r"families: needs 1 at least"),
        (document(offers=document()["offers"] * 2), r"offers\[1\].name: 'a year' is used twice"),
        (family_with(on_demand_quota=5), r"families\[0\].shortage_cost: goes with on_demand_quota"),
        (family_with(on_demand_quota=5, shortage_cost=1), r"shortage_cost: 1 must be at least 2"),
        (family_with(spot_share=0.5), r"families\[0\].spot: is missing, where spot_share"),
        (family_with(demand={}), r"families\[0\].demand.hours: give one of hours, file and series"),
        (family_with(demand={"hours": [1, 2]}), r"demand.hours: 2 hours are no whole days"),
        (family_with(demand={"file": "x.csv"}), r"demand.time: is missing"),
        (family_with(demand={"series": "s", "tim": 1}), r"demand.tim: is not a key"),
        (offer_with(family="A100"), r"offers\[0\].family: 'A100' is none of H100"),
        (offer_with(kind="lease"), r"offers\[0\].kind: 'lease' is none of capacity_block, reserved"),
        (offer_with(hourly=0), r"offers\[0\].hourly: neither this nor upfront"),
        (document(months=60, scenarios=500, families=[
            document()["families"][0] | {"name": name} for name in "AB"], offers=[]),
         r"scenarios: 43,800,000 hours of demand; 10,000,000 are the most"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_key(wrong, message) -> None:
    with pytest.raises(Refusal, match=message):
        portfolio_request_of(wrong)


def test_a_file_or_a_series_is_named_for_who_reads_it() -> None:
    by_file = family_with(demand={"file": "x.csv", "time": "t", "value": "gpus"})
    assert portfolio_request_of(by_file).sources[0].file == "x.csv"
    by_name = family_with(demand={"series": "gpu_hours:pool=a"})
    assert portfolio_request_of(by_name).sources[0].series == ("gpu_hours:pool=a",)


def test_a_history_of_which_no_hour_is_known_is_refused_by_its_family() -> None:
    request = portfolio_request_of(family_with(demand={"series": "gpu_hours"}))
    with pytest.raises(Refusal, match=r"families\[0\].demand: no hour of it is known"):
        request.question([np.array([np.nan])])
