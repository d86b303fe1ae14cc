"""The least-cost mix of commitments against all choices, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.question import CapacityHeld, PortfolioQuestion
from apps.planning.solvers.commitment_mix import (
    BLOCKED_SLACK,
    BlockedAbove,
    CommitmentMix,
    NoProvenMix,
    least_cost_mix,
)
from tests.economics.portfolios import (
    TWO_SCENARIOS,
    blocked_part,
    capacity_offer,
    choices,
    gpu_family,
    hour_by_hour,
    portfolio,
    weighed,
)

WITHIN = 1.005


def solved(question: PortfolioQuestion, gap: float = 1e-3) -> CommitmentMix:
    return least_cost_mix(question, PortfolioCosts(question), gap=gap)


@pytest.mark.parametrize(("risk_weight", "cost", "gpus"), [(0, 75.825, 20), (1, 94.9, 30.75)])
def test_mean_and_tail_choose_differently(risk_weight, cost, gpus) -> None:
    """In quarters of a GPU, so that whole lots are the best fractions too."""
    quarters = gpu_family(4 * TWO_SCENARIOS)
    mix = solved(portfolio(quarters, risk_weight=risk_weight, tail=0.5), gap=1e-10)
    assert mix.objective / 4 == pytest.approx(cost, rel=1e-9)
    assert mix.lots[0] / 4 == gpus
    assert mix.gap <= 1e-9


def test_a_solver_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.planning.solvers.commitment_mix.MOST_SECONDS", 0.0)
    with pytest.raises(NoProvenMix, match="did not end within 0 seconds: plan fewer months"):
        solved(portfolio(gpu_family(TWO_SCENARIOS)))


@st.composite
def questions(draw: st.DrawFn) -> PortfolioQuestion:
    """One or two families, up to three offers, four hours of two scenarios."""
    rates = st.floats(0.1, 1.2)
    families = tuple(
        gpu_family(
            np.array(draw(st.lists(st.integers(0, 7), min_size=8, max_size=8))).reshape(2, 4),
            name=name,
            spot=draw(st.none() | st.floats(0.1, 1.1)),
            spot_share=draw(st.sampled_from([0.0, 0.3])),
            on_demand_quota=draw(st.sampled_from([3.0, float("inf")])),
            shortage_cost=draw(st.floats(1.0, 5.0)),
        )
        for name in draw(st.sampled_from([("H100",), ("H100", "L4")]))
    )
    offers = tuple(
        capacity_offer(
            family=draw(st.sampled_from(families)).name,
            hourly=draw(rates),
            upfront=draw(st.sampled_from([0.0, 1.5])),
            lot=draw(st.sampled_from([1, 2, 3])),
            starts_in=draw(st.integers(0, 2)),
            term_hours=draw(st.integers(2, 6)),
            most_lots=draw(st.integers(0, 5)),
        )
        for _ in range(draw(st.integers(1, 3)))
    )
    return PortfolioQuestion(
        families,
        offers,
        held=(CapacityHeld("old", "H100", draw(st.integers(0, 4)), 0.5, draw(st.integers(1, 6))),),
        risk_weight=draw(st.sampled_from([0.0, 0.3, 1.0])),
        tail=draw(st.sampled_from([0.5, 0.9])),
        budget=draw(st.sampled_from([8.0, float("inf")])),
        upfront_budget=draw(st.sampled_from([3.0, float("inf")])),
        most_blocked=draw(st.sampled_from([0.0, 0.1, 0.25, float("inf")])),
        blocked_tail=draw(st.sampled_from([0.0, 0.5])),
    )


@given(question=questions())
def test_no_choice_within_the_limits_costs_less_by_half_a_percent(
    question: PortfolioQuestion,
) -> None:
    allowed = {
        lots: weighed(question, hour_by_hour(question, lots))
        for lots in choices(question)
        if blocked_part(question, lots) <= question.most_blocked + BLOCKED_SLACK
    }
    if not allowed:
        with pytest.raises(BlockedAbove):
            solved(question)
        return
    mix = solved(question)
    assert mix.lots in allowed
    least = min(allowed.values())
    assert mix.objective == pytest.approx(allowed[mix.lots], abs=1e-9)
    assert mix.objective <= least * WITHIN + 1e-9
    assert mix.bound <= least + 1e-6


def test_what_begins_after_the_planned_hours_is_not_bought() -> None:
    later = capacity_offer(name="later", hourly=0.01, starts_in=4)
    assert solved(portfolio(offers=(capacity_offer(hourly=2.0), later))).lots == (0, 0)


def test_without_offers_all_stays_as_it_is() -> None:
    question = portfolio(offers=())
    mix = solved(question)
    assert (mix.lots, mix.gap) == ((), 0.0)
    assert mix.objective == pytest.approx(weighed(question, hour_by_hour(question, ())))
