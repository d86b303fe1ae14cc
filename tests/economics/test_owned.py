"""Owned hardware: its hours sum to what was paid, and power is what the meter and tariff say."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.owned import (
    DrawnPower,
    HourOfLife,
    NotAnOwnedPlan,
    OwnedPurchase,
    cost_of_hour,
    power_micros,
)

DAY_MS = 86_400_000
KWH = 3_600_000
# 280,000 with 28,000 left after four years: 63,000 a year.
PLAN = OwnedPurchase(
    280_000_000_000, 28_000_000_000, 48, {"staff": 7_300_000_000}, Fraction(13, 10)
)


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.lists(st.integers(1, 30), min_size=1, max_size=8),
)
def test_depreciation_over_the_life_is_the_purchase_less_the_salvage(
    written_off: int, salvage: int, months: list[int]
) -> None:
    plan = OwnedPurchase(written_off + salvage, salvage, len(months), {})
    hours = [
        cost_of_hour(plan, HourOfLife(month, hour, length), None, [])
        for month, length in enumerate(months)
        for hour in range(length)
    ]
    assert sum(hour.depreciation_micros for hour in hours) == written_off
    assert min(hour.depreciation_micros for hour in hours) >= 0


@given(st.integers(0, 10**10), st.integers(0, 10**10), st.integers(1, 745))
def test_a_months_hours_sum_to_each_monthly_cost(staff: int, colocation: int, length: int) -> None:
    plan = replace(PLAN, monthly_micros={"staff": staff, "colocation": colocation})
    hours = [cost_of_hour(plan, HourOfLife(0, k, length), None, []) for k in range(length)]
    assert sum(hour.running_micros["staff"] for hour in hours) == staff
    assert sum(hour.running_micros["colocation"] for hour in hours) == colocation


def test_a_year_of_straight_line_depreciation() -> None:
    year = [
        cost_of_hour(PLAN, HourOfLife(m, h, 730), None, []) for m in range(12) for h in range(730)
    ]
    assert sum(hour.depreciation_micros for hour in year) == 63_000_000_000


def test_a_day_of_eight_gpus_by_their_rated_watts() -> None:
    # (8 × 700 + 1800) W × 24 h × 1.3 = 230.88 kWh, at 0.12.
    drawn = [DrawnPower(Fraction((8 * 700 + 1800) * DAY_MS, 1000), 120_000)]
    assert power_micros(drawn, Fraction(13, 10)) == 27_705_600


def test_tariffs_hold_by_time_of_day() -> None:
    drawn = [
        DrawnPower(Fraction(5 * KWH), 80_000),
        DrawnPower(Fraction(5 * KWH), 200_000),
        DrawnPower(Fraction(10 * KWH), 120_000),
    ]
    assert power_micros(drawn, Fraction(1)) == 2_600_000


def test_a_meter_beats_the_rated_watts_and_says_so() -> None:
    rated = [DrawnPower(Fraction(KWH, 2), 100_000)]
    metered = cost_of_hour(PLAN, HourOfLife(0, 0, 730), [DrawnPower(Fraction(KWH), 100_000)], rated)
    unmetered = cost_of_hour(PLAN, HourOfLife(0, 0, 730), None, rated)
    assert (metered.power_micros, metered.is_measured) == (130_000, True)
    assert (unmetered.power_micros, unmetered.is_measured) == (65_000, False)


def test_loaded_is_everything_and_marginal_is_power() -> None:
    hour = cost_of_hour(PLAN, HourOfLife(0, 0, 730), [DrawnPower(Fraction(KWH), 100_000)], [])
    # 252,000 / 48 / 730 = 7.191780 a node-hour; 7,300 / 730 = 10.
    assert hour.loaded_micros == 7_191_780 + 10_000_000 + 130_000
    assert hour.marginal_micros == 130_000


def test_after_its_life_hardware_costs_only_what_runs() -> None:
    hour = cost_of_hour(PLAN, HourOfLife(48, 0, 730), None, [])
    assert (hour.depreciation_micros, hour.loaded_micros) == (0, 10_000_000)


@pytest.mark.parametrize(
    "change",
    [
        {"life_months": 0},
        {"salvage_micros": 280_000_000_001},
        {"salvage_micros": -1},
        {"pue": Fraction(1, 2)},
    ],
)
def test_plans_that_make_no_sense_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(NotAnOwnedPlan):
        replace(PLAN, **change)
