"""Quotes and crossovers are held against what is there, their parts, and what was ever seen of it."""

from dataclasses import replace

import pytest

from apps.economics.crossover.gates import crossover_gates
from apps.economics.gates import Gate, GateName
from apps.economics.placement.quote_gates import QuotedOffer, quote_gates

SPOT = QuotedOffer(
    gpus=16.0,
    there=64.0,
    finish_hours=48.0,
    is_spot=True,
    watched_hours=240.0,
    cost=110.0,
    parts=(100.0, 10.0),
    currency="USD",
)


def of_name(gates: tuple[Gate, ...], name: GateName) -> Gate:
    (gate,) = [each for each in gates if each.name is name]
    return gate


def test_a_quote_on_spot_has_each_gate_once() -> None:
    gates = quote_gates(SPOT, [])
    assert [(gate.name, gate.is_passed) for gate in gates] == [
        (GateName.BASELINE, None),
        (GateName.COVERAGE, None),
        (GateName.CAPACITY, True),
        (GateName.PARTS, True),
        (GateName.HISTORY, True),
    ]
    assert gates[2].says == "at most 16 GPUs at once, and 64 are there"
    assert gates[4].says == "10 days of history for a term of 2 days"


@pytest.mark.parametrize(
    ("given", "name", "passed", "fallback"),
    [
        ({"there": 8.0}, GateName.CAPACITY, False, "the next offer"),
        ({"there": None}, GateName.CAPACITY, None, ""),
        ({"cost": None}, GateName.PARTS, None, ""),
        ({"parts": (50.0,)}, GateName.PARTS, False, ""),
        ({"watched_hours": 10.0}, GateName.HISTORY, False, "the next offer"),
        ({"watched_hours": None}, GateName.HISTORY, None, ""),
        ({"finish_hours": None}, GateName.HISTORY, None, ""),
    ],
)
def test_a_quote_says_which_gate_it_fails(
    given: dict[str, object], name: GateName, passed: bool | None, fallback: str
) -> None:
    gate = of_name(quote_gates(replace(SPOT, **given), []), name)
    assert (gate.is_passed, gate.fallback) == (passed, fallback)


def test_what_is_not_interrupted_needs_no_history_of_it() -> None:
    names = [gate.name for gate in quote_gates(replace(SPOT, is_spot=False), [])]
    assert GateName.HISTORY not in names


def test_a_crossover_says_whether_its_replicas_serve_the_volume() -> None:
    served = of_name(crossover_gates(600, 2400, 30.0, {"a": 10.0, "b": 20.0}), GateName.CAPACITY)
    assert served.is_passed is True
    assert served.says == "600 million tokens a month, and the replicas allowed serve 2,400"
    beyond = of_name(crossover_gates(3000, 2400, 30.0, {}), GateName.CAPACITY)
    assert (beyond.is_passed, beyond.fallback) == (False, "the API")
    assert of_name(crossover_gates(3000, None, 30.0, {}), GateName.CAPACITY).is_passed is None


def test_a_crossovers_parts_are_its_month() -> None:
    parts = of_name(crossover_gates(1, None, 30.0, {"a": 10.0, "b": 20.0}), GateName.PARTS)
    assert parts.is_passed is True
    assert of_name(crossover_gates(1, None, 30.0, {"a": 10.0}), GateName.PARTS).is_passed is False
