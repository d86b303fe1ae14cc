"""Moves: savings as ranges, capped, net of moving, and no dollar saved twice."""

import random
import time
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.moves import choice
from apps.economics.moves.choice import (
    WeighedMove,
    counted_moves,
    exclusive_groups,
)
from apps.economics.moves.commitment import commitment_saving, demand_floor
from apps.economics.moves.disruption import DisruptionClass, move_worth, spot_disruption
from apps.economics.moves.idle import idle_saving, is_idle_again, measured_saving
from apps.economics.moves.saving import (
    MachineFill,
    SavingPoint,
    SavingRange,
    WorkWeek,
    elsewhere_points,
    first_year_month,
    machine_fill,
    mean_with_ends,
    monthly,
    payback_months,
    saving_range,
    weekly_with_ends,
)
from apps.economics.moves.spot import CheckpointHabit, spot_move
from apps.economics.placement.estimates import LikelyRange
from apps.economics.placement.wall_time import NeverFinishes

amounts = st.integers(-10_000, 1_000_000)
POINTS = st.lists(
    st.builds(SavingPoint, st.floats(0.01, 5), amounts.map(float)), min_size=1, max_size=30
)
MOVES = st.lists(
    st.tuples(st.frozensets(st.sampled_from("abcdefg"), min_size=1, max_size=4), amounts),
    max_size=9,
).map(
    lambda found: [
        WeighedMove(f"move {place}", cells, worth) for place, (cells, worth) in enumerate(found)
    ]
)
WEEKS = (WorkWeek(1_000.0, 100.0), WorkWeek(2_000.0, 200.0))
HABIT = CheckpointHabit(write=1 / 60, cadence=0.5, restart=0.1)


@given(POINTS)
def test_a_range_is_in_order_and_of_points_that_may_come(points: list[SavingPoint]) -> None:
    found = saving_range(points)
    assert found.low <= found.likely <= found.high
    assert {found.low, found.likely, found.high} <= {round(point.micros) for point in points}


def test_ends_are_the_tenth_and_the_ninetieth_percentile() -> None:
    found = saving_range(SavingPoint(1.0, float(micros)) for micros in range(1, 11))
    assert found == SavingRange(1, 5, 9)
    with pytest.raises(ValueError, match="points"):
        saving_range([])


@given(POINTS, st.integers(0, 1_000_000))
def test_no_end_is_above_what_is_spent(points: list[SavingPoint], spent: int) -> None:
    found = saving_range(points).capped(spent)
    assert found.low <= found.likely <= found.high <= spent


def test_the_same_hours_at_half_the_price_save_half() -> None:
    points = elsewhere_points(WEEKS, LikelyRange(5, 5, 5), fill=MachineFill())
    assert sum(point.weight for point in points) == pytest.approx(1)
    # Ten a GPU-hour now, five there: 750 a week on average, a month of 730 hours, and 1.28 standard errors less.
    error = 1.2816 * 500 / 2
    assert saving_range(points) == SavingRange(
        *(round((750 - less) * 730 / 168) for less in (error, 0, 0))
    )


def test_work_of_one_week_in_four_counts_with_its_mean() -> None:
    seldom = (WorkWeek(4_000.0, 400.0), *[WorkWeek(0.0, 0.0)] * 3)
    found = saving_range(elsewhere_points(seldom, LikelyRange(5, 5, 5), fill=MachineFill()))
    assert found.likely == round(500 * 730 / 168)
    assert found.low == 0


def test_one_week_alone_has_no_range_of_its_own() -> None:
    assert mean_with_ends([7.0]) == (7, 7, 7)
    assert mean_with_ends([6.0, 6.0]) == (6, 6, 6)
    low, mean, high = mean_with_ends([0.0, 12.0])
    assert (mean - low, mean) == (pytest.approx(high - mean), 6)


