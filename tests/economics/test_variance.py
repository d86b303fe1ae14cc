"""What moved a number: parts that add up to its change."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.variance import (
    CAUSES,
    CapacityCell,
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
keys = st.builds(
    CapacityCell,
    unit=st.sampled_from(("gpu", "core")),
    machine=st.sampled_from("ab"),
    terms=st.sampled_from((("spot",), ("on_demand",))),
)
cells = st.builds(
    CapacityCost,
    rated_micros=st.integers(-(10**9), 10**12),
    milliseconds=st.integers(0, 10**9),
    useful_milliseconds=st.integers(0, 10**9),
)
periods = st.builds(
    PeriodCost,
    capacity=st.dictionaries(keys, cells),
    commitment_micros=st.integers(-(10**9), 10**9),
    other_micros=st.integers(-(10**9), 10**9),
)

Cells = dict[str, tuple[float, int, int]]
"""By a machine, a purchase option and a unit in words: price an hour, hours paid for, and those of them that were useful."""


def cell_named(text: str) -> CapacityCell:
    """`h100 spot`: GPUs; `c7 spot core`: cores."""
    machine, option, *unit = text.split()
    return CapacityCell(unit[0] if unit else "gpu", machine, (option,))


def period(cells: Cells) -> PeriodCost:
    """What these come to, in whole units of money."""
    return PeriodCost(
        {
            cell_named(text): CapacityCost(
                round(price * hours * 1_000_000), hours * HOUR_MS, useful * HOUR_MS
            )
            for text, (price, hours, useful) in cells.items()
        },
        0,
        0,
    )


def causes_of(before: Cells, after: Cells) -> dict[str, int]:
    """What moved the cost, of those causes that did, in whole units of money."""
    found = cost_variance(period(before), period(after))
    return {cause: round(micros / 1_000_000) for cause, micros in found.items() if micros}


@given(periods, periods)
def test_the_causes_are_the_change_to_the_micro_unit(before: PeriodCost, after: PeriodCost) -> None:
    found = cost_variance(before, after)

    assert list(found) == list(CAUSES)
    assert sum(found.values()) == after.micros - before.micros
    assert found["commitments"] == after.commitment_micros - before.commitment_micros
    assert found["other"] == after.other_micros - before.other_micros


H100, T4, CORES = "h100 on_demand", "t4 on_demand", "c7 on_demand core"


@pytest.mark.parametrize(
    ("before", "after", "causes"),
    [
        ({H100: (2, 100, 100)}, {H100: (3, 100, 100)}, {"price": 100}),
        # A rate's step is of the hours that it was paid for.
        ({H100: (2, 100, 100)}, {H100: (3, 150, 150)}, {"price": 150, "capacity": 100}),
        ({H100: (2, 100, 50)}, {H100: (2, 200, 100)}, {"capacity": 200}),
        ({H100: (2, 200, 100)}, {H100: (2, 100, 50)}, {"capacity": -200}),
        ({H100: (2, 100, 50)}, {H100: (2, 200, 50)}, {"use": 200}),
        # Half of it was given back, and as much work was done: it is better used.
        ({H100: (2, 100, 50)}, {H100: (2, 50, 50)}, {"use": -100}),
        # Half of the hours more are for the work that came.
        ({H100: (2, 100, 50)}, {H100: (2, 200, 75)}, {"capacity": 100, "use": 100}),
        # Fewer hours, and still fewer of them useful: no use was gained.
        ({H100: (2, 100, 100)}, {H100: (2, 90, 10)}, {"capacity": -20}),
        # More hours while the work fell.
        ({H100: (2, 100, 100)}, {H100: (2, 110, 50)}, {"use": 20}),
        ({}, {H100: (2, 100, 100)}, {"capacity": 200}),
        ({H100: (2, 100, 100)}, {}, {"capacity": -200}),
        ({}, {H100: (2, 100, 0)}, {"use": 200}),
        # Nothing of it was ever useful: more of it is idle, and so is less.
        ({H100: (2, 100, 0)}, {H100: (2, 200, 0)}, {"use": 200}),
        # What cost nothing has no rate to compare with.
        ({H100: (0, 100, 50)}, {H100: (2, 100, 50)}, {"price": 200}),
        ({}, {}, {}),
    ],
)
def test_each_cause_by_itself(before: Cells, after: Cells, causes: dict[str, int]) -> None:
    assert causes_of(before, after) == causes


@pytest.mark.parametrize(
    ("before", "after", "causes"),
    [
        # 1,000 hours of T4s at .50 more, all used, beside H100s that stood: 500 of capacity, and nothing else.
        (
            {H100: (10, 1000, 1000), T4: (0.5, 1000, 1000)},
            {H100: (10, 1000, 1000), T4: (0.5, 2000, 2000)},
            {"capacity": 500},
        ),
        ({H100: (10, 100, 100)}, {H100: (10, 100, 100), T4: (0.5, 100, 100)}, {"capacity": 50}),
        # As many cores more beside them: theirs are no GPU-hours.
        (
            {H100: (10, 100, 100), CORES: (0.05, 8000, 4000)},
            {H100: (10, 100, 100), CORES: (0.05, 16000, 8000)},
            {"capacity": 400},
        ),
        # H100s came for work, and cores stood idle longer: each by itself.
        (
            {H100: (10, 100, 100), CORES: (0.05, 8000, 4000)},
            {H100: (10, 200, 200), CORES: (0.05, 10000, 4000)},
            {"capacity": 1000, "use": 100},
        ),
        # Fewer T4s and fewer cores, each at its own rate.
        (
            {H100: (10, 100, 100), T4: (0.5, 300, 300), CORES: (0.05, 2000, 2000)},
            {H100: (10, 100, 100), T4: (0.5, 100, 100), CORES: (0.05, 1000, 1000)},
            {"capacity": -150},
        ),
        # 60 of 100 hours went to spot at 4 instead of 10: no rate moved.
        (
            {H100: (10, 100, 100)},
            {H100: (10, 40, 40), "h100 spot": (4, 60, 60)},
            {"mix": -360},
        ),
        # The same, and spot grew by 40 beyond it, at its own rate.
        (
            {H100: (10, 100, 100)},
            {H100: (10, 40, 40), "h100 spot": (4, 100, 100)},
            {"mix": -360, "capacity": 160},
        ),
        # The same, and the rate on demand rose by 1 over the 40 hours that are left of it.
        (
            {H100: (10, 100, 100)},
            {H100: (11, 40, 40), "h100 spot": (4, 60, 60)},
            {"mix": -360, "price": 40},
        ),
        # From H100s to as many hours of T4s.
        ({H100: (10, 100, 100)}, {T4: (0.5, 100, 100)}, {"mix": -950}),
        # A shift within a machine comes first: T4s that came beside it are capacity.
        (
            {H100: (10, 100, 100)},
            {"h100 spot": (4, 100, 100), T4: (1, 1000, 1000)},
            {"mix": -600, "capacity": 1000},
        ),
        # Fewer hours, on a dearer machine: 50 of 100 went on at 4 instead of 2.
        ({"a100 spot": (2, 100, 100)}, {H100: (4, 50, 50)}, {"mix": 100, "capacity": -100}),
    ],
)
def test_the_worked_examples_of_several_machines(
    before: Cells, after: Cells, causes: dict[str, int]
) -> None:
    assert causes_of(before, after) == causes


def test_what_is_charged_without_time_is_price() -> None:
    key = cell_named(H100)
    none, charged = PeriodCost({}, 0, 0), PeriodCost({key: CapacityCost(5, 0, 0)}, 0, 0)
    timed = PeriodCost({key: CapacityCost(20, 10, 10)}, 0, 0)

    assert cost_variance(none, charged)["price"] == 5
    assert cost_variance(charged, none)["price"] == -5
    there, back = cost_variance(charged, timed), cost_variance(timed, charged)
    assert (there["price"], there["capacity"]) == (-5, 20)
    assert (back["price"], back["capacity"]) == (5, -20)


@given(periods, st.dictionaries(keys, st.floats(0, 1)))
def test_where_hours_and_rates_stood_nothing_is_told_whatever_the_work_did(
    before: PeriodCost, useful: dict[CapacityCell, float]
) -> None:
    after = {
        key: replace(cell, useful_milliseconds=round(useful.get(key, 1) * cell.milliseconds))
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
fleets = st.dictionaries(keys, timed)


@given(fleets, st.integers(2, 9))
def test_where_only_the_rates_moved_all_is_price(
    capacity: dict[CapacityCell, CapacityCost], times: int
) -> None:
    after = {
        key: replace(cell, rated_micros=cell.rated_micros * times) for key, cell in capacity.items()
    }
    found = cost_variance(PeriodCost(capacity, 0, 0), PeriodCost(after, 0, 0))
    rest = {cause: micros for cause, micros in found.items() if cause != "price"}
    assert set(rest.values()) == {0}
    assert found["price"] == (times - 1) * sum(cell.rated_micros for cell in capacity.values())


def at_rates(capacity: dict[CapacityCell, CapacityCost]) -> PeriodCost:
    """The same time at rates that each cell has for good, in whole micro-units a millisecond."""
    rates = {key: 1 + place * 7 for place, key in enumerate(sorted(ALL_KEYS))}
    return PeriodCost(
        {
            key: replace(cell, rated_micros=cell.milliseconds * rates[key])
            for key, cell in capacity.items()
        },
        0,
        0,
    )


ALL_KEYS = [
    CapacityCell(unit, machine, (option,))
    for unit in ("gpu", "core")
    for machine in "ab"
    for option in ("spot", "on_demand")
]


@given(fleets, fleets)
def test_where_rates_stood_there_is_no_price(
    was: dict[CapacityCell, CapacityCost], now: dict[CapacityCell, CapacityCost]
) -> None:
    assert cost_variance(at_rates(was), at_rates(now))["price"] == 0


@given(fleets, fleets)
def test_where_nothing_shrank_or_nothing_grew_nothing_was_shifted(
    fleet: dict[CapacityCell, CapacityCost], more: dict[CapacityCell, CapacityCost]
) -> None:
    grown = fleet | {
        key: fleet[key].plus(cell) if key in fleet else cell for key, cell in more.items()
    }
    for before, after in ((fleet, grown), (grown, fleet)):
        found = cost_variance(at_rates(before), at_rates(after))
        change = at_rates(after).micros - at_rates(before).micros
        assert abs(found["mix"]) <= 2, "but for rounding"
        assert abs(found["capacity"] + found["use"] - change) <= 2


@given(fleets)
def test_where_the_hours_of_each_unit_stood_there_is_neither_capacity_nor_use(
    fleet: dict[CapacityCell, CapacityCost],
) -> None:
    swapped = {
        key._replace(machine="b" if key.machine == "a" else "a"): cell
        for key, cell in fleet.items()
    }
    found = cost_variance(at_rates(fleet), at_rates(swapped))
    assert (found["price"], found["capacity"], found["use"]) == (0, 0, 0)


@given(fleets, st.integers(2, 9))
def test_where_all_of_a_fleet_grew_with_its_work_all_is_capacity(
    capacity: dict[CapacityCell, CapacityCost], times: int
) -> None:
    capacity = {key: replace(cell, useful_milliseconds=1) for key, cell in capacity.items()}
    after = {
        key: CapacityCost(cell.rated_micros * times, cell.milliseconds * times, times)
        for key, cell in capacity.items()
    }
    found = cost_variance(PeriodCost(capacity, 0, 0), PeriodCost(after, 0, 0))
    rated = sum(cell.rated_micros for cell in capacity.values())
    assert found == dict.fromkeys(CAUSES, 0) | {"capacity": (times - 1) * rated}


@given(fleets, fleets)
def test_capacity_and_use_of_one_unit_never_cancel(
    was: dict[CapacityCell, CapacityCost], now: dict[CapacityCell, CapacityCost]
) -> None:
    before, after = (
        at_rates({key: cell for key, cell in fleet.items() if key.unit == "gpu"})
        for fleet in (was, now)
    )
    found = cost_variance(before, after)
    assert found["capacity"] * found["use"] >= 0
