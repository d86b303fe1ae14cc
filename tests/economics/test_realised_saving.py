"""What a change saved: planted effects are measured, nothing is found where nothing changed, and volume is no saving."""

import random
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.cost_volume import CostDay
from apps.economics.moves.saving import SavingRange
from apps.economics.realised_saving import (
    FEWEST_AFTER,
    WINDOW_DAYS,
    RealisedSaving,
    SavingMethod,
    SavingStatus,
    UnknownSaving,
    interim_look_factor,
    judge_saving,
    saving_since,
    what_it_takes,
)
from apps.economics.saving_gates import gated_step, volume_gates
from apps.economics.step_effect import SeriesPoint
from bench.savings_realised import NOISE, SPAN, simulated_days

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
    costs=st.lists(st.integers(0, 10**9).map(float), min_size=35, max_size=70),
    works=st.lists(st.just(0.0) | st.floats(1e-6, 1e9), min_size=70, max_size=70),
)
def test_whatever_comes_is_measured_or_said_to_be_unknown(
    costs: list[float], works: list[float]
) -> None:
    # Costs are whole micro-units, and no output is counted in less than millionths.
    days = [
        CostDay(day, cost, work) for day, (cost, work) in enumerate(zip(costs, works, strict=False))
    ]
    found = saving_since(days[:-14], days[-14:])
    if isinstance(found, RealisedSaving):
        assert found.micros == found.counterfactual_micros - found.actual_micros
        assert found.low <= found.micros <= found.high
        assert 0 <= found.following <= 1


def test_days_without_cost_and_output_do_not_make_a_step() -> None:
    idle = [CostDay(day, 0.0, 0.0) for day in range(50)]
    active = {3: 1e3, 20: 1e3, 45: 5e2}
    days = [
        replace(day, micros=active.get(day.day, 0), work=active.get(day.day, 0)) for day in idle
    ]
    assert saving_since(days[:28], days[28:]) is UnknownSaving.FEW_ACTIVE_DAYS


def test_work_that_moved_beyond_all_measure_is_said_in_words() -> None:
    (gate,) = volume_gates(volume=800.0, moved=800.0)
    assert "the work moved to more than tenfold at the change" in gate.says
    (gate,) = volume_gates(volume=0.5, moved=0.5)
    assert "the work moved by +64.9% at the change" in gate.says


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


