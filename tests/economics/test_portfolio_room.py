"""A portfolio plans what can be held: what is beyond the GPUs that are there waits, apart, and has a price of its own."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.gates import GateName
from apps.economics.portfolio.answer import LadderPlan, SolvedMix, answer_portfolio
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.proven import bounded_offers, portfolio_gates, scenario_coverage
from apps.economics.portfolio.question import CapacityHeld, PortfolioQuestion
from apps.economics.portfolio.reading import portfolio_request_of
from apps.economics.portfolio.room import capacity_bounded_history, room_gate, within_room
from tests.economics.portfolios import gpu_family, portfolio


def test_demand_beyond_the_gpus_that_are_there_waits_and_is_priced() -> None:
    # Of 10, 20, 30, 20 and 12, 41, 60, 38 with 25 there: 5 hours wait, and 16 + 35 + 13.
    family = within_room(gpu_family(room=(25.0,), waiting_price=2.0, currency="USD"), ())

    assert family.demand.tolist() == [[10, 20, 25, 20], [12, 25, 25, 25]]
    assert family.waiting is not None
    assert (family.waiting.most_wanted, family.waiting.most_there) == (60, 25)
    assert (family.waiting.gpu_hours, family.waiting.cost) == (34.5, 69.0)
    gate = room_gate(family)
    assert (gate.name, gate.is_passed) == (GateName.CAPACITY, False)
    assert gate.says == "H100: at most 60 GPUs at once, and 25 are there"
    assert (
        gate.fallback == "demand up to these; 34.5 GPU-hours beyond them wait, priced at 69.00 USD"
    )


def test_what_waits_without_a_price_says_so_and_what_fits_passes() -> None:
    unpriced = within_room(gpu_family(room=(59.0,)), ())
    assert unpriced.waiting is not None
    assert (unpriced.waiting.gpu_hours, unpriced.waiting.cost) == (0.5, None)
    assert "nobody said what waiting costs" in room_gate(unpriced).fallback

    fits = within_room(gpu_family(room=(60.0,)), ())
    assert fits.waiting is not None
    assert (fits.waiting.gpu_hours, fits.waiting.cost) == (0.0, 0.0)
    assert (room_gate(fits).is_passed, room_gate(fits).fallback) == (True, "")


def test_without_room_nothing_is_bounded_and_the_gate_is_not_known() -> None:
    family = gpu_family()
    history = np.array([1.0, np.nan, 99.0])

    assert within_room(family, ()) is family
    assert capacity_bounded_history(history, family) is history
    assert room_gate(family).is_passed is None


def test_room_goes_by_month_and_what_is_owed_is_there_too() -> None:
    demand = np.full((1, 3 * MONTH_HOURS), 50.0)
    later = CapacityHeld("more", "H100", 40, 1.0, 4 * MONTH_HOURS, starts_in=2 * MONTH_HOURS)
    other = replace(later, family="A100", starts_in=0)
    family = within_room(gpu_family(demand, room=(10.0, 20.0)), (later, other))

    months = family.demand.reshape(3, MONTH_HOURS)
    assert [set(month) for month in months.tolist()] == [{10.0}, {20.0}, {40.0}]
    history = np.array([5.0, np.nan, 99.0])
    assert np.array_equal(
        capacity_bounded_history(history, family), [5.0, np.nan, 40.0], equal_nan=True
    )


@given(st.lists(st.integers(0, 90), min_size=1, max_size=4), st.floats(0.1, 9))
def test_what_is_held_and_what_waits_are_the_demand(room: list[int], price: float) -> None:
    demand = gpu_family().demand
    family = within_room(gpu_family(room=tuple(map(float, room)), waiting_price=price), ())

    assert family.waiting is not None
    held = family.demand.sum(axis=1).mean()
    assert held + family.waiting.gpu_hours == pytest.approx(demand.sum(axis=1).mean())
    assert family.demand.max() <= room[0]
    assert family.waiting.cost == pytest.approx(family.waiting.gpu_hours * price)


def test_an_answer_names_what_waits_and_buys_nothing_for_it() -> None:
    family = within_room(
        gpu_family(np.full((1, 4), 30.0), spot=None, room=(20.0,), waiting_price=3.0), ()
    )
    question = portfolio(family)
    answer = answer_portfolio(
        PortfolioCosts(question),
        {"H100": np.full(720, 20.0)},
        LadderPlan(),
        lambda asked, costs: SolvedMix((int(asked.families[0].demand.max()),), 0.0, True),
    )

    (found,) = answer.families
    assert (found.waiting_hours, found.waiting_cost) == (40.0, 120.0)
    assert found.parts.demand_hours == 80
    assert answer.chosen.lots == {"a year": 20}
    # A fifth more demand is no more GPUs that are there.
    assert {change.name: change.lots for change in answer.changes}["demand +20%"] == {"a year": 20}


def document(**family: object) -> dict[str, object]:
    table = {"name": "H100", "on_demand": 2, "demand": {"hours": [8.0] * 24}} | family
    return {"name": "x", "on": "2026-12-01", "currency": "USD", "months": 1, "families": [table]}


def asked_of(given: dict[str, object]) -> PortfolioQuestion:
    return portfolio_request_of(given).question([np.full(48, 8.0)])


def test_a_document_says_what_is_there_and_what_waiting_costs() -> None:
    (family,) = asked_of(document(room=[6], waiting_cost=1.5)).families
    assert (family.demand.max(), family.waiting_price) == (6.0, 1.5)
    assert family.waiting is not None
    assert family.waiting.gpu_hours == 2 * MONTH_HOURS
    # What is beyond a quota that was entered is blocked, and has its own price.
    (blocked,) = asked_of(document(room=[6], on_demand_quota=4, shortage_cost=9)).families
    assert (blocked.demand.max(), blocked.waiting) == (8.0, None)


def drawn_around(low: float, high: float, hours: int) -> PortfolioQuestion:
    return portfolio(gpu_family([[low] * hours, [high] * hours], spot=None))


@pytest.mark.parametrize(
    ("low", "high", "covered", "passed", "fallback"),
    [
        (5.0, 15.0, 1.0, False, "too wide"),
        (11.0, 15.0, 0.0, False, "too narrow"),
        (10.0, 10.0, None, None, ""),
    ],
)
def test_scenarios_are_tried_on_what_came(
    low: float, high: float, covered: float | None, passed: bool | None, fallback: str
) -> None:
    histories = {"H100": np.full(40 * 24, 10.0)}
    found = scenario_coverage(histories, lambda _, hours: drawn_around(low, high, hours))
    assert found == covered
    gates = portfolio_gates(
        {}, (), histories, bounded_offers(portfolio(), histories, 1.0, {}), found
    )
    (gate,) = [each for each in gates if each.name is GateName.COVERAGE]
    assert gate.is_passed is passed
    assert fallback in gate.fallback


def test_scenarios_that_cover_four_of_five_pass() -> None:
    history = np.tile([10.0, 10.0, 10.0, 10.0, 99.0, 10.0, 10.0, 10.0, 10.0, 99.0, 10.0, 10.0], 80)
    found = scenario_coverage({"H100": history}, lambda _, hours: drawn_around(5.0, 15.0, hours))
    assert found == pytest.approx(10 / 12)
    histories = {"H100": history}
    gates = portfolio_gates(
        {}, (), histories, bounded_offers(portfolio(), histories, 1.0, {}), found
    )
    assert [each.is_passed for each in gates if each.name is GateName.COVERAGE] == [True]
