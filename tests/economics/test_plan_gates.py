"""A plan is held against what its forecast was, what is there, its history and its own parts."""

from dataclasses import replace

import numpy as np
import pytest

from apps.economics.demand_gates import NO_FORECAST
from apps.economics.gates import Gate, GateName
from apps.economics.plan_gates import PlanGrounds, plan_gates

BASELINE = Gate(GateName.BASELINE, True, "its error before was .8 beside .9 of last_week")
GROUNDS = PlanGrounds(
    forecast=(BASELINE,),
    history_days=60.0,
    wanted=np.array([240.0, 480.0, 960.0]),
    there=np.array([480.0, 480.0, 480.0]),
    hours=np.array([24.0, 24.0, 24.0]),
    waiting_price=2.0,
    currency="USD",
    whole=1680.0,
    parts=(720.0, 960.0),
)


def gate_of(name: GateName, **given: object) -> Gate:
    (gate,) = [each for each in plan_gates(replace(GROUNDS, **given)) if each.name is name]
    return gate


def test_a_plan_has_each_gate_once_and_its_forecasts_own() -> None:
    gates = plan_gates(GROUNDS)
    assert [gate.name for gate in gates] == [
        GateName.BASELINE,
        GateName.COVERAGE,
        GateName.CAPACITY,
        GateName.HISTORY,
        GateName.PARTS,
    ]
    assert gates[0] is BASELINE
    assert (gates[1].is_passed, "not tried" in gates[1].says) == (None, True)
    untold = plan_gates(replace(GROUNDS, forecast=None, history_days=None))
    assert [gate.says for gate in untold[:2]] == [NO_FORECAST] * 2
    assert (untold[3].is_passed, untold[3].says) == (None, NO_FORECAST)


def test_what_is_beyond_the_gpus_that_are_there_waits() -> None:
    gate = gate_of(GateName.CAPACITY)
    assert gate.is_passed is False
    assert gate.says == "at most 40 GPUs in the mean of a day at once, and 20 are there"
    assert gate.fallback == "what is there; 480 GPU-hours beyond it wait, priced at 960 USD"
    unpriced = gate_of(GateName.CAPACITY, waiting_price=None)
    assert "nobody said what waiting costs" in unpriced.fallback


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ({"there": np.full(3, 960.0)}, True),
        ({"there": np.array([])}, None),
        ({"wanted": None}, None),
    ],
)
def test_what_is_there_may_do_or_not_be_known(
    given: dict[str, object], passed: bool | None
) -> None:
    assert gate_of(GateName.CAPACITY, **given).is_passed is passed


def test_the_day_that_lacks_most_is_told_also_where_more_is_there_later() -> None:
    gate = gate_of(GateName.CAPACITY, there=np.array([120.0, 480.0, 960.0]))
    assert gate.says == "at most 10 GPUs in the mean of a day at once, and 5 are there"


def test_history_is_as_long_as_a_third_of_the_plan() -> None:
    assert gate_of(GateName.HISTORY, history_days=1.0).is_passed is True
    gate = gate_of(GateName.HISTORY, history_days=0.5)
    assert (gate.is_passed, bool(gate.fallback)) == (False, True)


def test_weeks_that_do_not_come_to_the_whole_are_said() -> None:
    assert gate_of(GateName.PARTS).is_passed is True
    gate = gate_of(GateName.PARTS, parts=(500.0, 500.0))
    assert (gate.is_passed, "no sum of its weeks" in gate.fallback) == (False, True)
