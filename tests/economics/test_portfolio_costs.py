"""The newsvendor's level, and what a choice of commitments costs, against sums by hand."""

from math import inf

import numpy as np
import pytest

from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.newsvendor import (
    break_even_utilization,
    newsvendor_cost,
    newsvendor_level,
    tail_mean,
)
from apps.economics.portfolio.question import CapacityHeld, GpuFamily, PortfolioQuestion
from tests.economics.portfolios import (
    capacity_offer,
    gpu_family,
    hour_by_hour,
    portfolio,
    weighed,
)

TEN_HOURS = np.array([10, 12, 14, 16, 18, 20, 22, 24, 26, 40], float)


def exactly(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def test_the_level_of_least_cost_is_the_critical_fractile() -> None:
    level = newsvendor_level(TEN_HOURS, 0.6, 1.0)
    assert level == 16
    costs = [newsvendor_cost(q, TEN_HOURS, 0.6, 1.0) for q in (16, 0, 20.2, 40)]
    assert costs == exactly([150.0, 202.0, 152.4, 240.0])
    assert min(newsvendor_cost(q, TEN_HOURS, 0.6, 1.0) for q in range(41)) == costs[0]


def test_nothing_is_committed_to_that_costs_no_less() -> None:
    assert newsvendor_level(TEN_HOURS, 1.0, 1.0) == 0


@pytest.mark.parametrize(
    ("rate", "months", "share"),
    [(0.6, 1, 0.6 / 1), (0.6, 12, 0.668886), (0.45, 36, 0.626951)],
)
def test_a_falling_price_on_demand_asks_for_more_use(rate, months, share) -> None:
    decline = 0.02 if months > 1 else 0.0
    found = break_even_utilization(rate, 1.0, months=months, monthly_decline=decline)
    assert found == pytest.approx(share, abs=5e-7)
    by_sum = rate * months / sum((1 - decline) ** month for month in range(months))
    assert found == exactly(by_sum)


def test_the_mean_of_the_worst_counts_a_scenario_in_part() -> None:
    ten = np.arange(1, 11, dtype=float)
    assert tail_mean(ten, 0.8) == exactly(9.5)
    assert tail_mean(ten, 0.85) == exactly((10 + 0.5 * 9) / 1.5)
    assert tail_mean(ten, 0.0) == exactly(5.5)


def of_everything(hours: int = 1500) -> PortfolioQuestion:
    """Two families over three months, with all that there is: held, spot, quotas, falling prices."""
    draw = np.random.default_rng(5)
    families = (
        gpu_family(
            np.round(draw.uniform(0, 40, (3, hours))),
            spot_redone_share=0.1,
            monthly_decline=0.03,
            on_demand_quota=9,
            shortage_cost=4.0,
        ),
        GpuFamily("L4", np.round(draw.uniform(0, 9, (3, hours))), on_demand=0.7, spot=0.69,
                  spot_share=0.5, spot_redone_share=0.2),
        GpuFamily("T4", np.full((3, hours), 2.0), on_demand=0.3),
    )  # fmt: skip
    return PortfolioQuestion(
        families=families,
        offers=(
            capacity_offer(term_hours=900, lot=4),
            capacity_offer(name="later", family="L4", term_hours=9000, starts_in=400, upfront=2000,
                           hourly=0.0),
        ),
        held=(
            CapacityHeld("old", "H100", 6, 0.5, 700),
            CapacityHeld("over", "L4", 5, 0.5, -10),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("lots", [(0, 0), (3, 2), (20, 20)])
def test_every_hour_is_served_by_the_cheapest_that_is_left(lots) -> None:
    question = of_everything()
    costs = PortfolioCosts(question)
    chosen = np.array(lots, float)
    by_hand = hour_by_hour(question, lots)
    assert costs.scenario_costs(chosen) == exactly(by_hand)
    assert costs.objective(chosen) == exactly(weighed(question, by_hand))


def test_parts_of_a_familys_hours_and_money_sum_to_the_whole() -> None:
    question = of_everything()
    costs = PortfolioCosts(question)
    lots = np.array([3.0, 2.0])
    mean = costs.held_cost + float(costs.lot_costs @ lots)
    for family, mine in zip(costs.families, costs.places, strict=True):
        parts = family.parts(lots[mine])
        assert parts.demand_hours == exactly(
            parts.committed_used_hours
            + parts.spot_hours
            + parts.on_demand_hours
            + parts.short_hours
        )
        assert 0 <= parts.committed_used_hours <= parts.committed_hours
        mean += parts.spot_cost + parts.on_demand_cost + parts.short_cost
    assert mean == exactly(float(np.mean(hour_by_hour(question, (3, 2)))))
    assert costs.families[2].parts(lots[[]]).on_demand_equivalent == exactly(2 * 1500 * 0.3)


def test_a_lot_is_worth_the_slope_of_what_stays_uncommitted() -> None:
    question = of_everything()
    costs = PortfolioCosts(question)
    lots = np.array([2.5, 1.5])
    before, worth = costs.recourse(lots)
    for offer in range(2):
        for step in (-1.0, 0.25, 3.0):
            moved = lots.copy()
            moved[offer] += step
            after = costs.recourse(moved)[0].sum(axis=1)
            assert (after >= before.sum(axis=1) - step * worth[:, offer] - 1e-6).all()


def test_an_offer_costs_its_part_of_the_planned_hours() -> None:
    offer = capacity_offer(term_hours=8760, upfront=876, hourly=0.2, lot=8, starts_in=10)
    assert offer.rate == exactly(0.3)
    assert offer.amortised_cost(110) == exactly(8 * 0.3 * 100)
    assert offer.amortised_cost(5) == 0
    assert portfolio().budget == inf
