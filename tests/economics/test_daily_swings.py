"""By the day: what comes and goes goes on as it did on the mean, a single day is no level, what is over stays over."""

from itertools import pairwise

import numpy as np
import pytest

from apps.economics.forecast.daily import DailyScenarios, clip_with_means, daily_scenarios
from apps.economics.forecast.daily_rare import rare_level
from apps.economics.forecast.daily_scores import daily_baselines
from apps.economics.forecast.daily_swings import (
    first_day_of_nothing,
    first_week_of_nothing,
    lasting_weeks,
    without_lone_days,
)
from apps.economics.forecast.planned import ORDINARY
from apps.economics.forecast.scores import Floats
from apps.planning.solvers.daily_forecasting import daily_forecast_fields

MONTHS = [*range(30, 548, 30)]
NAN = float("nan")


def noise(days: int, seed: int = 1, spread: float = 0.05) -> Floats:
    return np.exp(np.random.default_rng(seed).normal(0, spread, days))


def months(made: DailyScenarios) -> Floats:
    return made.sums(np.array(MONTHS)).mean(axis=0)


def bursts(days: int, shift: int, every: int, lasts: int, low: float, high: float) -> Floats:
    day = np.arange(days) + shift
    return 24 * np.where(day % every < lasts, high, low) * noise(days)


@pytest.mark.parametrize("shift", range(0, 30, 6))
def test_months_of_bursts_are_within_a_quarter_of_what_months_were(shift: int) -> None:
    values = bursts(90, shift, 30, 7, 2.5, 20.5)
    usual = 30 * values.mean()
    found = months(daily_scenarios(values, 548))
    assert found[2:] == pytest.approx(np.full(len(found) - 2, usual), rel=0.25)


@pytest.mark.parametrize("days", [120, 240])
def test_months_that_alternate_come_to_their_mean_whatever_the_last_one_was(days: int) -> None:
    values = bursts(days, 0, 60, 30, 3, 18)
    fields = daily_forecast_fields(values.tolist(), [ORDINARY] * 548, [*MONTHS, 548])
    found = [month["value"] for month in fields["months"][2:-1]]
    assert found == pytest.approx([30 * values.mean()] * len(found), rel=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_expected_grows_by_variance_alone(seed: int) -> None:
    values = 100 * np.repeat(noise(16, seed, 0.4), 7) * noise(112, seed)
    best = max(values[begin : begin + 28].mean() for begin in range(85))
    found = months(daily_scenarios(values, 548))
    assert (found <= 1.1 * 30 * best * 1.05).all()


def test_a_step_holds_within_what_was_seen() -> None:
    values = 24 * np.where(np.arange(84) < 56, 4, 20) * noise(84)
    found = months(daily_scenarios(values, 548))
    assert found == pytest.approx(np.full(len(found), 30 * 480.0), rel=0.15)


def test_steady_growth_of_two_percent_a_week_goes_on_and_is_damped() -> None:
    values = 240 * 1.02 ** (np.arange(182) / 7) * noise(182, spread=0.02)
    found = months(daily_scenarios(values, 548)) / (30 * values[-7:].mean())
    # Of it 95 % are left each week: nineteen weeks of two percent.
    assert found[-1] == pytest.approx(1.02**19, rel=0.05)
    assert all(later > earlier * 0.995 for earlier, later in pairwise(found))


@pytest.mark.parametrize("back", [1, 4, 20])
def test_one_credit_is_no_level_and_comes_no_more(back: int) -> None:
    values = 240 * noise(84, spread=0.02)
    values[-back] = -7200.0
    fields = daily_forecast_fields(values.tolist(), [ORDINARY] * 548, [*MONTHS, 548])
    found = [month["value"] for month in fields["months"][:-1]]
    assert found == pytest.approx([7200.0] * len(found), rel=0.1)
    expected = np.cumsum(fields["expected"])
    assert (np.array(fields["sums"][0]) <= expected + 1e-6).all()
    assert (np.array(fields["sums"][-1]) >= expected - 1e-6).all()


def test_days_that_stand_out_again_and_again_come_again() -> None:
    values = 200 * noise(180, spread=0.02)
    values[::30] = 5000.0
    assert daily_scenarios(values, 360).totals.mean() == pytest.approx(values.mean(), rel=0.15)


def test_a_day_that_stands_alone_is_brought_to_those_beside_it_and_a_new_level_is_not() -> None:
    values = np.tile([10.0, 11.0, 12.0], 10)
    values[9], values[-1] = 90.0, 40.0
    found = without_lone_days(values)
    assert (found[9], found[-1]) == (12.0, 40.0)
    values[-1] = -40.0
    assert without_lone_days(values)[-1] == 10.0


@pytest.mark.parametrize("left", [0.0, 1.5])
@pytest.mark.parametrize("days", [16, 24, 40])
def test_what_is_over_for_more_than_two_weeks_stays_over(left: float, days: int) -> None:
    values = 300 * noise(110)
    values[-days:] = left * noise(days)
    fields = daily_forecast_fields(values.tolist(), [ORDINARY] * 548, [*MONTHS, 548])
    assert max(month["value"] for month in fields["months"]) < 0.02 * 30 * 300


def test_pauses_that_ended_before_end_again() -> None:
    values = np.where(np.arange(136) % 40 < 20, 100.0, 0.0)
    assert first_day_of_nothing(values) == 0
    assert first_day_of_nothing(np.append(values, np.zeros(40))) == 0
    assert first_day_of_nothing(np.append(values, np.zeros(41))) == 136
    assert first_day_of_nothing(values[:25]) == 0
    paused = values[:116]
    assert rare_level(paused) > 20
    assert daily_baselines(paused, 7)["mean_28"][0] > 0


def test_weeks_of_next_to_nothing_begin_after_the_last_busy_one() -> None:
    assert first_week_of_nothing(np.array([10.0, 10.0, NAN, 0.1, 0.1])) == 3
    assert first_week_of_nothing(np.array([10.0, 0.1])) == 1
    assert first_week_of_nothing(np.array([10.0, 10.0])) == 0
    assert first_week_of_nothing(np.array([0.0, 0.0])) == 0


def test_a_level_lasts_as_long_as_between_its_leaps_unless_it_stays() -> None:
    swinging = np.array([2.0, 2, 2, 20, 2, 2, 2, 20, 2, 2])
    assert lasting_weeks(swinging) == 2.0
    assert lasting_weeks(np.append(swinging, [2.0] * 6)) is None
    assert lasting_weeks(np.array([2.0, 2, 2, 20, 20])) is None
    assert lasting_weeks(np.array([2.0, 20.0, 2.0])) is None


def test_scenarios_held_within_bounds_keep_their_mean() -> None:
    values = np.array([0.0, 10.0])
    totals = np.random.default_rng(0).normal(12, 15, (200, 3))
    expected = np.array([5.0, 15.0, 18.0])
    held = clip_with_means(values, totals, expected)
    assert held.min() >= 0
    assert held.max() <= 30
    assert held.mean(axis=0) == pytest.approx([5.0, 15.0, 18.0], rel=0.02)


def test_two_known_days_a_week_make_no_level_of_weeks() -> None:
    values = np.full(140, NAN)
    values[0::7] = values[3::7] = 50.0
    made = daily_scenarios(values, 28)
    assert np.isfinite(made.totals).all()
