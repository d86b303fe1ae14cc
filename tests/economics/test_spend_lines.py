"""What rises over a budget's pace, or over last year beyond its season, is found; what does not rise over its own line is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_lines import (
    YEAR_WEEKS,
    crept_over_pace,
    crept_over_year,
    whole_weeks,
)

SEEDS = pytest.mark.parametrize("seed", range(5))


def weeks_like(count: int, seed: int, noise: float = 0.03) -> np.ndarray:
    return 700 * np.exp(np.random.default_rng(seed).normal(0, noise, count))


def rising(count: int, since: int, a_week: float = 0.014) -> np.ndarray:
    return np.exp(a_week * np.maximum(0, np.arange(count) - since))


def season(count: int) -> np.ndarray:
    return np.exp(0.3 * np.sin(2 * np.pi * np.arange(count) / YEAR_WEEKS))


def test_two_looks_are_held_against_a_line_from_outside() -> None:
    own = {look for look in SpendDetector if look.is_over_own_line}
    assert own == {SpendDetector.BUDGET, SpendDetector.YEAR}


def test_weeks_are_whole_ones_up_to_the_last_day() -> None:
    days = np.arange(16.0)
    assert list(whole_weeks(days)) == [sum(range(2, 9)), sum(range(9, 16))]
    assert len(whole_weeks(days[:6])) == 0


def test_how_far_and_since_when_it_is_over_a_pace() -> None:
    """Ten weeks at 95 of 100, then three per cent more each: over it from the twelfth on."""
    weeks = 95 * rising(20, 9, np.log(1.03))
    found = crept_over_pace(weeks, np.full(20, 100.0))
    assert found is not None
    assert found.weeks == 20 - 11
    assert found.over == pytest.approx(np.log(0.95 * 1.03**9))
    assert found.usual == 0


@SEEDS
def test_a_creep_is_found_against_a_pace_and_less_than_the_pace_is_none(seed: int) -> None:
    weeks = weeks_like(26, seed) * rising(26, 4)
    assert crept_over_pace(weeks, np.full(26, 720.0)) is not None
    assert crept_over_pace(weeks, np.full(26, 1_100.0)) is None
    assert crept_over_pace(weeks, np.full(26, 600.0)) is None, "over it from the beginning"


@SEEDS
def test_one_dear_week_or_a_level_that_falls_back_is_no_creep(seed: int) -> None:
    weeks = weeks_like(26, seed)
    weeks[-2] *= 2
    assert crept_over_pace(weeks, np.full(26, 720.0)) is None
    came = weeks_like(26, seed) * np.where((np.arange(26) >= 8) & (np.arange(26) < 13), 1.6, 1.0)
    came[-3:] *= 1.3
    assert crept_over_pace(came, np.full(26, 720.0)) is None, "it was further over before"
    falls = weeks_like(26, seed, 0.0) * rising(26, 4, 0.03)
    falls[-3:] *= 0.8
    assert crept_over_pace(falls, np.full(26, 720.0)) is None, "it rises no more"


@SEEDS
def test_a_season_that_comes_again_is_none_and_what_creeps_beyond_it_is_found(seed: int) -> None:
    count = YEAR_WEEKS + 26
    weeks = weeks_like(count, seed, 0.02) * season(count)
    assert crept_over_year(weeks) is None
    grown = weeks * np.where(np.arange(count) >= YEAR_WEEKS, 1.4, 1.0)
    assert crept_over_year(grown) is None, "growth that was there already"
    creeps = grown * rising(count, YEAR_WEEKS + 4, 0.02)
    seen = [(end, crept_over_year(creeps[:end])) for end in range(count - 6, count + 1)]
    end, found = next(each for each in seen if each[1] is not None)
    assert found is not None
    assert found.usual == pytest.approx(np.log(1.4), abs=0.05)
    # The middle one of the last three weeks, since the fifth that is compared.
    assert found.over == pytest.approx(0.02 * (end - 2 - YEAR_WEEKS - 4), abs=0.06)


@SEEDS
def test_flat_spend_over_a_budget_that_was_cut_is_no_creep_and_spend_that_rose_over_it_is(
    seed: int,
) -> None:
    weeks, cut = weeks_like(26, seed), np.where(np.arange(26) < 13, 740.0, 1.0)
    for share in (0.8, 0.5):
        pace = np.maximum(cut, share * 740.0)
        for end in range(17, 27):
            assert crept_over_pace(weeks[:end], pace[:end]) is None
    rose_before = weeks * np.where(np.arange(26) < 6, 0.6, 1.0)
    assert crept_over_pace(rose_before, np.maximum(cut, 0.5 * 740.0)) is None
    rises = weeks * rising(26, 12, 0.03)
    assert crept_over_pace(rises, np.maximum(cut, 0.95 * 740.0)) is not None


@SEEDS
@pytest.mark.parametrize(("fell", "still_falls"), [(0.014, 0.0), (0.02, 0.0), (0.02, 0.007)])
def test_spend_that_does_not_rise_crept_over_no_year_that_fell(
    seed: int, fell: float, still_falls: float
) -> None:
    week = np.arange(YEAR_WEEKS + 26)
    level = np.exp(-fell * np.minimum(week, 26) - still_falls * np.maximum(0, week - 26))
    weeks = weeks_like(len(week), seed) * level
    assert [crept_over_year(weeks[:end]) for end in range(62, 79)] == [None] * 17
    dips = np.where(week < YEAR_WEEKS, np.exp(-0.014 * np.minimum(week, 52 - week)), 1.0)
    came_back = weeks_like(len(week), seed) * dips
    assert [crept_over_year(came_back[:end]) for end in range(62, 79)] == [None] * 17


def test_what_was_below_last_year_has_to_rise_over_last_year_itself() -> None:
    weeks = np.full(YEAR_WEEKS + 26, 100.0)
    weeks[YEAR_WEEKS:] = 80 * rising(26, 4, 0.03)
    found = crept_over_year(weeks)
    assert found is not None
    assert found.usual == 0
    assert found.over == pytest.approx(np.log(weeks[-2] / 100))
    assert [crept_over_year(weeks[:end]) for end in range(60, 70)] == [None] * 10


def test_weeks_without_spend_are_within_a_pace_and_weeks_not_known_are_neither() -> None:
    pace = np.full(12, 100.0)
    over = [150.0] * 4
    for rested in (0.0, -50.0):
        found = crept_over_pace(np.array([rested] * 8 + over), pace)
        assert found is not None
        assert found.weeks == 4
        assert found.over == pytest.approx(np.log(1.5))
    assert crept_over_pace(np.array([np.nan] * 8 + over), pace) is None
    assert crept_over_pace(np.array([np.nan] * 4 + [120.0] * 4 + [150.0] * 4), pace) is None
    between = np.array([90.0] * 5 + [np.nan] * 3 + over)
    assert crept_over_pace(between, pace) is not None
    late = np.array([np.nan] * 3 + [90.0] * 5 + over)
    assert crept_over_pace(late, pace) is not None


def test_too_few_weeks_or_weeks_that_are_not_known_say_nothing() -> None:
    weeks = 95 * rising(20, 9, 0.03)
    pace = np.full(20, 100.0)
    assert crept_over_pace(weeks[-7:], pace[-7:] * 1.2) is None
    assert crept_over_year(np.full(YEAR_WEEKS + 7, 100.0)) is None
    weeks[-1] = np.nan
    assert crept_over_pace(weeks, pace) is None
    assert crept_over_pace(np.full(20, np.nan), pace) is None
    assert crept_over_year(np.full(70, np.nan)) is None


@given(
    st.lists(st.floats(10, 1_000), min_size=8, max_size=26),
    st.floats(0.1, 1_000),
    st.floats(1.0, 3.0),
)
def test_the_unit_does_not_matter_and_stricter_never_finds_more(
    values: list[float], unit: float, strictness: float
) -> None:
    weeks, pace = np.array(values), np.full(len(values), 300.0)
    found = crept_over_pace(weeks, pace)
    scaled = crept_over_pace(unit * weeks, unit * pace)
    assert (found is None) == (scaled is None)
    if crept_over_pace(weeks, pace, strictness) is not None:
        assert found is not None
        assert found.over > 0.1
        assert found.weeks >= 3
