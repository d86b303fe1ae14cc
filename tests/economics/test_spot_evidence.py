"""Rates of interruption with their range, by hour of the day, and how long spot of an age still lasts."""

import numpy as np
import pytest

from apps.economics.spot.evidence import (
    FEWEST_LIVES,
    SpotLife,
    interruption_rate,
    lifetimes_of_trace,
    median_life,
    rates_by_hour,
    remaining_life,
)
from tests.economics.spot_traces import trace_of


def life(hours: float, *, taken: bool = True, starts: float = 0.0) -> SpotLife:
    return SpotLife(starts * 3600, hours, taken)


def test_of_no_hour_nothing_is_known_and_of_no_interruption_a_bound() -> None:
    assert interruption_rate([]).high is None
    quiet = interruption_rate([life(300, taken=False)])
    assert (quiet.rate, quiet.low, quiet.high, quiet.is_thin) == (None, 0, 0.01, True)
    many = interruption_rate([life(10)] * 10)
    assert many.rate == 0.1
    assert many.low < 0.1 < many.high
    assert not many.is_thin


def test_lives_of_a_trace_end_only_where_somebody_saw_it() -> None:
    unknown = float("nan")
    trace = trace_of([1, 1, 0, 1, unknown, 1, 1, 0, 0, 1], tick=1.0)
    lives = lifetimes_of_trace(trace, 7200.0)
    assert [(one.starts / 3600, one.hours, one.was_interrupted) for one in lives] == [
        (2, 2, True),
        (5, 1, False),
        (7, 2, True),
        (11, 1, False),
    ]


def test_hours_of_the_day_share_out_all_time_and_all_interruptions() -> None:
    lives = [life(2.5, starts=22.75), life(30, taken=False), life(0.5, starts=47.25)]
    hours = rates_by_hour(lives)
    assert sum(hour.exposure_hours for hour in hours) == pytest.approx(33)
    assert (hours[22].exposure_hours, hours[23].exposure_hours) == pytest.approx((1.25, 2.5))
    assert {at: hour.interruptions for at, hour in enumerate(hours) if hour.interruptions} == {
        1: 1,
        23: 1,
    }
    # An hour that saw none is no safer for certain: it has the rate of all, a little less.
    assert 0 < hours[12].rate < 2 / 33
    assert hours[23].rate > 2 / 33
    assert [hour.rate for hour in rates_by_hour([life(5, taken=False)])] == [None] * 24


def test_remaining_life_is_the_mean_of_what_is_left() -> None:
    lives = [life(float(hours)) for hours in range(1, 41)]
    assert remaining_life(lives, 0.0) == pytest.approx(20.5)
    assert remaining_life(lives, 30.0) == pytest.approx(5.5)
    assert remaining_life(lives, 40.0) is None
    assert remaining_life(lives[: FEWEST_LIVES - 1], 0.0) is None


def test_a_life_that_goes_on_counts_as_longer() -> None:
    ended = [life(2.0)] * 30
    going = [life(10.0, taken=False)] * 30
    assert remaining_life(ended, 0.0) == pytest.approx(2)
    # Half of them went on for at least 8 h more.
    assert remaining_life(ended + going, 0.0) == pytest.approx(2 + 0.5 * 8)


def test_half_of_the_lives_are_over_at_the_median() -> None:
    lives = [life(float(hours)) for hours in range(1, 41)]
    assert median_life(lives) == 20
    assert median_life(lives[: FEWEST_LIVES - 1]) is None
    # Nine more that go on: 25 of 49 are over at 25 h.
    assert median_life(lives + [life(99.0, taken=False)] * 9) == 25
    assert median_life(lives + [life(99.0, taken=False)] * 41) is None


def test_of_exponential_lives_the_mean_comes_back() -> None:
    draw = np.random.default_rng(2)
    drawn = draw.exponential(3.0, 4000)
    lives = [life(float(min(hours, 9.0)), taken=bool(hours < 9.0)) for hours in drawn]
    for age in (0.0, 2.0):
        assert remaining_life(lives, age) == pytest.approx(
            3 * (1 - np.exp(-(9 - age) / 3)), rel=0.05
        )
