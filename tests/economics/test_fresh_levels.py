"""What started, stopped or stepped days ago may go on or not: totals lie between the level before and the one of now, and say so."""

import numpy as np
import pytest

from apps.economics.forecast.answers import fresh_gate
from apps.economics.forecast.day_totals import is_intermittent
from apps.economics.forecast.fresh_levels import days_since_start, fresh_level
from apps.economics.forecast.hour_paths import BegunDays, DayOfHours, HourPaths
from apps.economics.forecast.near_days import NearDays, joined
from apps.economics.forecast.planned import ORDINARY
from apps.economics.forecast.scores import DAY, Floats
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields

DAYS, WEEK_HOURS = 70, 168


def hours(before: float, now: float, days: int, *, scatter: float = 0.1) -> Floats:
    """Ten weeks by the hour of which the last days are of another level."""
    day = np.arange(DAYS * DAY) // DAY
    level = np.where(day < DAYS - days, before, now)
    return level * (1 + scatter * np.random.default_rng(days).uniform(-1, 1, len(day)))


def week_of(values: Floats) -> tuple[float, float, float]:
    """What is expected of the next week, and its 80 % interval."""
    made = forecast_fields(values.tolist())
    return sum(made["expected"][:WEEK_HOURS]), made["sums"][0][6], made["sums"][-1][6]


@pytest.mark.parametrize("level", [42.0, 16.0])
@pytest.mark.parametrize("scatter", [0.0, 0.1])
def test_what_started_lies_between_nothing_and_going_on_and_leans_to_it_the_longer_it_has(
    level: float, scatter: float
) -> None:
    whole, expected = level * WEEK_HOURS, []
    for days in (1, 3, 5, 10):
        mean, low, high = week_of(hours(0, level, days, scatter=scatter))
        assert low <= 0.1 * whole
        assert high >= whole
        assert mean == pytest.approx(whole * days / (days + 4), rel=0.1)
        expected.append(mean)
    assert expected == sorted(expected)
    for days in (16, 28):
        mean, low, high = week_of(hours(0, level, days, scatter=scatter))
        assert mean == pytest.approx(whole, rel=0.15)
        assert low < whole * 1.02
        assert high > whole * 0.98


@pytest.mark.parametrize("days", [1, 2, 3])
@pytest.mark.parametrize(("before", "now"), [(14.0, 0.0), (8.0, 20.0), (20.0, 8.0)])
def test_after_a_stop_or_step_of_days_both_levels_lie_in_the_interval(
    before: float, now: float, days: int
) -> None:
    mean, low, high = week_of(hours(before, now, days))
    assert low <= min(before, now) * WEEK_HOURS
    assert high >= max(before, now) * WEEK_HOURS
    believed = days / (days + 4)
    assert mean == pytest.approx(WEEK_HOURS * (before + believed * (now - before)), rel=0.05)


def test_what_stopped_is_believed_to_be_over_after_two_weeks() -> None:
    expected = [week_of(hours(14, 0, days))[0] for days in (3, 7, 10, 14)]
    assert expected == sorted(expected, reverse=True)
    assert expected[-1] < 0.02 * expected[0]


@pytest.mark.parametrize("days", [1, 4, 6, 9])
def test_no_gate_narrows_intervals_while_a_level_is_fresh(days: int) -> None:
    gates = forecast_fields(hours(8, 20, days).tolist())["gates"]
    said = [gate["says"] for gate in gates if gate["name"] == "coverage"]
    assert said
    assert not any("which is enough" in each for each in said)