def test_a_week_weighs_by_its_hours_and_none_is_blown_up() -> None:
    """Three hours of a fifth week, all free, are three hours: no week of its own."""
    assert weekly_with_ends([7.0], [168]) == (7, 7, 7)
    assert weekly_with_ends([0.0, 12.0], [168, 168]) == pytest.approx(mean_with_ends([0.0, 12.0]))
    low, mean, high = weekly_with_ends([0.0, 0.0, 24.0], [168, 168, 3])
    assert mean == pytest.approx(24 * 168 / 339)
    assert low < mean < high
    assert weekly_with_ends([0.0, 8.0], [0, 168]) == (8, 8, 8)


def test_a_machine_that_nothing_else_fills_is_paid_whole() -> None:
    assert machine_fill(4, 8, is_market=True) == MachineFill(2, 1)
    assert machine_fill(8, 8, is_market=False) == MachineFill(1, 0.25)
    assert machine_fill(12, 8, is_market=True).whole == pytest.approx(16 / 12)
    alone = saving_range(
        elsewhere_points(WEEKS, LikelyRange(5, 5, 5), fill=machine_fill(4, 8, is_market=False))
    )
    filled = saving_range(elsewhere_points(WEEKS, LikelyRange(5, 5, 5), fill=MachineFill()))
    assert alone.low == 0 < filled.low
    assert alone.likely == filled.likely


def test_work_on_spot_without_interruptions_saves_the_difference_of_prices() -> None:
    move = spot_move(
        WEEKS, LikelyRange(4, 4, 4), LikelyRange(0, 0, 0), HABIT, wait=0.0, fill=MachineFill()
    )
    assert move.paid_factor == 1
    assert move.interruptions_per_hour == move.lost_hours_per_hour == 0
    assert move.saving.likely == round(900 * 730 / 168)


@settings(max_examples=60)
@given(st.floats(0.001, 0.2), st.floats(1.01, 4))
def test_more_interruptions_save_less(rate: float, times: float) -> None:
    seldom, often = (
        spot_move(
            WEEKS,
            LikelyRange(3, 4, 5),
            LikelyRange(each / 2, each, each * 2),
            HABIT,
            wait=0.05,
            fill=MachineFill(),
        )
        for each in (rate, rate * times)
    )
    assert often.paid_factor >= seldom.paid_factor >= 1
    for one, other in zip(
        (often.saving.low, often.saving.likely, often.saving.high),
        (seldom.saving.low, seldom.saving.likely, seldom.saving.high),
        strict=True,
    ):
        assert one <= other


def test_hours_on_spot_are_those_of_the_closed_form() -> None:
    # METHODS: W=48, τ=.75, δ=5 min, M=4, R=10 min, D=15 min: 61.818499 h are billed, of 48·(1 + δ/τ) without failures.
    habit = CheckpointHabit(write=5 / 60, cadence=0.75, restart=10 / 60)
    move = spot_move(
        WEEKS,
        LikelyRange(1, 1, 1),
        LikelyRange(0.25, 0.25, 0.25),
        habit,
        wait=0.25,
        fill=MachineFill(),
    )
    without = 48 * (1 + (5 / 60) / 0.75)
    assert move.paid_factor * without == pytest.approx(61.818499, abs=1e-5)
    assert move.interruptions_per_hour * without == pytest.approx(15.454625, abs=1e-5)
    assert move.lost_hours_per_hour * without == pytest.approx(65.682155 - without, abs=1e-5)


def test_a_cadence_three_times_off_is_said_and_one_that_never_finishes_refused() -> None:
    far = CheckpointHabit(write=1 / 60, cadence=20.0, restart=0.1)
    rate = LikelyRange(0.02, 0.02, 0.02)
    move = spot_move(WEEKS, LikelyRange(1, 1, 1), rate, far, wait=0.0, fill=MachineFill())
    assert move.advised_cadence is not None
    assert move.advised_cadence < 20 / 3
    with pytest.raises(NeverFinishes):
        spot_move(
            WEEKS, LikelyRange(1, 1, 1), LikelyRange(9, 9, 9), far, wait=0.0, fill=MachineFill()
        )


