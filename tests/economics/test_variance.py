"""What moved a number: parts that add up to its change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.variance import Cell, FactorsDiffer, change_of, effects, logarithmic_mean

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


def test_what_came_and_went_are_named() -> None:
    parts = change_of(
        {
            "a": Cell({"price": 2, "volume": 3}, {"price": 2, "volume": 4}),
            "b": Cell({}, {"price": 5, "volume": 1}),
            "c": Cell({"price": 1, "volume": 7}, {}),
            "d": Cell({}, {"price": 1, "volume": 1}),
        }
    )
    assert parts == pytest.approx({"price": 0, "volume": 2, "new": 6, "gone": -7})


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
