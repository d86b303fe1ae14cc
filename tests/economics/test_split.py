"""A whole number divided: the parts are the whole, and in proportion."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.economics.split import (
    NothingToSplitBy,
    largest_remainder,
)

TOTALS = st.integers(-(10**15), 10**15)
WEIGHTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (1_000_000, [1, 1, 1], [333_334, 333_333, 333_333]),
        (-7, [3, 2, 2], [-3, -2, -2]),
        (10, [335, 335, 330], [4, 3, 3]),
        (5, [0, 1], [0, 5]),
        (5, [7], [5]),
        (0, [1, 2], [0, 0]),
        (1, [1, 3, 3], [0, 1, 0]),
    ],
)
def test_worked_examples(total, weights, parts):
    assert largest_remainder(total, weights) == parts


@pytest.mark.parametrize("weights", [[], [0], [0, 0]])
def test_nobody_to_carry_an_amount_is_refused(weights):
    with pytest.raises(NothingToSplitBy):
        largest_remainder(1, weights)


@given(TOTALS, WEIGHTS)
def test_the_parts_sum_to_the_whole_and_are_less_than_one_from_their_share(total, weights):
    assume(any(weights))
    parts = largest_remainder(total, weights)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(total * weight, sum(weights))) < 1


@given(TOTALS, WEIGHTS)
def test_a_credit_is_the_mirror_of_its_charge(total, weights):
    assume(any(weights))
    assert largest_remainder(-total, weights) == [
        -part for part in largest_remainder(total, weights)
    ]


@given(TOTALS, WEIGHTS, st.integers(1, 1000))
def test_only_proportions_count(total, weights, scale):
    assume(any(weights))
    scaled = [weight * scale for weight in weights]
    assert largest_remainder(total, scaled) == largest_remainder(total, weights)
