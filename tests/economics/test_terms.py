"""A term's amount over its hours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.terms import HourOutsideTerm, term_amount_in_hour


def test_seven_days_up_front_are_spread_to_the_micro_unit():
    # FOCUS example: 26.69589041 over 7 days is 3.81369863 a day.
    day = sum(term_amount_in_hour(26_695_890, 168, k) for k in range(24))
    assert day == 3_813_698


@given(st.integers(-(10**12), 10**12), st.integers(1, 800))
def test_the_hours_of_a_term_sum_to_its_amount_and_differ_by_one_at_most(total, hours):
    parts = [term_amount_in_hour(total, hours, k) for k in range(hours)]
    assert sum(parts) == total
    assert max(parts) - min(parts) <= 1


@pytest.mark.parametrize("k", [-1, 24])
def test_an_hour_outside_the_term_is_refused(k):
    with pytest.raises(HourOutsideTerm):
        term_amount_in_hour(100, 24, k)
