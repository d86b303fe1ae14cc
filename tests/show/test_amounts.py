"""GPU-hours, shares and changes read as a person would say them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.show import amounts

HOUR = 3_600_000
GAP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0"),
        (1, "< 0.01"),
        (HOUR, "1.00"),
        (9_996 * HOUR // 1000, "10.0"),
        (25 * HOUR + HOUR // 2, "25.5"),
        (99_960 * HOUR // 1000, "100"),
        (74_210 * HOUR, "74,210"),
        (-1_344 * HOUR, "−1,344"),
        (-HOUR // 2, "−0.50"),
        (None, "–"),
    ],
)
def test_gpu_hours_are_as_fine_as_they_are_few(milliseconds, text):
    assert amounts.gpu_hours(milliseconds) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0, f"0{GAP}%"),
        (Fraction(1, 100_000), f"< 0.1{GAP}%"),
        (0.0042, f"0.4{GAP}%"),
        (0.05, f"5{GAP}%"),
        (0.0999, f"10{GAP}%"),
        (Fraction(31, 100), f"31{GAP}%"),
        (0.9949, f"99{GAP}%"),
        (0.9999, f"> 99{GAP}%"),
        (1, f"100{GAP}%"),
        (1.7, f"170{GAP}%"),
        (-0.27, f"−27{GAP}%"),
        (-0.042, f"−4.2{GAP}%"),
        (-0.0001, f"> −0.1{GAP}%"),
        (None, "–"),
    ],
)
def test_a_share_is_a_per_cent_that_never_rounds_to_all_or_nothing(ratio, text):
    assert amounts.per_cent(ratio) == text


@given(st.fractions(min_value=0, max_value=1))
def test_only_the_whole_reads_100_per_cent(ratio):
    assert (amounts.per_cent(ratio) == f"100{GAP}%") == (ratio == 1)
    assert (amounts.per_cent(ratio) == f"0{GAP}%") == (ratio == 0)


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (108, 100, f"+8{GAP}%"),
        (96, 100, f"−4{GAP}%"),
        (1124, 1000, f"+12{GAP}%"),
        (1024, 1000, f"+2.4{GAP}%"),
        (100, 100, "no change"),
        (100_001, 100_000, "no change"),
        (5, 0, "new"),
        (0, 0, "no change"),
        (0, 7, f"−100{GAP}%"),
        (50, -100, f"+150{GAP}%"),
        (None, 100, "–"),
        (100, None, "–"),
    ],
)
def test_a_change_is_said_against_the_span_before(now, before, text):
    assert amounts.change(now, before) == text


def test_ratios_differ_in_points():
    assert amounts.points(0.62, 0.59) == f"+3{GAP}points"
    assert amounts.points(0.58, 0.59) == f"−1{GAP}point"
    assert amounts.points(0.59, 0.59) == "no change"
    assert amounts.points(0.59, None) == "–"


def test_a_small_change_has_its_digits_and_one_sign():
    assert amounts.signed_per_cent(0.08) == f"+8{GAP}%"
    assert amounts.signed_per_cent(-0.123) == f"−12{GAP}%"
    assert amounts.signed_per_cent(0.00033) == f"+0.03{GAP}%"
    assert amounts.signed_per_cent(-0.0004) == f"−0.04{GAP}%"
    assert amounts.signed_per_cent(-0.00002) == "no change"
    assert amounts.signed_per_cent(0.0) == f"0{GAP}%"
    assert amounts.signed_per_cent(-0.9997) == f"−99.9{GAP}%"
    assert amounts.signed_per_cent(-1.0) == f"−100{GAP}%"


def test_a_share_of_nothing_is_unknown():
    assert amounts.share(1, 4) == Fraction(1, 4)
    assert amounts.share(0, 0) is None
    assert amounts.share(None, 4) is None
    assert amounts.share(1, -4) is None, "a cost is no part of a credit"
    assert amounts.share(-1, -4) == Fraction(1, 4)


def test_counts_agree_with_their_nouns():
    assert amounts.counted(1, "node") == "1 node"
    assert amounts.counted(1200, "node") == "1,200 nodes"
    assert amounts.counted(2, "delivery", "deliveries") == "2 deliveries"
    assert amounts.count(171_402) == "171,402"
    assert amounts.count(None) == "–"


@pytest.mark.parametrize(
    ("now", "before", "direction", "size"),
    [
        (108, 100, amounts.Direction.UP, f"8{GAP}%"),
        (96, 100, amounts.Direction.DOWN, f"4{GAP}%"),
        (100, 100, amounts.Direction.SAME, ""),
        (5, 0, amounts.Direction.NEW, ""),
        (None, 100, amounts.Direction.UNKNOWN, ""),
    ],
)
def test_where_something_went_is_no_word_to_be_read(
    now: int | None, before: int | None, direction: amounts.Direction, size: str
) -> None:
    moved = amounts.movement(now, before)

    assert moved == amounts.Movement(direction, size)
    assert str(moved) == amounts.change(now, before)