def standing(seed: int, volume: float, effect: float = 0.0) -> list[CostDay]:
    """Work that stood still, and since day 60 is `volume` times as much, of machines that cost the same whatever comes."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    return [
        CostDay(
            day,
            100 * exp(chance.gauss(0, 0.01)) * (1 - effect if day >= 60 else 1),
            10.0 * (volume if day >= 60 else 1),
        )
        for day in range(144)
    ]


@pytest.mark.parametrize("volume", [0.75, 0.91, 0.97, 1.03, 1.09, 1.11, 1.5, 1.9])
def test_where_work_stood_still_and_then_moved_that_alone_is_neither_saving_nor_loss(
    volume: float,
) -> None:
    """Whether cost would have followed it nobody knows: the unit cost moves by all of it, and nothing was saved or lost."""
    days = standing(1, volume)
    found = saving_since(days[:60], days[60:])
    assert isinstance(found, RealisedSaving)
    assert found.volume == pytest.approx(abs(log(volume)), rel=0.01)
    assert found.low <= 0.01 * found.counterfactual_micros
    assert found.high >= -0.01 * found.counterfactual_micros
    promise = promised_of(found, abs(1 - 1 / volume) / 2)
    status = judge_saving(found, promise, days_since=84)
    # Where there is less of it, a cost that stands saved nothing, and one that follows it less than nothing.
    assert status is (SavingStatus.UNKNOWN if volume > 1 else SavingStatus.FAILED)
    said = what_it_takes(found, promise, days_since=84)
    assert said.startswith("no number of weeks would tell it: the work moved at the change")
    # What is more than that could come to is told all the same.
    days = standing(1, volume, 0.6)
    found = saving_since(days[:60], days[60:])
    assert judge_saving(found, promise, days_since=84) is SavingStatus.VERIFIED


def test_work_that_moves_a_little_more_widens_a_little_more() -> None:
    """There is no volume at which what is believed changes at once."""
    lows = []
    for step in range(40):
        days = standing(1, 1 + step / 100)
        found = saving_since(days[:60], days[60:])
        assert isinstance(found, RealisedSaving)
        lows.append((found.high - found.low) / found.counterfactual_micros)
    assert all(0 < after - before < 0.02 for before, after in pairwise(lows))


def test_work_of_one_day_on_either_side_steps_by_nothing_that_is_known() -> None:
    days = [CostDay(day, 100.0, float(day in (3, 40))) for day in range(60)]
    found = saving_since(days[:30], days[30:])
    assert isinstance(found, RealisedSaving)
    assert found.volume == 0


def test_work_that_more_than_doubles_is_beyond_what_weeks_of_still_work_say() -> None:
    days = standing(1, 2.1)
    assert saving_since(days[:60], days[60:]) is UnknownSaving.VOLUME_MOVED


def promised_of(found: RealisedSaving, share: float) -> SavingRange:
    """Of what a month cost before."""
    month = found.before_micros * 730 / 24
    return SavingRange(*(round(part * share * month) for part in (0.8, 1.0, 1.2)))


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
    # By logarithms: as the part of the middle day, not of the sums.
    assert found.micros == pytest.approx(sum(worth[28:]) - 28 * 80, rel=0.01)
    unused = saving_since(before, [replace(day, micros=110.0) for day in after])
    assert judge_saving(unused, SavingRange(1, 2, 3), days_since=28) is SavingStatus.FAILED


def series(
    seed: int, *, trend: float = 0.0, effect: float = 0.0, memory: float = 0.0, jump: float = 0.0
) -> list[CostDay]:
    """Twelve weeks before and twelve since; `jump` is a step in the middle of those before, that nobody made."""
    days, _ = simulated_days(seed, memory=memory, trend=trend, effect=effect, noise=0.02)
    return [
        replace(day, micros=day.micros * (1 + jump if day.day < SPAN // 2 else 1)) for day in days
    ]


def twelve_weeks(
    days: list[CostDay], share: float, twin: list[CostDay] | None = None
) -> tuple[RealisedSaving, SavingStatus]:
    found = saving_since(days[:SPAN], days[SPAN:], twin or [])
    assert isinstance(found, RealisedSaving)
    month = found.before_micros * 730 / 24
    promise = SavingRange(*(round(part * share * month) for part in (0.8, 1.0, 1.2)))
    return found, judge_saving(found, promise, days_since=SPAN)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trend", [-0.002, 0.002])
def test_a_trend_is_neither_a_saving_nor_hides_one(seed: int, trend: float) -> None:
    """A unit cost that falls by a fifth of a per cent a day halves nearly every year, and nothing was done."""
    found, status = twelve_weeks(series(seed, trend=trend), 0.1)
    assert status is SavingStatus.FAILED
    assert found.step.slope == pytest.approx(trend, abs=0.0005)
    found, status = twelve_weeks(series(seed, trend=trend, effect=0.1), 0.1)
    assert status is SavingStatus.VERIFIED
    assert share_saved(found) == pytest.approx(0.1, abs=0.025)


def test_a_step_before_when_nothing_was_done_makes_it_untold_and_says_what_it_takes() -> None:
    found, status = twelve_weeks(series(1, jump=0.2), 0.1)
    assert status is SavingStatus.UNKNOWN
    assert [gate.name for gate in found.gates if gate.is_passed is False] == [
        "post_trend",
        "placebo",
    ]
    said = what_it_takes(found, SavingRange(1, 2, 3), days_since=SPAN)
    assert "a step 42 days before, when nothing was done, comes to -" in said
    # Beside what is more than four times as large it is no reason to doubt.
    assert twelve_weeks(series(1, jump=0.05, effect=0.4), 0.4)[1] is SavingStatus.VERIFIED


@pytest.mark.parametrize("back", [7, 9, 14, 18, 21, 25, 28])
@pytest.mark.parametrize("seed", range(3))
def test_what_came_down_before_the_claim_was_not_saved_by_the_change(seed: int, back: int) -> None:
    days = [
        replace(day, micros=day.micros * (0.8 if day.day >= SPAN - back else 1))
        for day in series(seed)
    ]
    found, status = twelve_weeks(days, 0.2)
    assert status is not SavingStatus.VERIFIED
    if back % 7 == 0:
        assert status is SavingStatus.UNKNOWN
        said = what_it_takes(found, promised_of(found, 0.2), days_since=SPAN)
        assert "when nothing was done, comes to -" in said


@pytest.mark.parametrize("dear", [7, 14, 21, 36, 48])
@pytest.mark.parametrize("seed", range(3))
def test_a_dear_week_that_is_over_is_no_saving_of_what_was_done_for_it(
    seed: int, dear: int
) -> None:
    days = [
        replace(day, micros=day.micros * (1.25 if SPAN - dear <= day.day < SPAN else 1))
        for day in series(seed)
    ]
    assert twelve_weeks(days, 0.2)[1] is not SavingStatus.VERIFIED


@pytest.mark.parametrize("dear", [10, 24, 33, 40, 60, 70])
@pytest.mark.parametrize("memory", [0.0, 0.3, 0.6, 0.9])
def test_a_return_to_what_held_before_a_dear_span_is_no_saving_whatever_its_length_or_noise(
    dear: int, memory: float
) -> None:
    """Where noise remembers, a rise shows on its own day alone, which need not be whole weeks before the claim."""
    for seed in range(3):
        days = [
            replace(day, micros=day.micros * (1.25 if SPAN - dear <= day.day < SPAN else 1))
            for day in series(seed + 60, memory=memory)
        ]
        found, status = twelve_weeks(days, 0.2)
        assert status is SavingStatus.UNKNOWN
        said = what_it_takes(found, promised_of(found, 0.2), days_since=SPAN)
        assert f"a step {dear} days before, when nothing was done, comes to +" in said


@pytest.mark.parametrize("memory", [0.0, 0.3, 0.6, 0.9])
def test_what_is_likelier_to_have_come_before_the_claim_is_not_the_changes(memory: float) -> None:
    """A tenth that came ten days before: the days are likelier so, though not surely of then."""
    for seed in range(4):
        days, _ = simulated_days(
            seed + 80, memory=memory, trend=0.0, effect=0.1, noise=0.04, earlier=10
        )
        assert twelve_weeks(days, 0.1)[1] is not SavingStatus.VERIFIED


@pytest.mark.parametrize("days_wide", [15, 20])
@pytest.mark.parametrize("seed", range(3))
def test_what_fell_smoothly_about_the_claim_is_no_step_of_that_day(
    seed: int, days_wide: int
) -> None:
    """By two fifths, along an S whose middle is the claim."""
    days = [
        replace(day, micros=day.micros * (1 - 0.4 / (1 + exp(-(day.day - SPAN) / days_wide))))
        for day in series(seed + 40)
    ]
    found, status = twelve_weeks(days, 0.2)
    assert status is SavingStatus.UNKNOWN
    assert [gate.name for gate in found.gates if gate.is_passed is False]


@pytest.mark.parametrize("seed", range(6))
def test_a_saving_that_is_made_at_the_claim_is_of_no_earlier_date(seed: int) -> None:
    assert twelve_weeks(series(seed + 20, effect=0.2), 0.2)[1] is SavingStatus.VERIFIED


def test_a_trend_that_bends_before_is_no_line_to_be_carried_on() -> None:
    days = [
        replace(day, micros=day.micros * exp(2.0 * max(0.0, day.day / SPAN - 0.4) ** 2))
        for day in series(2)
    ]
    found, status = twelve_weeks(days, 0.1)
    assert status is not SavingStatus.VERIFIED
    assert (found.gates[0].name, found.gates[0].is_passed) == ("pre_trend", False)


def beside_a_twin(
    *, effect: float = 0.0, twin_moves: float = 1.0, days_alike: float = 0.08
) -> tuple[list[CostDay], list[CostDay]]:
    """Work whose days are dear and cheap alike, of which one was changed; `twin_moves` is what the other's cost does then."""
    chance = random.Random(4)  # noqa: S311 - a simulation
    common = [exp(chance.gauss(0, days_alike)) for _ in range(2 * SPAN)]
    days = [replace(day, micros=day.micros * common[day.day]) for day in series(5, effect=effect)]
    twin = [
        replace(day, micros=day.micros * common[day.day] * (twin_moves if day.day >= SPAN else 1))
        for day in series(6)
    ]
    return days, twin


