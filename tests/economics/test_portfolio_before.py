"""What choices would have come to in a month that is over, and documents laid over each other."""

from math import nan

import numpy as np
import pytest

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.answer import SolvedMix
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.duration import duration_steps
from apps.economics.portfolio.held_out import (
    HELD_OUT_HOURS,
    LEAST_BEFORE,
    foresight_costs,
    held_out_choices,
)
from apps.economics.portfolio.names import month_after
from apps.economics.portfolio.overlay import completed, overlaid
from apps.economics.portfolio.question import CapacityHeld, PortfolioQuestion
from apps.economics.portfolio.savings import (
    HoursInService,
    PaidCapacity,
    SavingsRate,
    savings_rates,
)
from apps.economics.refusal import Refusal
from tests.economics.portfolios import capacity_offer, gpu_family, portfolio

BEFORE, HELD_OUT = 10.0, 4.0


def history() -> Floats:
    """Ten GPUs until a month ago, four since; an hour of either is not known."""
    hours = np.repeat([BEFORE, HELD_OUT], [LEAST_BEFORE, HELD_OUT_HOURS])
    hours[[5, -5]] = nan
    return hours


def drawn(histories: list[Floats], hours: int) -> PortfolioQuestion:
    """Demand goes on as it was at the start of the history."""
    demand = np.full((2, hours), histories[0][0])
    return portfolio(
        gpu_family(demand, spot=None, spot_share=0.0),
        offers=(capacity_offer(term_hours=8760),),
        held=(CapacityHeld("old", "H100", 1, 0.5, 1), CapacityHeld("over", "H100", 1, 0.5, 0)),
    )


def to_the_peak(question: PortfolioQuestion, costs: PortfolioCosts) -> SolvedMix:
    """Commits to all demand: what is best where committing costs less."""
    return SolvedMix(
        tuple(
            int(family.family.demand.max() - family.held_gpus.max())
            for family, mine in zip(costs.families, costs.places, strict=True)
            if len(mine)
        ),
        0.0,
        True,
    )


def the_last_offer(question: PortfolioQuestion, costs: PortfolioCosts) -> SolvedMix:
    """All that it may have of the last offer, as far as demand goes; what is held comes last."""
    *others, last = question.offers
    assert (last.name, last.most_lots) == ("held: old", 50)
    return SolvedMix((*(0 for _ in others), int(question.families[0].demand.max())), 0.0, True)


def test_choices_are_made_before_the_month_and_paid_over_it() -> None:
    chosen, nothing, look_back, committed = held_out_choices(
        {"H100": history()}, drawn, to_the_peak
    )
    # One GPU is held at 0.5; nine more at 0.55 stand for a demand of four, or three are bought at 1.
    assert (chosen.lots, chosen.cost) == ({"a year": 9}, pytest.approx(730 * (0.5 + 9 * 0.55)))
    assert (nothing.lots, nothing.cost) == ({}, pytest.approx(730 * (0.5 + 3)))
    assert look_back.lots == committed.lots == {"a year": 9}
    assert nothing.effective_savings_rate == pytest.approx(1 - 3.5 / 4)
    assert nothing.blocked_part == 0


def test_nothing_needed_in_the_month_has_no_savings_rate() -> None:
    idle = np.concatenate([history()[:LEAST_BEFORE], np.zeros(HELD_OUT_HOURS)])
    choices = held_out_choices({"H100": idle}, drawn, to_the_peak)
    assert choices[1].effective_savings_rate is None


def test_foresight_has_the_offers_from_the_first_hour_on_and_what_is_held() -> None:
    question = portfolio(
        gpu_family(spot=None, spot_share=0.0, on_demand_quota=1.0, shortage_cost=9.0),
        gpu_family(name="L4"),
        offers=(capacity_offer(starts_in=3), capacity_offer(name="other", family="L4")),
        held=(CapacityHeld("old", "H100", 50, 0.5, 4),),
    )
    in_service = {"H100": HoursInService([2.0, 2.0], 3.0)}
    # Two GPUs for two hours: at 0.50 as what is held, of which there are fifty, and none at 0.55.
    assert foresight_costs(question, in_service, the_last_offer) == {"H100": pytest.approx(2.0)}
    assert foresight_costs(question, {}, the_last_offer) == {}


