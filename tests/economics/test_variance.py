"""What moved a number: parts that add up to its change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.variance import (
    CAUSES,
    CapacityCost,
    FactorsDiffer,
    PeriodCost,
    cost_variance,
    effects,
    logarithmic_mean,
)

factors = st.fixed_dictionaries({name: st.floats(0.01, 1e4) for name in ("price", "volume", "mix")})


def test_the_worked_example() -> None:
    found = effects({"price": 2, "intensity": 0.5}, {"price": 2.2, "intensity": 0.45})
    assert found == pytest.approx({"price": 0.094833, "intensity": -0.104833}, abs=5e-7)
    assert sum(found.values()) == pytest.approx(-0.01)


@given(factors, factors)
def test_the_parts_are_the_change(before: dict[str, float], after: dict[str, float]) -> None:
    change = after["price"] * after["volume"] * after["mix"]
    change -= before["price"] * before["volume"] * before["mix"]
    assert sum(effects(before, after).values()) == pytest.approx(change, rel=1e-6, abs=1e-6)


def test_the_mean_of_one_number_is_itself() -> None:
    assert logarithmic_mean(3, 3) == 3


@pytest.mark.parametrize("after", [{"price": 1.0}, {"price": 0.0, "volume": 1.0}])
def test_factors_that_are_missing_or_nothing_are_refused(after: dict[str, float]) -> None:
    with pytest.raises(FactorsDiffer):
        effects({"price": 1.0, "volume": 1.0}, after)


def test_the_mean_of_two_that_differ_in_their_last_digit_lies_between_them() -> None:
    a, b = 1.2, 1.2000000000000002
    assert logarithmic_mean(a, b) == pytest.approx(1.2, rel=1e-12)
    assert logarithmic_mean(1e-9, 1e9) == pytest.approx(1e9 / 41.4465, rel=1e-5)


HOUR_MS = 3_600_000
cells = st.builds(
    CapacityCost,
    rated_micros=st.integers(-(10**9), 10**12),
    milliseconds=st.integers(0, 10**9),
    useful_milliseconds=st.integers(0, 10**9),
)
periods = st.builds(
    PeriodCost,
    capacity=st.dictionaries(st.sampled_from("abc"), cells),
    commitment_micros=st.integers(-(10**9), 10**9),
    other_micros=st.integers(-(10**9), 10**9),
)


def capacity(price: int, hours: int, useful: int) -> CapacityCost:
    """`hours` of GPU time at a price in units of money, of which some were useful."""
    return CapacityCost(price * hours * 1_000_000, hours * HOUR_MS, useful * HOUR_MS)


def causes_of(before: dict[str, CapacityCost], after: dict[str, CapacityCost]) -> dict[str, int]:
    """What moved the cost, of those causes that did, in whole units of money."""
    found = cost_variance(PeriodCost(before, 0, 0), PeriodCost(after, 0, 0))
    return {cause: round(micros / 1_000_000) for cause, micros in found.items() if micros}


@given(periods, periods)
def test_the_causes_are_the_change_to_the_micro_unit(before: PeriodCost, after: PeriodCost) -> None:
    found = cost_variance(before, after)

    assert list(found) == list(CAUSES)
    assert sum(found.values()) == after.micros - before.micros
    assert found["commitments"] == after.commitment_micros - before.commitment_micros
    assert found["other"] == after.other_micros - before.other_micros


@pytest.mark.parametrize(
    ("before", "after", "causes"),
    [
        ({"a": (2, 100, 100)}, {"a": (3, 100, 100)}, {"price": 100}),
        ({"a": (2, 100, 50)}, {"a": (2, 200, 100)}, {"volume": 200}),
        ({"a": (2, 100, 50)}, {"a": (2, 200, 50)}, {"efficiency": 200}),
        # As much useful time as before, moved to what costs twice as much.
        ({"a": (2, 100, 100)}, {"b": (4, 100, 100)}, {"mix": 200}),
        ({}, {"a": (2, 100, 100)}, {"volume": 200}),
        ({"a": (2, 100, 100)}, {}, {"volume": -200}),
        ({"a": (2, 100, 100)}, {"a": (2, 100, 100), "b": (3, 100, 0)}, {"efficiency": 300}),
        # Nothing of it was ever useful: more of it is no volume.
        ({"a": (2, 100, 0)}, {"a": (2, 200, 0)}, {"efficiency": 200}),
        # What cost nothing has no rate to compare with.
        ({"a": (0, 100, 50)}, {"a": (2, 100, 50)}, {"price": 200}),
        ({}, {}, {}),
    ],
)
def test_each_cause_by_itself(
    before: dict[str, tuple[int, int, int]],
    after: dict[str, tuple[int, int, int]],
    causes: dict[str, int],
) -> None:
    was = {key: capacity(*cell) for key, cell in before.items()}
    now = {key: capacity(*cell) for key, cell in after.items()}

    assert causes_of(was, now) == causes