def test_a_twin_takes_off_what_moves_both() -> None:
    """Days are dear and cheap by a tenth for both; the change saved a tenth, and the twin nothing."""
    days, twin = beside_a_twin(effect=0.1)
    alone, _ = twelve_weeks(days, 0.1)
    assert alone.method is SavingMethod.SERIES
    beside, status = twelve_weeks(days, 0.1, twin)
    assert (beside.method, status) == (SavingMethod.CONTROLLED, SavingStatus.VERIFIED)
    assert share_saved(beside) == pytest.approx(0.1, abs=0.03)
    assert beside.high - beside.low < 0.6 * (alone.high - alone.low)
    assert (beside.gates[-1].name, beside.gates[-1].is_passed) == ("control", True)
    # One that says nothing of it, or was seen too rarely, is left.
    chance = random.Random(7)  # noqa: S311 - a simulation
    wild = [replace(day, micros=day.micros * exp(chance.gauss(0, 1))) for day in twin]
    for other in (wild, twin[: SPAN + 3], twin[:10] + twin[SPAN:], twin[SPAN - 6 :]):
        assert twelve_weeks(days, 0.1, other)[0].method is SavingMethod.SERIES


@pytest.mark.parametrize("moves", [0.8, 1.25])
@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_a_twin_that_moved_at_the_change_itself_is_not_believed(
    moves: float, effect: float
) -> None:
    """Whether that was of both or of the twin alone nobody knows: beside it a saving of a tenth is not told."""
    days, twin = beside_a_twin(effect=effect, twin_moves=moves)
    found, status = twelve_weeks(days, 0.1, twin)
    assert (found.method, status) == (SavingMethod.SERIES, SavingStatus.UNKNOWN)
    assert (found.gates[-1].name, found.gates[-1].is_passed) == ("control", False)
    assert share_saved(found) == pytest.approx(effect, abs=0.06)
    said = what_it_takes(found, promised_of(found, 0.1), days_since=SPAN)
    assert "work that was not touched moved at the change too, by" in said