def test_savings_rates_are_of_families_of_which_all_is_known() -> None:
    capacity = [
        PaidCapacity("a", 100.0, 80.0),
        PaidCapacity("b", 100.0, 140.0),
        PaidCapacity("left early", 50.0, 20.0),
        PaidCapacity("unpriced", None, 5.0),
        PaidCapacity("unpaid", 100.0, None),
        PaidCapacity("not asked", 100.0, 80.0),
    ]
    least = {"a": 50.0, "b": 60.0, "left early": 30.0, "unpriced": 1.0, "unpaid": 1.0}
    whole, each = savings_rates(capacity, least)
    assert whole == SavingsRate(("a", "b", "left early"), 250.0, 240.0, 130.0)
    assert (whole.effective, whole.attainable) == (0.04, 0.48)
    assert [(name, rate.effective, rate.attainable) for name, rate in each] == [
        ("a", 0.2, 0.5), ("b", -0.4, 0.4), ("left early", 0.6, 0.6),
    ]  # fmt: skip
    nothing, _ = savings_rates([], {})
    assert (nothing.effective, nothing.attainable) == (None, None)


def test_layers_of_the_duration_curve_sum_to_demand_from_its_peak_down() -> None:
    question = portfolio(
        gpu_family(on_demand_quota=10.0, shortage_cost=9.0),
        offers=(capacity_offer(name="own", kind="owned"), capacity_offer()),
        held=(CapacityHeld("old", "H100", 3, 0.5, 2, "owned"),),
    )
    family = PortfolioCosts(question).families[0]
    steps = duration_steps(family, np.array([4.0, 5.0]), [True, False])
    assert len(steps) == 8
    assert [step.demand for step in steps] == [60, 41, 38, 30, 20, 20, 12, 10]
    first = steps[0]
    assert (first.owned, first.committed, first.on_demand, first.spot, first.blocked) == (
        (4, 5, 10, 15, 26)
    )
    assert first.share == 1 / 16
    assert steps[1].owned == 7
    for step in steps:
        layers = (step.owned, step.committed, step.on_demand, step.spot, step.blocked)
        assert sum(layers) == step.demand


def test_tables_of_one_name_are_one() -> None:
    below = {"name": "x", "families": [{"name": "a", "demand": {"series": "s"}}], "limit": {"a": 1}}
    above = {
        "families": [{"name": "b"}, {"name": "a", "demand": {"hours": 1}}, {"nameless": 1}],
        "offers": [{"name": "c"}],
        "limit": {"b": 2},
    }
    assert overlaid(below, above) == {
        "name": "x",
        "families": [
            {"name": "a", "demand": {"hours": 1}},
            {"name": "b"},
            {"nameless": 1},
        ],
        "limit": {"a": 1, "b": 2},
        "offers": [{"name": "c"}],
    }


def test_what_has_no_price_is_left_out_with_all_that_is_of_it() -> None:
    whole = completed(
        {
            "on": "2026-11-30",
            "months": 3,
            "families": [{"name": "a", "on_demand": 1}, {"name": "b"}, {"name": "c", "on_demand": 1}],
            "offers": [{"name": "x", "family": "a"}, {"name": "y", "family": "b"}],
            "held": [
                {"name": "p", "family": "a", "rate": 1},
                {"name": "q", "family": "a", "rate": 1, "ends_on": "2027-01-01"},
                {"name": "r", "family": "c"},
            ],
        }
    )  # fmt: skip
    assert [table["name"] for table in whole.document["families"]] == ["a"]
    assert [table["name"] for table in whole.document["offers"]] == ["x"]
    assert [table["ends_on"] for table in whole.document["held"]] == ["2027-03-30", "2027-01-01"]
    assert [name for name, _ in whole.left_out] == ["b", "c"]
    assert whole.notes == (
        "When p ends is not on record: it is taken to last through the planned months.",
    )


def test_what_cannot_be_completed_is_left_to_the_reader() -> None:
    document = {"on": month_after, "months": "3", "held": [{"name": "p", "rate": 1}]}
    assert completed(document).document["held"] == [{"name": "p", "rate": 1}]
    with pytest.raises(Refusal, match="offers: 7 is not a list of tables"):
        completed({"offers": 7})