def test_hours_of_what_started_are_those_of_its_days() -> None:
    hour = np.arange(DAYS * DAY)
    is_office = (hour % DAY >= 9) & (hour % DAY < 18)
    values = np.where(is_office & (hour // DAY >= DAYS - 2), 8.0, 0.0)
    expected = np.array(forecast_fields(values.tolist())["expected"]).reshape(-1, DAY)
    assert expected[:, 9:18].sum() == pytest.approx(expected.sum())
    assert expected.sum(axis=1) == pytest.approx(np.full(14, expected[0].sum()), rel=0.05)


def test_the_shape_of_the_week_is_kept_and_days_not_known_do_not_move_it() -> None:
    shape = np.where(np.arange(DAYS) % 7 < 5, 100.0, 50.0)
    values = np.where(np.arange(DAYS) < DAYS - 2, shape, 0.0)
    values[40] = np.nan
    level = fresh_level(values)
    assert level is not None
    assert level.days == 2
    assert level.ratios == pytest.approx(1.0, rel=0.02)
    of_days = level.totals(14, np.random.default_rng(0)).mean(axis=0)
    assert of_days[5:7] == pytest.approx(of_days[:2] / 2, rel=0.05)


def test_what_is_rare_or_only_noisy_is_not_fresh() -> None:
    day = np.arange(84)
    for seed in range(10):
        draw = np.random.default_rng(seed)
        every_second_week = np.where(day // 7 % 2 == 0, draw.integers(4, 12, 84), 0.0)
        office = np.where(day % 7 < 5, draw.binomial(9, 0.45, 84) * 8.0, 0.0)
        for values in (every_second_week, office):
            assert not any(fresh_level(values[:end]) for end in range(42, 85))
        one_in_ten = np.where(draw.random(84) < 0.1, 8.0, 0.0)
        assert sum(days_since_start(one_in_ten[:end]) > 0 for end in range(42, 85)) <= 2
        noisy = np.exp(draw.normal(0, 0.5, 84))
        assert sum(fresh_level(noisy[:end]) is not None for end in range(42, 85)) <= 4


def test_levels_are_not_told_of_few_days_or_of_credits() -> None:
    assert fresh_level(np.full(3, np.nan)) is None
    assert fresh_level(np.array([5.0, 5.0, 50.0])) is None
    assert fresh_level(np.full(40, 5.0)) is None
    assert fresh_level(np.array([*np.full(40, 5.0), -50.0])) is None
    assert fresh_level(np.array([*np.zeros(40), *np.full(15, 5.0)])) is None, "it goes on"
    assert not is_intermittent(np.array([*np.zeros(40), *np.full(15, 5.0)]))
    assert is_intermittent(np.array([*np.zeros(40), *np.full(4, 5.0), *np.zeros(9), 5.0]))
    assert days_since_start(np.array([*np.zeros(40), 5.0, *np.zeros(9), 5.0, 5.0])) == 0


def test_the_gate_says_of_how_many_days_the_level_is() -> None:
    level = fresh_level(np.array([*np.full(40, 5.0), 50.0, 50.0]))
    assert level is not None
    gate = fresh_gate(level, 14)
    assert gate.is_passed is None
    assert "totals of 7 days" in gate.says
    assert "2 days" in gate.says
    assert "a total of a day" in fresh_gate(level, 1).says


def days_begun(values: Floats, capacity: float) -> dict[str, list[float]]:
    made = forecast_fields(values.tolist())
    paths = HourPaths(made["paths"], [(ORDINARY, 1 / DAY)] * 336, made["expected"])
    days = [DayOfHours(place, place * DAY, place * DAY + DAY) for place in range(14)]
    by_day = values.reshape(-1, DAY).sum(axis=1).tolist()
    room = [capacity] * 60 if capacity else []
    return daily_forecast_fields(
        by_day, [ORDINARY] * 60, [60], capacity=room, begun=BegunDays(paths, days)
    )


@pytest.mark.parametrize(
    "values", [hours(0, 16, 10, scatter=0), hours(0, 42, 5), hours(14, 0, 2), hours(8, 20, 1)]
)
@pytest.mark.parametrize("capacity", [0.0, 576.0])
def test_days_join_on_without_a_jump_and_within_what_is_there(
    values: Floats, capacity: float
) -> None:
    made = days_begun(values, capacity)
    most = max(1.5 * values.reshape(-1, DAY).sum(axis=1).max(), capacity)
    for name in ("points", "expected"):
        days = made[name]
        assert max(days[14:]) <= most
        # By at most a tenth of the most that was seen.
        assert days[14] == pytest.approx(days[13], abs=0.1 * most)


def test_later_days_of_what_is_over_twice_their_own_are_no_larger_than_near_ones() -> None:
    near = np.where(np.arange(200)[:, None] < 100, 384.0, 0.0) * np.ones(14)
    own = np.where(np.arange(200)[:, None] % 10 < 1, 400.0, 0.0) * np.ones(60)
    found, _ = joined(own, NearDays(np.arange(14), near, near, near.mean(axis=0)), 450.0)
    assert set(np.unique(found)) == {0.0, 384.0, 400.0}
    means = found.mean(axis=0)
    assert means[14] == pytest.approx(means[13], rel=0.1)
    assert means[28] == pytest.approx((means[13] + 40) / 2, rel=0.1), "half of the way in two weeks"
    capped, _ = joined(own / 4 + 10, NearDays(np.arange(14), near, near, near.mean(axis=0)), 200.0)
    assert capped[:, 14:].max() == 200.0