def test_a_commitment_saves_what_it_replaces_less_what_it_costs() -> None:
    always, half = [8.0] * 168, [8.0] * 84 + [0.0] * 84
    assert commitment_saving([always], 8, on_demand=10, rate=6) == SavingRange(*[8 * 4 * 730] * 3)
    assert commitment_saving([half], 8, on_demand=10, rate=6).likely == -8 * 730
    assert demand_floor(always) == 8
    assert demand_floor(half) == 0
    assert demand_floor([0.0] * 10 + [4.0] * 90) == 4
    assert demand_floor([]) == 0


def test_disruption_has_a_class_with_its_reason() -> None:
    assert spot_disruption(1, 0.1, 100).level is DisruptionClass.LOW
    assert spot_disruption(5, 0.1, 100).level is DisruptionClass.MEDIUM
    assert spot_disruption(1, 3, 100).level is DisruptionClass.MEDIUM
    assert spot_disruption(40, 1, 100).level is DisruptionClass.HIGH
    assert "40.0 interruptions" in spot_disruption(40, 1, 100).reason


def test_what_moving_costs_is_paid_back_and_taken_off() -> None:
    saving = SavingRange(50, 100, 200)
    assert payback_months(250, saving) == 2.5
    assert payback_months(None, saving) is None
    assert payback_months(250, SavingRange(-5, 0, 9)) is None
    assert first_year_month(saving, 240) == 80
    assert first_year_month(saving, None) == 100
    assert monthly(672, 672) == 730


@given(st.floats(-1e6, 1e6))
def test_a_move_that_disturbs_more_is_worth_less(month: float) -> None:
    low, medium, high = (move_worth(month, level) for level in DisruptionClass)
    assert low >= medium >= high
    assert high <= month or month > 0


@given(MOVES)
def test_groups_part_the_moves_by_the_dollars_they_touch(moves: list[WeighedMove]) -> None:
    groups = exclusive_groups(moves)
    assert sorted(move.key for group in groups for move in group) == [each.key for each in moves]
    for one, other in combinations(groups, 2):
        assert not any(a.cells & b.cells for a in one for b in other)


@given(MOVES)
def test_the_counted_are_the_best_that_touch_no_dollar_twice(moves: list[WeighedMove]) -> None:
    counted = counted_moves(moves).keys
    chosen = [move for move in moves if move.key in counted]
    assert not any(one.cells & other.cells for one, other in combinations(chosen, 2))
    worth = sum(move.worth for move in chosen)
    assert worth == max(
        sum(move.worth for move in tried)
        for count in range(len(moves) + 1)
        for tried in combinations(moves, count)
        if not any(one.cells & other.cells for one, other in combinations(tried, 2))
    )


def worth_of(moves: list[WeighedMove]) -> int:
    """What is counted of these comes to."""
    keys = counted_moves(moves).keys
    chosen = [move for move in moves if move.key in keys]
    assert not any(one.cells & other.cells for one, other in combinations(chosen, 2))
    return round(sum(move.worth for move in chosen))


def test_where_not_every_choice_is_tried_at_least_half_of_the_best_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = random.Random(7)  # noqa: S311  # moves, no secrets
    for _ in range(500):
        moves = [
            WeighedMove(
                f"{place}", frozenset(drawn.sample("abcdefg", drawn.randint(1, 4))), drawn.randint(1, 99)
            )
            for place in range(drawn.randint(2, 10))
        ]  # fmt: skip
        monkeypatch.setattr(choice, "MOST_EXACT", 24)
        best = worth_of(moves)
        assert not counted_moves(moves).not_tried
        monkeypatch.setattr(choice, "MOST_EXACT", 0)
        assert best / 2 <= worth_of(moves) <= best


