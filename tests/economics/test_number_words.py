"""Numbers in sentences have no exponent, and no two that differ look the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.number_words import (
    error_text,
    money_text,
    number_text,
    quantity_text,
    told_apart,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-1e-12, "0"),
        (1.0, "1"),
        (12_000.0, "12,000"),
        (10_240.04, "10,240"),
        (35.44, "35.4"),
        (0.065, "0.065"),
        (0.996, "1"),
        (-2.5, "−2.5"),
        (float("nan"), "not known"),
        (float("inf"), "not known"),
    ],
)
def test_a_number_has_one_decimal_at_most_and_two_digits_below_one(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(7.67, "7.67"), (1.0, "1"), (12_345.6, "12,346"), (0.012345, "0.0123")]
)
def test_an_error_has_three_digits(value: float, text: str) -> None:
    assert error_text(value) == text


@given(st.floats(0, 1e9), st.floats(1e-5, 0.5))
def test_two_that_differ_are_told_apart(value: float, more: float) -> None:
    other = value + more
    assert len(set(told_apart(value, other))) == 2
    assert "e" not in "".join(told_apart(value, other))
    assert told_apart(value, value) == (number_text(value, 8),) * 2


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (6.0, "6.00 USD"),
        (0.0031, "0.0031 USD"),
        (0.0, "0.00 USD"),
        (15_000.4, "15,000 USD"),
        (-2.5, "−2.50 USD"),
    ],
)
def test_money_has_its_currency(amount: float, text: str) -> None:
    assert money_text(amount, "USD") == text


def test_one_is_one() -> None:
    assert quantity_text("1", "GPUs in the mean of a day") == "1 GPU in the mean of a day"
    assert quantity_text("1.5", "GPU-hours") == "1.5 GPU-hours"
    assert quantity_text("1", "million tokens a month") == "1 million tokens a month"
