"""GPUs that are needed or asked for are held against their forecast's gates, what is there, their pools and their history."""

from dataclasses import replace

import pytest

from apps.economics.demand_gates import (
    FIRST_WEEKS,
    NO_FORECAST,
    OWN_FORECAST,
    UNTRIED,
    DemandGrounds,
    demand_gates,
    own_gates,
    term_gate,
)
from apps.economics.gates import Gate, GateName

LOST = Gate(GateName.BASELINE, is_passed=False, says="168 hours ahead: it lost", fallback="mean_28")
WON = Gate(GateName.BASELINE, is_passed=True, says="24 hours ahead: it won")
HOURS = Gate(GateName.PARTS, is_passed=True, says="the middles of its hours come to the whole")
GROUNDS = DemandGrounds(
    forecast=(LOST, WON, HOURS),
    wanted=52.0,
    there=48.0,
    waiting_price=6.0,
    currency="USD",
    whole=40.0,
    parts=(30.0, 12.0),
)


def gate_of(name: GateName, **given: object) -> Gate:
    (gate,) = [each for each in demand_gates(replace(GROUNDS, **given)) if each.name is name]
    return gate


@pytest.mark.parametrize("forecast", [(LOST, WON), (WON, LOST)])
def test_of_several_gates_of_a_name_the_worst_is_told_whatever_their_order(
    forecast: tuple[Gate, ...],
) -> None:
    baseline, coverage = own_gates(forecast)
    assert baseline is LOST
    assert (coverage.is_passed, coverage.says) == (None, UNTRIED)


def test_without_a_forecast_nobody_can_tell() -> None:
    gates = demand_gates(
        DemandGrounds(None, wanted=None, there=None, waiting_price=None, currency="USD")
    )
    assert [(gate.name, gate.is_passed) for gate in gates] == [
        (GateName.BASELINE, None), (GateName.COVERAGE, None), (GateName.CAPACITY, None), (GateName.PARTS, None),
    ]  # fmt: skip
    assert term_gate(None, 14).says == NO_FORECAST


def test_what_is_beyond_what_is_there_waits_at_its_price() -> None:
    gate = gate_of(GateName.CAPACITY)
    assert gate.is_passed is False
    assert (
        gate.fallback
        == "what is there; what is beyond it waits, up to 4 GPUs, at 6.00 USD an hour each"
    )
    unpriced = gate_of(GateName.CAPACITY, waiting_price=None)
    assert unpriced.fallback.endswith("nobody said what waiting costs")
    assert "up to 1 GPU, at" in gate_of(GateName.CAPACITY, wanted=49.0).fallback
    assert gate_of(GateName.CAPACITY, there=52.0).is_passed is True
    assert gate_of(GateName.CAPACITY, there=None).is_passed is None


def test_pools_have_to_come_to_their_model() -> None:
    assert gate_of(GateName.PARTS) is HOURS, "42 beside 40 is within a tenth, and so are its hours"
    off = gate_of(GateName.PARTS, parts=(30.0, 20.0))
    assert (off.is_passed, off.fallback) == (False, OWN_FORECAST)
    lacking = gate_of(GateName.PARTS, parts=(30.0, None, None))
    assert (lacking.is_passed, lacking.says) == (None, "of 2 of its 3 pools there is no forecast")
    assert gate_of(GateName.PARTS, parts=()) is HOURS
    assert gate_of(GateName.PARTS, parts=(), forecast=()).is_passed is None


def test_history_bears_three_times_its_length() -> None:
    assert term_gate(30.0, 90).is_passed is True
    long = term_gate(30.0, 91)
    assert (long.is_passed, long.fallback) == (False, FIRST_WEEKS)
