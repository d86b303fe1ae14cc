"""What people type at commands is read exactly, moments in UTC, or refused in words."""

from argparse import ArgumentTypeError
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from apps.economics.typed import parse_amount, parse_moment, parse_month


@pytest.mark.parametrize(
    "text", ["2026-03-02T10:00", "2026-03-02T10:00Z", "2026-03-02T15:30+05:30", "2026-03-02 10:00"]
)
def test_a_moment_is_utc_unless_it_says_another_offset(text: str) -> None:
    assert parse_moment(text) == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert parse_moment(text).tzinfo is UTC


def test_what_is_no_moment_is_refused_with_an_example() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"'soon' is not a moment such as 2026-03-02T10:00Z"
    ):
        parse_moment("soon")


def test_an_amount_is_read_to_its_last_digit_or_refused() -> None:
    assert parse_amount("98.320000001") == Decimal("98.320000001")
    with pytest.raises(ArgumentTypeError, match="'much' is not an amount"):
        parse_amount("much")


def test_a_month_is_its_first_day_and_only_as_it_is_written() -> None:
    assert parse_month("2026-07") == date(2026, 7, 1)
    with pytest.raises(ArgumentTypeError, match="'July' is no month such as 2026-07"):
        parse_month("July")
