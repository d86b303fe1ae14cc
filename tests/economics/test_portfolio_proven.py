"""A portfolio answers with what did best on its own history, and buys no more than that history bears."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.gates import GateName
from apps.economics.portfolio.answer import LadderPlan, Mixer, SolvedMix, answer_portfolio
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.proven import (
    BoundedOffers,
    best_rule,
    bounded_offers,
    portfolio_gates,
    tried_rules,
    wanted_gpus,
)
from apps.economics.portfolio.question import CapacityHeld, PortfolioQuestion, WaitingDemand
from apps.economics.portfolio.rules import CHOSEN, LOOK_BACK, NEWSVENDORS, rules_of
from apps.economics.portfolio.whole import whole_gate
from tests.economics.portfolios import capacity_offer, gpu_family, portfolio

WEEK_OF_HOURS, LAST_WEEK = 168, next(iter(NEWSVENDORS))


def asked(histories: Sequence[np.ndarray], hours: int) -> PortfolioQuestion:
    demand = np.resize(histories[0], (1, hours))
    question: PortfolioQuestion = portfolio(
        gpu_family(demand, spot=None), offers=(capacity_offer(hourly=0.6),)
    )
    return question


def buys(lots: int) -> Mixer:
    return lambda question, costs: SolvedMix((lots,), 0.0, True)


def test_the_rule_that_did_best_on_the_history_is_the_answer() -> None:
    # Demand doubled two weeks ago: a rule that looks back for a month has not seen enough of it.
    history = np.concatenate([np.full(28 * 24, 10.0), np.full(17 * 24, 20.0)])
    tried = tried_rules({"H100": history}, asked, buys(0), 10 * 24)
    assert set(tried) == {CHOSEN, LOOK_BACK, *NEWSVENDORS}
    assert best_rule(tried) == LAST_WEEK
    # On demand every hour of it costs 1, of what is committed 0.6.
    assert tried[CHOSEN] == pytest.approx(3 * 10 * 24 * 20 - 3 * 24 * 10, rel=0.2)
    assert tried_rules({"H100": history}, asked, buys(20), 10 * 24)[CHOSEN] < tried[CHOSEN]
    assert best_rule({CHOSEN: 5.0, LOOK_BACK: 5.0}) == CHOSEN
    assert best_rule({}) == CHOSEN


def test_a_history_too_short_for_a_try_tells_nothing() -> None:
    assert tried_rules({"H100": np.ones(8 * 24)}, asked, buys(1)) == {}
    assert len(tried_rules({"H100": np.ones(11 * 24)}, asked, buys(1))) == 4


def test_hours_that_nobody_knows_are_no_history() -> None:
    """Ninety days of which the last ten hours, or weeks, are known bear what these do."""
    history = np.full(90 * 24, np.nan)
    history[-10:] = 16.0
    question = portfolio(
        gpu_family(np.full((1, 720), 16.0), spot=None),
        offers=(capacity_offer(hourly=0.6, term_hours=12 * MONTH_HOURS),),
    )
    found = bounded_offers(question, {"H100": history}, 0.5, {})
    assert found.cautions["a year"].startswith("0 days of history for a term of 365")
    assert found.question.offers[0].most_lots == 8
    gate = portfolio_gates({}, question.offers, {"H100": history}, found)[-1]
    assert (gate.name, gate.is_passed) == (GateName.HISTORY, False)
    history[-20 * 24 :] = 16.0
    assert len(tried_rules({"H100": history}, asked, buys(1), 240)) == 4, "no try before it"


def test_a_rule_beyond_the_budget_is_not_said_to_have_answered() -> None:
    history = np.full(720, 20.0)
    question = portfolio(gpu_family(spot=None), offers=(capacity_offer(hourly=0.6),))
    found = BoundedOffers(question, {})
    tried = {CHOSEN: 2.0, LAST_WEEK: 1.0}
    gate = portfolio_gates(tried, (), {"H100": history}, found, None, CHOSEN)[0]
    assert gate.is_passed is False
    assert "more than the budget or the limits allow" in gate.says
    assert gate.fallback == "the mix of scenarios, which keeps to them"
    assert portfolio_gates(tried, (), {"H100": history}, found, None, LAST_WEEK)[0].fallback == (
        LAST_WEEK
    )


def test_the_answer_is_the_rules_where_it_did_better_and_says_so() -> None:
    question = portfolio(gpu_family(spot=None), offers=(capacity_offer(hourly=0.6),))
    histories = {"H100": np.full(720, 20.0)}
    costs = PortfolioCosts(question)
    answer = answer_portfolio(costs, histories, LadderPlan(), buys(3), LOOK_BACK)
    assert (answer.answered_by, answer.chosen.lots) == (LOOK_BACK, {"a year": 20})
    assert {each.name: each.lots for each in answer.compared}["mix of scenarios"] == {"a year": 3}
    assert answer.changes == ()
    tight = portfolio(
        gpu_family(spot=None), offers=(capacity_offer(hourly=0.6),), budget=0.6 * 4 * 5
    )
    kept = answer_portfolio(PortfolioCosts(tight), histories, LadderPlan(), buys(3), LOOK_BACK)
    assert (kept.answered_by, kept.chosen.lots) == (CHOSEN, {"a year": 3})


def bounded(history: np.ndarray, **given: object) -> tuple[PortfolioQuestion, BoundedOffers]:
    question = portfolio(
        gpu_family(spot=None),
        offers=(
            capacity_offer(term_hours=12 * 730),
            capacity_offer(name="a month", term_hours=730, lot=2, most_lots=3),
        ),
        **given,
    )
    return question, bounded_offers(question, {"H100": history}, 0.5, {})


def test_a_family_that_rests_buys_nothing() -> None:
    _, found = bounded(np.concatenate([np.full(2000, 30.0), np.zeros(WEEK_OF_HOURS)]))
    assert [offer.most_lots for offer in found.question.offers] == [0, 0]
    assert all("next to no demand" in why for why in found.cautions.values())


def test_a_term_of_over_three_times_the_history_buys_a_part_of_the_quietest_day() -> None:
    history = np.full(20 * 24, 30.0)
    history[:24] = 12.0
    _, found = bounded(history)
    # Half of twelve for the year; a month is no more than three times 20 days.
    assert [offer.most_lots for offer in found.question.offers] == [6, 3]
    assert found.cautions == {
        "a year": "20 days of history for a term of 365 days, over 3 times as long: at most 50% of what the quietest day had in use at once (RUNRATE_UNPROVEN_PERCENT sets it)"
    }
    held = (CapacityHeld("old", "H100", 4, 0.5, 4),)
    assert [offer.most_lots for offer in bounded(history, held=held)[1].question.offers] == [2, 3]
    # What may not be bought is no rule's either.
    rests = np.append(history, np.zeros(WEEK_OF_HOURS))
    rules = rules_of(bounded(rests)[1].question, {"H100": history})
    assert list(rules[LOOK_BACK]) == [0, 0]


def test_no_more_is_bought_than_was_ever_there_at_once() -> None:
    history = np.full(400 * 24, 5.0)
    question = portfolio(gpu_family(spot=None), offers=(capacity_offer(),))
    most = bounded_offers(question, {"H100": history}, 0.5, {}).question.offers[0].most_lots
    more = bounded_offers(question, {"H100": history}, 0.5, {"H100": 9.0}).question.offers[0]
    assert (most, more.most_lots) == (5, 9)


def test_gates_say_what_it_was_held_against_and_what_each_purchase_rests_on() -> None:
    history = np.full(20 * 24, 30.0)
    question, found = bounded(history)
    tried = {CHOSEN: 120.0, LOOK_BACK: 100.0}
    baseline, *rests = portfolio_gates(tried, question.offers, {"H100": history}, found)
    assert (baseline.name, baseline.is_passed, baseline.fallback) == (
        GateName.BASELINE,
        False,
        LOOK_BACK,
    )
    assert "120" in baseline.says
    assert [gate.name for gate in rests] == [
        GateName.CAPACITY,
        GateName.COVERAGE,
        *[GateName.HISTORY] * 2,
    ]
    assert all("20 days of history" in gate.says for gate in rests[2:])
    nothing = portfolio_gates({}, (), {"H100": history}, found)
    assert [gate.is_passed for gate in nothing] == [None] * 4


@given(st.integers(1, 60), st.integers(1, 24), st.integers(0, 24))
def test_the_ladder_lies_in_the_planned_months(months: int, tranches: int, between: int) -> None:
    plan = LadderPlan(tranches, between).within(months * MONTH_HOURS)
    assert 1 <= plan.tranches <= tranches
    assert (plan.tranches - 1) * plan.months_between < months


def test_families_are_the_parts_of_all_gpus_with_what_waits() -> None:
    waits = WaitingDemand(most_wanted=9.0, most_there=4.0, gpu_hours=8.0, price=None)
    question = portfolio(
        gpu_family([[1, 2, 3, 4], [1, 2, 3, 4]], name="A"),
        gpu_family([[4, 4, 4, 4], [4, 4, 4, 4]], name="B", waiting=waits),
    )
    wanted = wanted_gpus(question)
    assert wanted == {"A": 2.5, "B": 6.0}
    assert whole_gate(wanted, 8.0).is_passed is True
    off = whole_gate(wanted, 20.0)
    assert (off.is_passed, bool(off.fallback)) == (False, True)
    assert (
        off.says == "its families ask for 8.5 GPUs on the mean, and 20 are forecast of all together"
    )
    unknown = whole_gate(wanted, "no forecast")
    assert (unknown.is_passed, unknown.says) == (None, "no forecast")