def test_many_families_that_services_tie_together_are_chosen_within_bounds_and_say_so() -> None:
    drawn = random.Random(7)  # noqa: S311  # moves, no secrets
    cells = [(f"{w} on {f}", w, f) for w in range(150) for f in drawn.sample(range(20), 2)]
    alone = [
        WeighedMove(f"spot {key}", frozenset([key]), drawn.randint(1, 99)) for key, *_ in cells
    ]
    services = [
        WeighedMove(f"api {w}", frozenset(key for key, own, _ in cells if own == w), drawn.randint(1, 300))
        for w in range(150)
    ]  # fmt: skip
    families = []
    for family in range(20):
        own = frozenset(key for key, _, of in cells if of == family)
        families.append(WeighedMove(f"commit {family}", own, len(own) * drawn.randint(30, 99)))
    began = time.process_time()
    found = counted_moves([*alone, *services, *families])
    assert time.process_time() - began < 3
    assert found.not_tried == {move.key for move in [*alone, *services, *families]}
    total = worth_of([*alone, *services, *families])
    # Never less than the best of what touches one cell, of the families, and of the services alone.
    assert total >= max(worth_of(alone), worth_of(families), worth_of(services))


@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 100_000), min_size=1),
    st.lists(
        st.tuples(st.frozensets(st.sampled_from("abcdefg"), min_size=1), amounts), max_size=12
    ),
)
def test_what_is_counted_never_saves_more_than_is_spent(
    spent: dict[str, int], asked: list[tuple[frozenset[str], int]]
) -> None:
    moves, savings = [], {}
    for place, (cells, saving) in enumerate(asked):
        cap = sum(spent.get(cell, 0) for cell in cells)
        savings[f"{place}"] = SavingRange(saving, saving, saving).capped(cap).likely
        moves.append(WeighedMove(f"{place}", cells, savings[f"{place}"]))
    counted = counted_moves(moves).keys
    assert sum(savings[key] for key in counted) <= sum(spent.values())


def test_two_thousand_workloads_and_a_commitment_for_all_are_chosen_at_once() -> None:
    cells = [f"{number}" for number in range(2_000)]
    moves = [
        WeighedMove(f"{kind} {cell}", frozenset([cell]), worth)
        for cell in cells
        for kind, worth in (("spot", 3), ("elsewhere", 2), ("shrink", 1))
    ]
    hub = WeighedMove("commit", frozenset(cells), 5_000)
    counted = counted_moves([*moves, hub]).keys
    assert counted == {f"spot {cell}" for cell in cells}
    dearer = WeighedMove("commit", frozenset(cells), 7_000)
    assert counted_moves([*moves, dearer]).keys == {"commit"}


@pytest.mark.parametrize(
    ("idle", "held", "is_idle"),
    [
        ([20, 20, 20, 0], [100, 100, 100, 100], True),
        ([20, 20, 0, 0], [100, 100, 100, 100], False),
        ([20, 20], [100, 100], True),
        ([20], [100], False),
        ([0, 0, 0, 0], [0, 0, 0, 0], False),
    ],
)
def test_idle_again_is_a_fifth_of_three_weeks_in_four_and_of_two_at_least(
    idle: list[float], held: list[float], is_idle: bool
) -> None:
    assert is_idle_again(idle, held) is is_idle


def test_idle_saves_at_the_margin_from_half_to_all_of_a_week_as_it_is() -> None:
    # A week of 168 h has 42 idle GPU-hours of a dollar: a month of 730 has 182.50.
    assert idle_saving([42, 42], 1_000_000) == SavingRange(91_250_000, 136_875_000, 182_500_000)
    uneven = idle_saving([0, 84], 1_000_000)
    assert (uneven.low, uneven.high) == (0, 182_500_000)


def test_what_was_seen_to_be_givable_is_saved_with_the_errors_of_its_weeks() -> None:
    # A week of 168 h with 42 GPU-hours of a dollar: a month of 730 has 182.50.
    assert measured_saving([42, 42], 1_000_000) == SavingRange(*[182_500_000] * 3)
    uneven = measured_saving([20, 64], 1_000_000)
    assert uneven.low < uneven.likely == 182_500_000 < uneven.high
    assert measured_saving([0, 84], 1_000_000).low == 0, "never below nothing"