def unlike(seed: int, moves: float, noise: float = NOISE) -> list[CostDay]:
    """Work that was not touched, whose days are dear and cheap on their own; what its cost does at the change."""
    return [
        replace(day, micros=day.micros * (moves if day.day >= SPAN else 1))
        for day in simulated_days(seed + 900, memory=0.5, trend=0.0, effect=0.0, noise=noise)[0]
    ]


@pytest.mark.parametrize("moves", [0.6, 0.8])
@pytest.mark.parametrize("seed", range(6))
def test_what_fell_with_work_that_was_not_touched_is_not_told_though_it_is_no_steady_twin(
    seed: int, moves: float
) -> None:
    """The ratio to it is no steadier, so it is no control; that it fell as much on the same day is known all the same."""
    days = series(seed, effect=1 - moves)
    found, status = twelve_weeks(days, 1 - moves, unlike(seed, moves, 0.05))
    assert (found.method, status) == (SavingMethod.SERIES, SavingStatus.UNKNOWN)
    assert (found.gates[-1].name, found.gates[-1].is_passed) == ("control", False)
    said = what_it_takes(found, promised_of(found, 1 - moves), days_since=SPAN)
    assert "work that was not touched moved at the change too, by -" in said
    # What stood still, or went the other way, takes no saving away.
    for other in (1.0, 1.3):
        still = twelve_weeks(days, 1 - moves, unlike(seed, other, 0.05))
        assert still[1] is twelve_weeks(days, 1 - moves)[1]


def test_what_falls_to_nothing_is_held_against_what_fell_too() -> None:
    kept = [1.0 if day < SPAN else 0.0 if day == SPAN + 3 else 0.05 for day in range(2 * SPAN)]
    days = [replace(day, micros=day.micros * kept[day.day]) for day in series(7)]
    assert twelve_weeks(days, 0.9)[1] is SavingStatus.VERIFIED
    found, status = twelve_weeks(days, 0.9, unlike(7, 0.05, 0.05))
    assert (found.is_amount, status) == (True, SavingStatus.UNKNOWN)


