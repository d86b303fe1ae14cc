"""The robust deviation is 1.4826 times the median distance from the middle, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.deviations import robust_deviation


def test_it_is_the_standard_deviation_of_many_normal_values() -> None:
    values = np.random.default_rng(7).normal(10.0, 2.0, 100_001).tolist()

    assert robust_deviation(values, 10.0) == pytest.approx(2.0, rel=0.01)


def test_a_few_far_values_do_not_move_it() -> None:
    assert robust_deviation([9.0, 10.0, 11.0, 12.0, 1e9], 11.0) == 1.4826
    assert robust_deviation([9.0, 10.0, 11.0, 12.0, 1e9], 11.0, times=2.0) == 2.0 * 1.4826


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_it_is_what_arrays_come_to(values: list[float]) -> None:
    array = np.array(values)
    middle = float(np.median(array))

    assert robust_deviation(values, middle) == 1.4826 * float(np.median(np.abs(array - middle)))
