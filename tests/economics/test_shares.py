"""Parts of a GPU are exact fractions."""

from fractions import Fraction

import pytest

from apps.economics.shares import (
    NotAShare,
    ShareRule,
    mig_share,
)

H100 = {"of_compute": 7, "of_memory": 8}


@pytest.mark.parametrize(
    ("compute", "memory", "share"),
    [
        (1, 1, Fraction(1, 7)),
        (1, 2, Fraction(1, 4)),
        (2, 2, Fraction(2, 7)),
        (3, 4, Fraction(1, 2)),
        (4, 4, Fraction(4, 7)),
        (7, 8, Fraction(1)),
    ],
)
def test_a_slice_counts_by_the_larger_of_its_two_fractions(compute, memory, share):
    assert mig_share(compute, memory, **H100) == share


def test_a_pool_may_count_by_compute_or_by_memory():
    assert mig_share(1, 2, **H100, rule=ShareRule.COMPUTE) == Fraction(1, 7)
    assert mig_share(2, 2, **H100, rule=ShareRule.MEMORY) == Fraction(1, 4)


@pytest.mark.parametrize("slices", [(0, 1), (1, 0), (8, 8), (7, 9)])
def test_what_is_not_a_part_of_a_gpu_is_refused(slices):
    with pytest.raises(NotAShare):
        mig_share(*slices, **H100)
