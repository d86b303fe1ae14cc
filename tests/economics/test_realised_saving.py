"""What a change saved: planted effects are measured, nothing is found where nothing changed, and volume is no saving."""

import random
from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.moves.saving import SavingRange
from apps.economics.realised_saving import (
    FEWEST_AFTER,
    WINDOW_DAYS,
    CostDay,
    RealisedSaving,
    SavingStatus,
    UnknownSaving,
    judge_saving,
    saving_since,
)

WEEK = (0.0, 0.02, 0.03, 0.02, 0.0, -0.35, -0.45)
"""Of the logarithm of the work of a day."""
DEAR_WEEKEND = 0.05
BEFORE, MADE, DAYS = 56, 63, 91
"""Days of the series: eight weeks before, a week in which it is made, four weeks since."""


def replayed_days(
    seed: int, effect: float, *, noise: float = 0.02, weekly: float = 0.01, standing: float = 0.0
) -> list[CostDay]:
    """Work with a week, a memory and a drift; cost per unit with AR(1) noise of 0.3, dearer on weekends.

    From the day it is made on a unit costs `effect` less; `standing` is the share of the cost that no work moves.
    """
    chance, noisy, moved, days = random.Random(seed), 0.0, 0.0, []  # noqa: S311 - a simulation
    for day in range(DAYS):
        noisy = 0.3 * noisy + chance.gauss(0, noise * (1 - 0.09) ** 0.5)
        moved = 0.6 * moved + chance.gauss(0, 0.05 * (1 - 0.36) ** 0.5)
        work = 1e6 * exp(WEEK[day % 7] + moved + weekly * day / 7)
        cost = 50 * (standing * 1e6 + (1 - standing) * work)
        dearer = DEAR_WEEKEND if day % 7 > 4 else 0.0
        kept = 1 - effect if day >= MADE else 1
        days.append(CostDay(day, cost * exp(noisy + dearer) * kept, work))
    return days


def measured(days: list[CostDay]) -> RealisedSaving:
    found = saving_since(days[:BEFORE], days[MADE:])
    assert isinstance(found, RealisedSaving)
    return found


def promised(days: list[CostDay], share: float) -> SavingRange:
    """Of what a month cost before."""
    month = sum(day.micros for day in days[:BEFORE]) / BEFORE / 24 * 730
    return SavingRange(*(round(part * share * month) for part in (0.8, 1.0, 1.2)))


def share_saved(found: RealisedSaving) -> float:
    return found.micros / found.counterfactual_micros


def status_of(days: list[CostDay], share: float) -> SavingStatus:
    return judge_saving(measured(days), promised(days, share), days_since=WINDOW_DAYS)


@pytest.mark.parametrize("seed", range(8))
def test_a_known_effect_is_measured_within_five_per_cent_and_verified(seed: int) -> None:
    days = replayed_days(seed, 0.3)
    assert share_saved(measured(days)) == pytest.approx(0.3, rel=0.05)
    assert status_of(days, 0.3) is SavingStatus.VERIFIED


@pytest.mark.parametrize("seed", range(8))
def test_a_change_without_effect_has_failed_whatever_the_volume_did(seed: int) -> None:
    for weekly in (-0.05, 0.0, 0.05):
        assert status_of(replayed_days(seed, 0.0, weekly=weekly), 0.2) is SavingStatus.FAILED


def test_machines_that_stand_whatever_comes_are_no_saving_when_work_grows() -> None:
    """Their cost per unit falls by a fifth, and nothing was saved."""
    days = replayed_days(3, 0.0, weekly=0.03, standing=1.0)
    found = measured(days)
    assert found.following < 0.1
    assert found.low < 0 < found.high
    assert status_of(days, 0.2) is SavingStatus.FAILED
    assert share_saved(measured(replayed_days(3, 0.3, weekly=0.03, standing=1.0))) == pytest.approx(
        0.3, rel=0.05
    )


def test_the_worked_example() -> None:
    """100 a day for 10 units, then 120 for 16 units: at the old 10 a unit these would have cost 160."""
    before = [CostDay(day, 100.0 + day % 7, 10.0 + (day % 7) / 10) for day in range(28)]
    after = [CostDay(day, 120.0, 16.0) for day in range(28, 56)]
    found = saving_since(before, after)
    assert isinstance(found, RealisedSaving)
    assert found.counterfactual_micros == pytest.approx(28 * 160)
    assert found.micros == pytest.approx(28 * 40)
    assert found.month.likely == pytest.approx(40 * 730 / 24, abs=1)
    assert (found.low, found.high) == (pytest.approx(28 * 40), pytest.approx(28 * 40))
    assert (found.following, found.work_ratio) == (1.0, pytest.approx(160 / 103))


def test_weekdays_are_held_against_the_same_weekdays() -> None:
    """Saturdays cost three times as much per unit; a span with more of their work saves nothing by that."""
    units = [30.0 if day % 7 == 6 else 10.0 for day in range(56)]
    before = [CostDay(day, units[day] * work, work) for day in range(28) for work in [10 + day / 7]]
    works = [20.0 if day % 7 == 6 else 11.0 for day in range(56)]
    after = [CostDay(day, units[day] * works[day], works[day]) for day in range(28, 56)]
    found = saving_since(before, after)
    assert isinstance(found, RealisedSaving)
    assert found.micros == pytest.approx(0, abs=1e-6)


