"""Prices beside their neighbours: what is far off waits for a person, what is usual does not."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.plausibility import (
    TIMES_OF_A_LIST,
    needs_second_person,
    why_implausible,
)

USUAL = [Decimal("98.32"), Decimal("98.32"), Decimal("118.00")]
prices = st.decimals("0.01", "1000", places=6)


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("9.83", "9.83 is under a tenth of the usual 98.32"),
        ("9.832", ""),
        ("983.20", ""),
        ("983.21", "983.21 is over ten times the usual 98.32"),
        ("55.04", ""),
    ],
)
def test_a_tenth_and_ten_times_the_usual_are_the_limits(amount: str, reason: str) -> None:
    assert why_implausible(Decimal(amount), USUAL) == reason


def test_prices_of_one_list_lie_closer_together() -> None:
    said = [
        why_implausible(Decimal(amount), USUAL, times=TIMES_OF_A_LIST)
        for amount in ("32.77", "32.78", "294.96", "294.97")
    ]
    assert said == [
        "32.77 is under a third of the usual 98.32",
        "",
        "",
        "294.97 is over three times the usual 98.32",
    ]


def test_a_region_priced_without_its_accelerators_is_named() -> None:
    reason = why_implausible(Decimal("12.10"), USUAL, bare=Decimal("11.50"))
    assert reason == "12.10 is about the machine without accelerators (11.50)"
    assert why_implausible(Decimal("55.04"), USUAL, bare=Decimal("11.50")) == ""


def test_without_neighbours_or_beside_free_ones_nothing_speaks_against_a_price() -> None:
    assert why_implausible(Decimal(5), []) == ""
    assert why_implausible(Decimal(5), [Decimal(0)]) == ""


@given(prices, st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_price_within_three_times_of_its_neighbours_is_plausible(
    amount: Decimal, thirds: list[int]
) -> None:
    assert why_implausible(amount, [amount * third / 3 for third in thirds]) == ""


def test_a_move_above_the_threshold_needs_a_second_person() -> None:
    assert not needs_second_person(Decimal(100), Decimal(120), 20)
    assert needs_second_person(Decimal(100), Decimal("120.01"), 20)
    assert needs_second_person(Decimal(100), Decimal("79.99"), 20)
    assert needs_second_person(Decimal(0), Decimal(1), 20)
    assert not needs_second_person(None, Decimal(100), 20)
