"""Weeks, creeps and weekends that are over their line are found; shapes that move, rest or end a month are none."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_watch import (
    expected_days,
    month_end,
    month_end_excess,
    out_of_line,
)
from apps.economics.spend_weeks import (
    DayNoise,
    line_of,
    noise_of,
    sums_of,
    week_out_of_line,
    weekend_out_of_line,
    without_runs,
    without_spells,
)
from bench.spend_anomalies import made_days

SHAPE = (1.0, 1.05, 1.0, 0.95, 1.0, 0.3, 0.2)
MONDAY = date(2026, 1, 5).toordinal()


def days_like(
    count: int, noise: float, seed: int = 1, shape: tuple[float, ...] = SHAPE
) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return 100 * np.array(shape)[np.arange(count) % 7] * np.exp(draw.normal(0, noise, count))


def first_found(values: np.ndarray, since: int) -> tuple[int, SpendDetector] | None:
    """On which day something is out of line, counted from one, and what found it."""
    for end in range(since + 1, len(values) + 1):
        found = out_of_line(values[:end])
        if found is not None:
            return end - 1 - since, found.look
    return None


def test_a_step_that_no_day_shows_is_found_by_the_week() -> None:
    values = days_like(120, 0.05)
    assert first_found(values, 60) is None
    values[100:] *= 1.2
    found = first_found(values, 100)
    assert found is not None
    assert found[0] <= 14
    assert found[1] is SpendDetector.WEEK


@pytest.mark.parametrize("incident", [1.8, 2.5, 6.0])
@pytest.mark.parametrize("lasted", [1, 3, 5])
def test_a_level_that_is_new_is_found_though_an_incident_came_before(
    incident: float, lasted: int
) -> None:
    values = days_like(160, 0.05)
    values[90 : 90 + lasted] *= incident
    assert first_found(values, 110) is None, "it is over"
    values[140:] *= 1.3
    found = first_found(values, 140)
    assert found is not None
    assert found[0] <= 14


@pytest.mark.parametrize("before", [21, 60])
@pytest.mark.parametrize("lasted", [7, 10])
def test_a_level_that_is_new_is_found_though_an_incident_of_a_week_or_more_came_before(
    lasted: int, before: int
) -> None:
    for incident in (2.0, 4.0):
        values = days_like(240, 0.05)
        values[200 - before : 200 - before + lasted] *= incident
        assert first_found(values[:200], 207 - before + lasted) is None, "it is over"
        values[200:] *= 1.5
        found = first_found(values, 200)
        assert found is not None
        assert found[0] <= 14


@pytest.mark.parametrize(("lasted", "cut"), [(10, 0.1), (14, 0.5), (7, 0.3)])
@pytest.mark.parametrize("seed", range(3))
def test_spend_that_is_back_where_it_was_before_holidays_is_no_news(
    seed: int, lasted: int, cut: float
) -> None:
    values = days_like(240, 0.05, seed)
    values[140 - lasted : 140] *= cut
    assert first_found(values, 140) is None
    # Above where it was before is news.
    values[140:] *= 1.5
    found = first_found(values, 140)
    assert found is not None
    assert found[0] <= 14


def test_a_level_that_fell_for_good_and_rose_again_is_news() -> None:
    values = days_like(240, 0.05)
    values[80:140] *= 0.6
    found = first_found(values, 140)
    assert found is not None
    assert found[0] <= 14


@given(
    lasted=st.integers(1, 12),
    factor=st.floats(1.6, 6.0),
    dear=st.booleans(),
    seed=st.integers(0, 9),
)
def test_only_runs_that_came_back_are_cut_to_what_was_expected(
    lasted: int, factor: float, dear: bool, seed: int
) -> None:
    plain = days_like(200, 0.03, seed)
    expected = expected_days(plain)
    values = plain.copy()
    values[150 : 150 + lasted] *= factor if dear else 1 / factor
    cut = without_runs(values, expected, dear=dear)
    assert (cut[150 : 150 + lasted] == expected[150 : 150 + lasted]).all()
    assert (
        np.delete(cut, range(150, 150 + lasted)) == np.delete(values, range(150, 150 + lasted))
    ).all()
    assert (without_runs(values, expected, dear=not dear) == values).all()
    lasting = plain.copy()
    lasting[150:] *= factor if dear else 1 / factor
    assert (without_runs(lasting, expected, dear=dear) == lasting).all()


def test_more_than_two_weeks_are_a_level_and_of_few_days_nothing_is_known_to_be_out_of_line() -> (
    None
):
    expected = np.full(200, 100.0)
    values = expected.copy()
    values[100:120] = 200.0
    assert (without_runs(values, expected, dear=True) == values).all()
    assert (without_runs(values[:106], expected[:106], dear=True) == values[:106]).all()
    few = np.array([100.0] * 8 + [300.0, 100.0, 100.0])
    assert (without_runs(few, expected[:11], dear=True) == few).all()


def test_a_week_that_is_new_is_said_before_it_lasts() -> None:
    values = np.full(100, 100.0)
    values[-7:] = 125.0
    found = week_out_of_line(values, np.full(100, 100.0), DayNoise(0.0, 0.0), 0.0)
    assert found is not None
    assert (found.look, found.over) == (SpendDetector.WEEK, pytest.approx(np.log(1.25)))


def test_an_incident_that_comes_again_is_still_no_news() -> None:
    values = days_like(160, 0.05)
    for begins in (70, 145):
        values[begins : begins + 4] *= 2
    assert first_found(values, 120) is None


def test_one_per_cent_a_day_is_found_within_five_weeks_and_says_against_which_weeks() -> None:
    values = days_like(160, 0.1, 3)
    values[120:] *= np.exp(0.01 * np.arange(1, 41))
    found = first_found(values, 120)
    assert found is not None
    assert found[0] <= 35
    # Half as fast is found by a longer line.
    slow = days_like(200, 0.03, 4)
    slow[110:] *= np.exp(0.006 * np.arange(1, 91))
    place = next(end for end in range(111, 201) if out_of_line(slow[:end]) is not None)
    creep = out_of_line(slow[:place])
    assert creep is not None
    assert creep.look is SpendDetector.CREEP
    assert creep.line[0] >= 5


def test_what_always_grew_as_fast_is_no_creep() -> None:
    values = days_like(200, 0.03, 5) * np.exp(0.004 * np.arange(200))
    assert first_found(values, 140) is None


@pytest.mark.parametrize("incident", [1.0, 2.5, 6.0])
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_a_creep_is_found_whatever_incident_came_two_months_before(
    incident: float, seed: int
) -> None:
    values = days_like(235, 0.05, seed, (1.0, 1.05, 1.0, 0.95, 1.0, 0.8, 0.8))
    values[140:145] *= incident
    values *= np.exp(0.01 * np.maximum(0, np.arange(235) - 199))
    found = first_found(values, 200)
    assert found is not None
    assert found[1] in (SpendDetector.CREEP, SpendDetector.WEEK)


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_bursts_that_come_in_two_weeks_of_three_are_no_creep(seed: int) -> None:
    """The median day of two weeks may lie in bursts; one of three weeks in a row has none."""
    values = days_like(60, 0.05, seed, (1.0, 1.05, 1.0, 0.95, 1.0, 0.8, 0.8))
    values = np.concatenate([values, days_like(140, 0.05, seed + 9, (1.0,) * 7)])
    values[100:] *= np.where(np.arange(100) % 21 < 11, 1.4, 1.0)
    ends = range(160, 201)
    assert not [
        found for end in ends if (found := out_of_line(values[:end])) and found.look == "creep"
    ]


def test_weekends_at_the_double_are_found_though_the_week_hardly_shows_them() -> None:
    values = days_like(140, 0.06, 2, (1.0, 1.05, 1.0, 0.95, 1.0, 0.12, 0.08))
    assert first_found(values, 60) is None
    day = np.arange(140)
    values[(day % 7 >= 5) & (day >= 110)] *= 2
    found = next(each for end in range(111, 141) if (each := out_of_line(values[:end])))
    assert found.look is SpendDetector.WEEKEND
    assert (found.days, found.ago) == (2, 5)


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("moved", [-1, 1])
@pytest.mark.parametrize("starts", [1, 2, 3])
def test_a_pulse_of_three_days_that_moves_by_a_weekday_is_the_same_shape(
    every: int, moved: int, starts: int
) -> None:
    for seed in range(3):
        draw = np.random.default_rng(seed)
        values = 20 * np.exp(draw.normal(0, 0.04, 133))
        for week in range(0, 18, every):
            at = 7 * week + starts + (moved if week >= 14 else 0)
            values[at : at + 3] += 100 * np.exp(draw.normal(0, 0.04, 3))
        for end in range(98, 127):
            assert out_of_line(values[:end]) is None, (seed, end)
        values[7 * 16 : 7 * 16 + 7] *= 2.5
        assert any(out_of_line(values[:end]) for end in range(7 * 16 + 1, 7 * 16 + 10))


def test_a_series_that_rested_comes_back_without_an_alarm_unless_it_costs_more_than_ever() -> None:
    for rest in (10, 24, 40, 80):
        values = days_like(80 + rest + 20, 0.05, 6)
        values[80 : 80 + rest] = 0.0
        assert first_found(values, 80) is None, rest
        values[80 + rest :] *= 2.5
        assert first_found(values, 80 + rest) is not None, rest
    assert (without_spells(np.zeros(9)) == 0).all()
    # A weekend of nothing is its week, no spell.
    assert not np.isnan(without_spells(days_like(60, 0.0, 1, (1, 1, 1, 1, 1, 0, 0)))).any()


def test_what_came_at_the_ends_of_months_and_quarters_is_expected_of_this_one() -> None:
    values = days_like(200, 0.0, 1, (1.0,) * 7)
    first = MONDAY
    for month, more in ((1, 50.0), (2, 80.0), (3, 300.0), (4, 60.0), (5, 70.0), (6, 320.0)):
        values[date(2026, month, 28 if month == 2 else 30).toordinal() - first] += more
    off = values - expected_days(values)
    at = date(2026, 6, 30).toordinal() - first
    # The 30th of June is the last of a quarter: 31 March, a day from its end, had nothing, and April's and May's ends little.
    assert month_end_excess(off[: at + 1], first)[at] == pytest.approx(0.0)
    values[date(2026, 3, 31).toordinal() - first] += 300.0
    values[date(2026, 5, 31).toordinal() - first] += 75.0
    off = values - expected_days(values)
    assert month_end_excess(off[: at + 1], first)[at] == pytest.approx(300.0)
    assert out_of_line(values[: at + 1], 1.0, first) is None
    values[at] += 600
    assert out_of_line(values[: at + 1], 1.0, first) is not None
    # The first days of a month are of the one that ended.
    at = date(2026, 5, 1).toordinal() - first
    values[date(2026, 4, 1).toordinal() - first] += 40
    values[date(2026, 3, 1).toordinal() - first] += 45
    off = values - expected_days(values)
    assert month_end_excess(off[: at + 1], first)[at] == pytest.approx(40.0)
    assert month_end(2026 * 12 + 12) == date(2026, 12, 31)
    assert month_end_excess(off[:3], first).tolist() == [0.0] * 3


@given(
    st.lists(st.floats(1.0, 100.0), min_size=7, max_size=7),
    st.integers(42, 130),
)
def test_a_week_that_repeats_is_never_out_of_line(shape: list[float], count: int) -> None:
    values = np.tile(shape, 20)[:count]
    assert out_of_line(values) is None
    assert out_of_line(values, 1.0, MONDAY) is None


@given(st.integers(0, 50), st.floats(0.001, 1e6), st.sampled_from([1.0, 1.3, 2.0]))
def test_what_is_found_does_not_hang_on_the_currency(
    seed: int, scale: float, factor: float
) -> None:
    values = made_days("steady", seed)[:90]
    values[80:] *= factor
    found, same = out_of_line(values), out_of_line(values * scale)
    assert (found is None) == (same is None)
    if found is not None and same is not None:
        assert (found.days, found.look, found.line) == (same.days, same.look, same.line)
        assert same.excess == pytest.approx(found.excess * scale)


def test_lines_and_deviations_of_what_is_known() -> None:
    assert np.isnan(sums_of(np.ones(6))).all()
    assert sums_of(np.arange(8.0))[6:].tolist() == [21.0, 28.0]
    sums = np.array([1.0, 2.0, 3.0, 10.0, 0.0] + [np.nan] * 30)
    line = line_of(np.repeat([1.0, 2.0, np.nan, 4.0, 5.0, 9.0], 7), (1, 5), 3)
    assert np.isnan(line[:28]).all()
    assert line[28] == 2.0, "the three that are known of those before"
    assert line[35] == 4.0, "the nearest three"
    assert line_of(sums, (1, 2)).shape == sums.shape
    assert noise_of(np.zeros(10), np.ones(10)) == DayNoise(0.0, 0.0)
    assert noise_of(np.zeros(30), np.ones(30)) == DayNoise(0.0, 0.0)
    draw = np.random.default_rng(1)
    noise = noise_of(draw.normal(0, 0.1, 400), np.ones(400))
    assert noise.of_day == pytest.approx(0.1, rel=0.15)
    assert noise.of_week == pytest.approx(0.1 / 7**0.5, rel=0.3)
    lasting = noise_of(np.repeat(draw.normal(0, 0.1, 60), 7), np.ones(420))
    assert lasting.of_week > 2 * lasting.of_day / 7**0.5


def test_weeks_that_are_not_known_and_series_without_a_weekend_say_nothing() -> None:
    noise = DayNoise(0.05, 0.03)
    values = days_like(60, 0.05)
    values[-3] = np.nan
    assert out_of_line(values) is None
    assert week_out_of_line(values, values, noise, 0.0) is None
    even = days_like(63, 0.0, 1, (1.0,) * 7)
    even[-7:-5] *= 2
    off = even - expected_days(even)
    assert weekend_out_of_line(even, off, noise, None) is None
    found = weekend_out_of_line(even, off, noise, (len(even) - 7) % 7)
    assert found is not None
    assert found.look is SpendDetector.WEEKEND
    assert weekend_out_of_line(even, off, noise, (len(even) - 6) % 7) is None
    # It only moved there from the days before: its week is no more than another.
    even[-9:-7] = 1.0
    assert weekend_out_of_line(even, even - expected_days(even), noise, 0) is None
    few = even[-28:]
    assert weekend_out_of_line(few, few - expected_days(few), noise, 0) is None
    none = np.full(60, np.nan)
    none[-14:] = 5.0
    assert weekend_out_of_line(none, none - expected_days(none), noise, 0) is None
