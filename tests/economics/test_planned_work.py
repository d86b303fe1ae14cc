"""Planned work by day, by hand."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.forecast.names import SCENARIOS
from apps.economics.gpu_model import Precision
from apps.economics.model_flops import Peak, peak_of
from apps.economics.planned_work import (
    Floats,
    ImpossibleWork,
    PlanBand,
    WorkSpread,
    bands_of,
    carried_days,
    ends_of_spans,
    fluid_backlog,
    launch_days,
    month_starts,
    spread_shares,
    sums_of_spans,
    training_days,
    training_gpu_hours,
    week_starts,
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


def by_day(*hours: float) -> Floats:
    return np.array(hours, dtype=np.float64)


def test_a_training_holds_its_gpus_from_its_start_until_it_is_done() -> None:
    # 8 GPUs for 60 hours from noon of the second day on, of which the clocks are put forward on the third.
    held = training_days(by_day(480), 8, 36, by_day(24, 24, 23, 24, 24))
    assert held.tolist() == [[0, 96, 184, 192, 8]]
    assert training_days(by_day(480), 8, -40, by_day(24, 24)).tolist() == [[160, 0]], "done before"
    assert training_days(by_day(480), 8, 99, by_day(24, 24)).tolist() == [[0, 0]]
    assert training_days(by_day(96, 288), 8, 0, by_day(24, 24)).tolist() == [[96, 0], [192, 96]]


@given(
    st.floats(1, 1e6),
    st.integers(1, 1000),
    st.floats(-500, 500),
    st.lists(st.sampled_from([23.0, 24.0, 25.0]), min_size=1, max_size=60),
)
def test_no_day_holds_more_than_its_real_hours_and_no_training_more_than_it_takes(
    gpu_hours, gpus, begins, hours
) -> None:
    held = training_days(by_day(gpu_hours), gpus, begins, by_day(*hours))[0]
    assert (held <= gpus * by_day(*hours) * (1 + 1e-9)).all()
    assert held.sum() <= gpu_hours * (1 + 1e-9) + 1e-6


def test_traffic_by_week_stays_as_in_its_last_week() -> None:
    assert launch_days([70, 210], 0.5, 0, 16).tolist() == [5.0] * 7 + [15.0] * 9
    assert launch_days([70, 210], 0.5, 3, 11).tolist() == [0.0] * 3 + [5.0] * 7 + [15.0]
    assert launch_days([70, 210], 0.5, -7, 2).tolist() == [15.0] * 2


def test_a_forecast_is_carried_on_at_the_level_of_its_last_week() -> None:
    two_weeks = np.array([[10.0] * 7 + [20.0] * 7, [30.0] * 14])
    carried = carried_days(two_weeks, 0, 21, 0.0)
    assert carried.tolist() == [[10.0] * 7 + [20.0] * 14, [30.0] * 21]
    assert carried_days(two_weeks, 2, 3, 0.5).tolist() == [[10.0] * 3, [30.0] * 3]
    grown = carried_days(two_weeks, -14, 31, 0.1)[1]
    # Its middle is half a month on: 1.1^0.5; its last day nearly a month.
    assert grown[15] == pytest.approx(30 * 1.1 ** (15.5 / 30.4375))
    assert grown[-1] == pytest.approx(30 * 1.1 ** (30.5 / 30.4375))


def test_what_is_above_the_capacity_waits_until_there_is_room() -> None:
    demand = np.array([[100.0, 300, 150, 0], [0.0, 0, 0, 500]])
    assert fluid_backlog(demand, by_day(200, 200, 200, 200)).tolist() == [
        [0, 100, 50, 0],
        [0, 0, 0, 300],
    ]


def test_days_fall_into_weeks_and_months() -> None:
    assert week_starts(15).tolist() == [0, 7, 14]
    starts = month_starts(date(2026, 2, 27), 33)
    assert starts.tolist() == [0, 2]
    amounts = np.array([[1.0] * 33])
    assert sums_of_spans(amounts, starts).tolist() == [[2, 31]]
    assert ends_of_spans(np.arange(33.0)[None, :], starts).tolist() == [[1, 32]]


@given(st.integers(1, 40), st.integers(0, 400))
def test_weeks_and_months_have_every_day_once(weeks, first) -> None:
    days = 7 * weeks
    first_day = date.fromordinal(date(2026, 1, 1).toordinal() + first)
    amounts = np.random.default_rng(first).random((1, days))
    for starts in (week_starts(days), month_starts(first_day, days)):
        assert sums_of_spans(amounts, starts).sum() == pytest.approx(amounts.sum())


def test_a_band_holds_eight_of_ten_scenarios_and_one_row_has_none() -> None:
    (band,) = bands_of(np.arange(201.0)[:, None])
    assert band == PlanBand(20, 100, 180)
    assert bands_of(np.array([[5.0]])) == [PlanBand(None, 5.0, None)]


def test_a_tenth_of_work_is_below_its_low_and_a_tenth_above_its_high() -> None:
    shares = spread_shares("pretrain", WorkSpread(0.8, 1.5))
    assert len(shares) == SCENARIOS
    assert ((shares < 0.8).sum(), (shares > 1.5).sum()) == (20, 20)
    assert np.median(shares) == pytest.approx(1, abs=0.01)
    assert shares.min() > 0
    assert spread_shares("pretrain", None).tolist() == [1]


def test_works_are_independent_and_always_the_same() -> None:
    spread = WorkSpread(0.5, 2)
    one, other = spread_shares("one", spread), spread_shares("other", spread)
    assert (spread_shares("one", spread) == one).all()
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.2
