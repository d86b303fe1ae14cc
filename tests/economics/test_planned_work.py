"""Planned work by week, by hand."""

from datetime import date

import pytest

from apps.economics.gpu_model import Precision
from apps.economics.model_flops import Peak, peak_of
from apps.economics.planned_work import (
    ImpossibleWork,
    QueueWeek,
    fluid_queue,
    forecast_weeks,
    launch_weeks,
    months_of_weeks,
    price_factors,
    training_gpu_hours,
    training_weeks,
)

H100 = Peak("H100", Precision.BF16, 989.4e12)


def test_a_training_takes_six_operations_for_each_parameter_and_token() -> None:
    # 6 × 7e9 × 2e12 = 8.4e22 operations; 989.4e12 × 0.4 a second: 58,958 GPU-hours.
    assert training_gpu_hours(7e9, 2e12, H100, 0.4) == pytest.approx(58_958.3, rel=1e-5)
    peak = peak_of("NVIDIA H100 80GB HBM3", Precision.BF16)
    assert isinstance(peak, Peak)
    assert training_gpu_hours(7e9, 2e12, peak, 0.4) == pytest.approx(58_958.3, rel=1e-3)


@pytest.mark.parametrize("given", [(0, 1e12, 0.4), (7e9, 0, 0.4), (7e9, 1e12, 0), (7e9, 1e12, 1.1)])
def test_no_training_is_of_nothing_or_better_than_its_peak(given) -> None:
    parameters, tokens, mfu = given
    with pytest.raises(ImpossibleWork):
        training_gpu_hours(parameters, tokens, H100, mfu)


def test_a_training_holds_its_gpus_from_its_start_until_it_is_done() -> None:
    # 8 GPUs for 250 hours from the third day on: 96 hours of the first week, 154 of the second.
    assert training_weeks(2000, 8, 72, 3) == (96 * 8, 154 * 8, 0)
    assert training_weeks(2000, 8, -200, 1) == (50 * 8,), "what it did before is done"
    assert training_weeks(2000, 8, 500, 2) == (0, 0)


def test_traffic_by_week_stays_as_in_its_last_week() -> None:
    assert launch_weeks([100, 300], 0.5, 0, 4) == (50, 150, 150, 150)
    assert launch_weeks([100, 300], 0.5, 168, 3) == (0, 50, 150)
    # It begins in the middle of the first week: half a week of 100, then half of 100 and half of 300.
    assert launch_weeks([100, 300], 0.5, 84, 3) == (25, 100, 150)


def test_a_forecast_is_carried_on_at_the_level_of_its_last_week() -> None:
    hourly = [10.0] * 168 + [20.0] * 168
    assert forecast_weeks(hourly, 1, 0, 3) == ((1680, 1), (3360, 1), (3360, 0))
    (first, known), (second, _) = forecast_weeks(hourly, 1, -252, 2)
    assert (first, known, second) == (3360, 0.5, 3360)
    assert forecast_weeks([48.0] * 14, 24, 0, 3) == ((336, 1), (336, 1), (336, 0))
    ((grown, _),) = forecast_weeks([10.0] * 168, 1, -168 - 730.5, 1, growth_per_month=0.1)
    assert 1680 * 1.1 < grown < 1680 * 1.1**1.24
    assert forecast_weeks([10.0] * 168, 1, 168, 1, growth_per_month=0.1) == ((1680, 0),)


def test_prices_change_from_their_hour_on() -> None:
    assert price_factors([], 2) == (1, 1)
    # From the middle of the second week on a tenth less; from the third on doubled.
    assert price_factors([(252, 0.9), (336, 2)], 3) == pytest.approx((1, 0.95, 1.8))


def test_what_is_above_the_capacity_waits_until_there_is_room() -> None:
    assert fluid_queue([1000, 2000, 1000, 0], 1344) == (
        QueueWeek(0, 0, 0),
        QueueWeek(656, 656, 82),
        QueueWeek(0, 312, 39),
        QueueWeek(0, 0, 0),
    )
    assert fluid_queue([10], 0) == (QueueWeek(10, 10, None),)


def test_weeks_fall_into_months_by_their_days() -> None:
    assert months_of_weeks(date(2026, 3, 29), [70, 140]) == {
        date(2026, 3, 1): 30,
        date(2026, 4, 1): 180,
    }
