"""What moved a number: parts that add up to its change."""

from collections.abc import Hashable
from dataclasses import replace

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
        ({"a": (2, 100, 50)}, {"a": (2, 200, 100)}, {"capacity": 200}),
        ({"a": (2, 200, 100)}, {"a": (2, 100, 50)}, {"capacity": -200}),
        ({"a": (2, 100, 50)}, {"a": (2, 200, 50)}, {"use": 200}),
        # Half of it was given back, and as much work was done: it is better used.
        ({"a": (2, 100, 50)}, {"a": (2, 50, 50)}, {"use": -100}),
        # Half of the hours more are for the work that came.
        ({"a": (2, 100, 50)}, {"a": (2, 200, 75)}, {"capacity": 100, "use": 100}),
        # Fewer hours, and still fewer of them useful: no use was gained.
        ({"a": (2, 100, 100)}, {"a": (2, 90, 10)}, {"capacity": -20}),
        # More hours while the work fell.
        ({"a": (2, 100, 100)}, {"a": (2, 110, 50)}, {"use": 20}),
        # Moved to what costs twice as much.
        ({"a": (2, 100, 100)}, {"b": (4, 100, 100)}, {"mix": 200}),
        ({}, {"a": (2, 100, 100)}, {"capacity": 200}),
        ({"a": (2, 100, 100)}, {}, {"capacity": -200}),
        ({}, {"a": (2, 100, 0)}, {"use": 200}),
        ({"a": (2, 100, 100)}, {"a": (2, 100, 100), "b": (2, 50, 0)}, {"use": 100}),
        # Nothing of it was ever useful: more of it is idle, and so is less.
        ({"a": (2, 100, 0)}, {"a": (2, 200, 0)}, {"use": 200}),
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


@given(periods, st.dictionaries(st.sampled_from("abc"), st.floats(0, 1)))
def test_where_hours_and_rates_stood_nothing_is_told_whatever_the_work_did(
    before: PeriodCost, useful: dict[str, float]
) -> None:
    after = {
        key: replace(cell, useful_milliseconds=round(useful.get(str(key), 1) * cell.milliseconds))
        for key, cell in before.capacity.items()
    }
    found = cost_variance(before, replace(before, capacity=after))
    assert set(found.values()) == {0}


timed = st.builds(
    CapacityCost,
    rated_micros=st.integers(1, 10**12),
    milliseconds=st.integers(1, 10**9),
    useful_milliseconds=st.integers(0, 10**9),
)


@given(st.dictionaries(st.sampled_from("abc"), timed), st.integers(2, 9))
def test_where_only_the_rates_moved_all_is_price(
    capacity: dict[Hashable, CapacityCost], times: int
) -> None:
    after = {
        key: replace(cell, rated_micros=cell.rated_micros * times) for key, cell in capacity.items()
    }
    found = cost_variance(PeriodCost(capacity, 0, 0), PeriodCost(after, 0, 0))
    rest = {cause: micros for cause, micros in found.items() if cause != "price"}
    assert set(rest.values()) == {0}
    assert found["price"] == (times - 1) * sum(cell.rated_micros for cell in capacity.values())


@given(st.dictionaries(st.sampled_from("abc"), timed), st.integers(2, 9))
def test_where_all_of_a_fleet_grew_with_its_work_all_is_capacity(
    capacity: dict[Hashable, CapacityCost], times: int
) -> None:
    capacity = {key: replace(cell, useful_milliseconds=1) for key, cell in capacity.items()}
    after = {
        key: CapacityCost(cell.rated_micros * times, cell.milliseconds * times, times)
        for key, cell in capacity.items()
    }
    found = cost_variance(PeriodCost(capacity, 0, 0), PeriodCost(after, 0, 0))
    assert (found["price"], found["use"]) == (0, 0)
    rated = sum(cell.rated_micros for cell in capacity.values())
    assert found["capacity"] + found["mix"] == (times - 1) * rated


@given(periods, periods)
def test_capacity_and_use_never_cancel(before: PeriodCost, after: PeriodCost) -> None:
    kept = {
        key: replace(cell, rated_micros=cell.milliseconds) for key, cell in after.capacity.items()
    }
    was = {
        key: replace(cell, rated_micros=cell.milliseconds) for key, cell in before.capacity.items()
    }
    found = cost_variance(PeriodCost(was, 0, 0), PeriodCost(kept, 0, 0))
    assert found["capacity"] * found["use"] >= 0
    assert (found["price"], found["mix"]) == (0, 0)


@given(periods, periods)
def test_the_way_back_undoes_price(before: PeriodCost, after: PeriodCost) -> None:
    there, back = cost_variance(before, after), cost_variance(after, before)
    assert abs(there["price"] + back["price"]) <= 4
