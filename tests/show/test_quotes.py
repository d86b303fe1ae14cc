"""Prices as they were quoted, GPUs in parts, and moments that are days."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from apps.show.amounts import gpu_count
from apps.show.money import quoted_amount
from apps.show.time import day_or_instant


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("98.320000000", "USD", "$98.32"),
        ("10", "USD", "$10.00"),
        ("0.003100000", "USD", "$0.0031"),
        ("1200.000000000", "JPY", "¥1,200"),
        ("0", "USD", "$0.00"),
    ],
)
def test_a_price_keeps_every_digit_that_was_quoted(amount, currency, text):
    assert quoted_amount(Decimal(amount), currency) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (6, "6"),
        (Fraction(1, 4), "0.25"),
        (Fraction(1, 3), "0.33"),
        (Fraction(100), "100"),
        (None, "–"),
    ],
)
def test_a_part_of_a_gpu_is_a_decimal(count, text):
    assert gpu_count(count) == text


def test_midnight_is_a_day_and_other_moments_are_told_in_full():
    assert day_or_instant(datetime(2026, 6, 1, tzinfo=UTC), UTC) == "1 June 2026"
    assert day_or_instant(datetime(2026, 6, 1, 9, tzinfo=UTC), UTC) == "1 June 2026, 09:00 UTC"