def test_what_falls_to_nothing_is_measured_by_amounts() -> None:
    days = [replace(day, micros=0.0 if day.day >= SPAN else day.micros) for day in series(7)]
    found, status = twelve_weeks(days, 1.0)
    assert (found.is_amount, status) == (True, SavingStatus.VERIFIED)
    assert share_saved(found) == pytest.approx(1.0)
    assert found.micros / SPAN == pytest.approx(found.before_micros, rel=0.03)
    weekends = [
        replace(day, micros=0.0, work=0.0) if day.day % 7 > 4 else day
        for day in series(7, effect=0.3)
    ]
    found, _ = twelve_weeks(weekends, 0.3)
    assert (found.is_amount, len(found.seen)) == (False, 120)


def test_early_looks_need_more_and_later_ones_a_little_more() -> None:
    assert [interim_look_factor(days) for days in (21, 84, 90, 91)] == [2.0, 1.0, 1.0, 1.2]
    days = series(3, effect=0.05, memory=0.6)
    found = saving_since(days[:SPAN], days[SPAN : SPAN + 28])
    assert isinstance(found, RealisedSaving)
    month = found.before_micros * 730 / 24
    promise = SavingRange(*(round(part * month) for part in (0.04, 0.05, 0.06)))
    assert judge_saving(found, promise, days_since=28) is SavingStatus.UNKNOWN
    said = what_it_takes(found, promise, days_since=28)
    assert said.startswith("it takes about ")
    assert found.told_with(84) < found.told_with(35)
    tiny = SavingRange(1, round(0.0001 * month), round(0.0002 * month))
    never = what_it_takes(found, tiny, days_since=28)
    assert never.startswith("no number of weeks would tell it: the cost moves so much by itself")


def test_amounts_are_told_apart_with_more_days_too() -> None:
    chance = random.Random(8)  # noqa: S311 - a simulation
    days = [CostDay(day, 100.0 * (chance.random() < 0.5), 1.0) for day in range(2 * SPAN)]
    found = saving_since(days[:SPAN], days[SPAN:])
    assert isinstance(found, RealisedSaving)
    assert found.is_amount
    assert 0 < found.told_with(182) < found.told_with(84)
    assert found.share_of(0) == 0
    nothing = replace(found, counterfactual_micros=0.0, actual_micros=0.0)
    assert nothing.share_of(1) == inf


def test_what_no_number_of_weeks_would_tell_is_said_in_words() -> None:
    chance = random.Random(8)  # noqa: S311 - a simulation
    days = [CostDay(day, 100.0 * (chance.random() < 0.5), 1.0) for day in range(2 * SPAN)]
    found = saving_since(days[:SPAN], days[SPAN:])
    assert isinstance(found, RealisedSaving)
    free = replace(found, counterfactual_micros=0.0, actual_micros=0.0, doubt=0.0)
    wild = replace(found, doubt=0.0, step=replace(found.step, noise=1e6))
    promise = promised_of(found, 0.1)
    for case, of, because in (
        (free, promise, "the work since would have cost nothing"),
        (found, SavingRange(0, 0, 0), "nothing was promised"),
        (wild, promise, "not even all of it shows"),
        (replace(found, doubt=0.0, volume=0.5), promise, "the work moved at the change"),
    ):
        said = what_it_takes(replace(case, doubt=0.0), of, days_since=SPAN)
        assert said.startswith(f"no number of weeks would tell it: {because}") or because in said
        assert "inf" not in said


@given(
    costs=st.lists(st.floats(0.0, 1e6), min_size=60, max_size=60), promised=st.integers(0, 10**9)
)
def test_what_it_takes_never_says_a_number_that_is_none(costs: list[float], promised: int) -> None:
    days = [CostDay(day, cost) for day, cost in enumerate(costs)]
    found = saving_since(days[:30], days[30:])
    if isinstance(found, RealisedSaving):
        promise = SavingRange(promised, promised, promised)
        said = what_it_takes(found, promise, days_since=30)
        assert "inf" not in said
        assert "nan" not in said


@given(
    before=st.lists(st.floats(0.0, 100.0), min_size=28, max_size=28),
    since=st.lists(st.floats(0.0, 1e6), min_size=28, max_size=28),
)
def test_no_work_would_have_cost_less_than_nothing(before: list[float], since: list[float]) -> None:
    """What rose from little to much is measured by amounts: it cost more, and by no more than all that was paid."""
    days = [CostDay(day, cost) for day, cost in enumerate([*before, *since])]
    found = saving_since(days[:28], days[28:])
    if isinstance(found, RealisedSaving):
        assert found.counterfactual_micros >= 0
        assert -found.actual_micros <= found.low <= found.micros <= found.high