@given(
    effect=st.floats(0.0, 0.9),
    scale=st.floats(0.01, 1e6),
    volume=st.floats(0.2, 5.0),
    missing=st.sets(st.integers(0, DAYS - 1), max_size=10),
)
def test_without_noise_the_effect_is_the_saving_at_any_scale_volume_and_with_days_missing(
    effect: float, scale: float, volume: float, missing: set[int]
) -> None:
    days = [
        replace(day, micros=day.micros * scale * (volume if day.day >= MADE else 1), work=work)
        for day in replayed_days(5, effect, noise=0.0)
        for work in [day.work * (volume if day.day >= MADE else 1)]
    ]
    before = [day for day in days[:BEFORE] if day.day not in missing]
    after = [day for day in days[MADE:] if day.day not in missing]
    found = saving_since(before, after)
    assert isinstance(found, RealisedSaving)
    assert share_saved(found) == pytest.approx(effect, abs=1e-9)
    assert found.low <= found.micros <= found.high


@given(
    costs=st.lists(st.floats(0.0, 1e9), min_size=35, max_size=70),
    works=st.lists(st.floats(0.0, 1e9), min_size=70, max_size=70),
)
def test_whatever_comes_is_measured_or_said_to_be_unknown(
    costs: list[float], works: list[float]
) -> None:
    days = [
        CostDay(day, cost, work) for day, (cost, work) in enumerate(zip(costs, works, strict=False))
    ]
    found = saving_since(days[:-14], days[-14:])
    if isinstance(found, RealisedSaving):
        assert found.micros == found.counterfactual_micros - found.actual_micros
        assert found.low <= found.micros <= found.high
        assert 0 <= found.following <= 1


def test_what_nobody_knows_is_unknown_and_says_why() -> None:
    days = replayed_days(0, 0.3)
    before, after = days[:BEFORE], days[MADE:]
    assert saving_since(before[:13], after) is UnknownSaving.FEW_BEFORE
    assert saving_since(before, after[:6]) is UnknownSaving.FEW_AFTER
    free = [replace(day, micros=0.0) for day in before]
    assert saving_since(free, after) is UnknownSaving.NOTHING_PAID
    workless = [replace(day, work=0.0) for day in before]
    assert saving_since(workless, after) is UnknownSaving.NO_WORK_BEFORE
    assert saving_since(before, [replace(day, work=0.0) for day in after]) is (
        UnknownSaving.NO_WORK_AFTER
    )
    promise = promised(days, 0.3)
    short = saving_since(before, after[: FEWEST_AFTER - 1])
    assert judge_saving(short, promise, days_since=WINDOW_DAYS) is SavingStatus.UNKNOWN
    unknown = UnknownSaving.NOTHING_PAID
    assert judge_saving(unknown, promise, days_since=WINDOW_DAYS) is SavingStatus.UNKNOWN


def test_where_work_stood_still_and_then_moved_nobody_knows_what_it_would_have_cost() -> None:
    chance = random.Random(1)  # noqa: S311 - a simulation
    before = [CostDay(day, 100 * exp(chance.gauss(0, 0.05)), 10.0) for day in range(56)]
    more = [CostDay(day, 100 * exp(chance.gauss(0, 0.05)), 15.0) for day in range(60, 88)]
    assert saving_since(before, more) is UnknownSaving.VOLUME_MOVED
    same = saving_since(before, [replace(day, work=10.5) for day in more])
    assert isinstance(same, RealisedSaving)


def test_work_that_tripled_is_known_where_cost_follows_it_surely() -> None:
    days = replayed_days(0, 0.3, noise=0.0)
    tripled = [replace(day, micros=day.micros * 3, work=day.work * 3) for day in days[MADE:]]
    whole = [replace(day, micros=50 * day.work) for day in days[:BEFORE]]
    assert isinstance(saving_since(whole, tripled), RealisedSaving)
    half = [replace(day, micros=5e6 + 50 * day.work) for day in days[:BEFORE]]
    assert saving_since(half, tripled) is UnknownSaving.VOLUME_MOVED


def test_no_verdict_before_the_window_has_passed() -> None:
    days = replayed_days(0, 0.3)
    for passed in range(WINDOW_DAYS):
        found = saving_since(days[:BEFORE], days[MADE : MADE + passed])
        status = judge_saving(found, promised(days, 0.3), days_since=passed)
        assert status is SavingStatus.TOO_EARLY


def test_less_than_half_of_the_low_end_has_failed_though_something_was_saved() -> None:
    days = replayed_days(0, 0.1)
    assert measured(days).low > 0
    assert status_of(days, 0.1) is SavingStatus.VERIFIED
    assert status_of(days, 0.4) is SavingStatus.FAILED


def test_a_promise_is_for_the_work_that_was_done() -> None:
    """Six tenths of the work since saves six tenths of the money, which is what was promised for it."""
    days = [
        replace(day, micros=day.micros * 0.6, work=day.work * 0.6) if day.day >= MADE else day
        for day in replayed_days(0, 0.3)
    ]
    assert measured(days).month.likely < promised(days, 0.3).low
    assert status_of(days, 0.3) is SavingStatus.VERIFIED


def test_a_commitment_is_held_against_the_price_on_demand_of_the_same_hours() -> None:
    """What they come to on demand is the work: before it cost just that, and since a fifth less, or more if unused."""
    worth = [100.0 + day % 5 for day in range(56)]
    before = [CostDay(day, worth[day], worth[day]) for day in range(28)]
    after = [CostDay(day, 80.0, worth[day]) for day in range(28, 56)]
    found = saving_since(before, after)
    assert isinstance(found, RealisedSaving)
    assert found.micros == pytest.approx(sum(worth[28:]) - 28 * 80)
    unused = saving_since(before, [replace(day, micros=110.0) for day in after])
    assert judge_saving(unused, SavingRange(1, 2, 3), days_since=28) is SavingStatus.FAILED
