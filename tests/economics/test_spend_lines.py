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