def test_too_few_days_before_try_no_placebo() -> None:
    days = series(9)
    found = saving_since(days[SPAN - 14 : SPAN], days[SPAN:])
    assert isinstance(found, RealisedSaving)
    assert [
        gate.is_passed
        for gate in gated_step(points_of(days[SPAN - 13 : SPAN + 20]), SPAN, found.step).gates
    ] == [None, None, None]


def resized(seed: int, level: float, effect: float, noise: float = 0.1) -> list[CostDay]:
    """Machines that are held for the level of the work, which moves at the claim, and not for each day's noise of it."""
    chance = random.Random(seed + 500)  # noqa: S311 - a simulation
    return [
        replace(
            day,
            micros=day.micros * (level if day.day >= SPAN else 1),
            work=100 * exp(chance.gauss(0, noise)) * (level if day.day >= SPAN else 1),
        )
        for day in series(seed, effect=effect)
    ]


@pytest.mark.parametrize("level", [0.7, 0.8, 0.9, 1.1, 1.2, 1.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_new_level_of_work_may_move_a_cost_that_its_daily_noise_does_not(
    seed: int, level: float
) -> None:
    """What fell with the work is no saving, and a true one is not failed as the work grew; that, too, if the cost stood."""
    for effect in (0.0, 0.1):
        found, status = twelve_weeks(resized(seed, level, effect), 0.1)
        assert found.following < 0.2
        assert found.low <= effect * found.actual_micros / (1 - effect) <= found.high
        if effect and level > 1:
            assert status is SavingStatus.UNKNOWN
        if not effect:
            assert status is not SavingStatus.VERIFIED
        gate = next(gate for gate in found.gates if gate.name == "volume")
        assert gate.is_passed is False
        assert "the days before do not say how the cost follows a new level of it" in gate.says
    # What is more than the work could have moved is told all the same.
    assert twelve_weeks(resized(seed, level, 0.6), 0.5)[1] is SavingStatus.VERIFIED


def test_the_noise_of_work_alone_takes_no_saving_away() -> None:
    for noise in (0.05, 0.1):
        assert twelve_weeks(resized(3, 1.0, 0.1, noise), 0.1)[1] is SavingStatus.VERIFIED


@pytest.mark.parametrize(
    ("moves", "after"), [(0.6, 1.0), (0.8, 1.0), (0.8, 1.1), (1.3, 0.85), (0.7, 1.3)]
)
@pytest.mark.parametrize("weeks", [3, 6])
@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_what_came_back_is_counted_until_then_and_not_told(
    moves: float, after: float, weeks: int, memory: float
) -> None:
    """A flat cost: so the days since are held against about as much as the days before, however long it is ago."""
    until = SPAN + 7 * weeks
    days = [
        replace(
            day,
            micros=day.micros * (1 if day.day < SPAN else moves if day.day < until else after),
        )
        for day in series(70, memory=memory)
    ]
    found, status = twelve_weeks(days, 0.1)
    assert status is SavingStatus.UNKNOWN
    assert found.work_ratio == pytest.approx(1, abs=0.3)
    gate = next(gate for gate in found.gates if gate.name == "post_trend")
    assert gate.is_passed is False
    assert gate.says in what_it_takes(found, promised_of(found, 0.1), days_since=SPAN)


def test_what_fades_is_held_against_the_line_before() -> None:
    """A fifth that is gone after twelve weeks saved a tenth of them."""
    days = [
        replace(day, micros=day.micros * (1 - 0.2 * (2 - day.day / SPAN) if day.day >= SPAN else 1))
        for day in series(11)
    ]
    found, status = twelve_weeks(days, 0.1)
    assert status is SavingStatus.UNKNOWN
    assert share_saved(found) == pytest.approx(0.1, abs=0.02)


def test_a_promise_above_the_cost_is_said_in_words() -> None:
    found, _ = twelve_weeks(series(13), 0.1)
    for share in (1.5, 1e6):
        said = what_it_takes(found, promised_of(found, share), days_since=SPAN)
        assert said == "it takes about another week to tell more than its cost from nothing"


def points_of(days: list[CostDay]) -> list[SeriesPoint]:
    return [SeriesPoint(day.day, log(day.micros)) for day in days]
