"""Reconciled forecasts add up, are the published ones on worked examples, and look at nothing ahead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.forecast.hierarchy import (
    HierarchyScores,
    common_days,
    hierarchy_scores,
    parts_exceed_total,
    remainder_of,
    rolled_series,
)
from apps.economics.forecast.reconciliation import (
    daily_squares,
    error_variances,
    interval_variances,
    reconciled_forecasts,
    stretched_ends,
)

NAN = float("nan")
WHOLE, PARTS = np.array([100.0]), np.array([[40.0], [50.0]])


@pytest.mark.parametrize(
    ("variances", "expected"),
    [
        ((1, 1, 1), (96.666667, 43.333333, 53.333333)),
        ((4, 1, 1), (93.333333, 41.666667, 51.666667)),
    ],
)
def test_ordinary_and_weighted_least_squares_of_the_worked_example(variances, expected):
    of_whole, *of_parts = (np.array([float(each)]) for each in variances)
    made = reconciled_forecasts(WHOLE, of_whole, [PARTS], [np.stack(of_parts)])
    found = [made.whole[0], *made.parts[0][:, 0]]
    assert found == pytest.approx(expected, abs=1e-6)


def projected(forecasts: np.ndarray, variances: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The nearest, by inverse variances, of what all `sums` are 0 of: as a textbook has it."""
    spread = np.diag(variances)
    return forecasts - spread @ sums.T @ np.linalg.solve(sums @ spread @ sums.T, sums @ forecasts)


def test_several_ways_to_divide_a_whole_are_reconciled_at_once():
    draw = np.random.default_rng(5)
    forecasts, variances = draw.uniform(50, 90, 6), draw.uniform(0.5, 4, 6)
    forecasts[0] = 180
    sums = np.array([[-1, 1, 1, 0, 0, 0], [-1, 0, 0, 1, 1, 1]])
    made = reconciled_forecasts(
        forecasts[:1],
        variances[:1],
        [forecasts[1:3, None], forecasts[3:, None]],
        [variances[1:3, None], variances[3:, None]],
    )
    found = np.concatenate([made.whole, made.parts[0][:, 0], made.parts[1][:, 0]])
    np.testing.assert_allclose(found, projected(forecasts, variances, sums), rtol=1e-12)


amounts = st.floats(0, 1e6)


@given(
    st.lists(st.tuples(amounts, st.floats(0, 1e6)), min_size=1, max_size=5),
    st.lists(st.tuples(amounts, st.floats(0, 1e6)), min_size=1, max_size=3),
    st.tuples(amounts, st.floats(0, 1e6)),
)
def test_all_parts_add_up_to_one_whole_and_none_is_below_nothing(some, others, whole):
    ways = [np.array(each, dtype=float).T[..., None] for each in (some, others)]
    made = reconciled_forecasts(
        np.array([whole[0]]),
        np.array([whole[1]]),
        [way[0] for way in ways],
        [way[1] for way in ways],
    )
    assert made.whole[0] >= -1e-9
    for parts in made.parts:
        assert parts.sum() == pytest.approx(made.whole[0], rel=1e-6, abs=1e-6)
        assert (parts >= -1e-9).all()


def test_what_would_fall_below_nothing_is_nothing_and_the_others_are_scaled():
    whole, parts = np.array([10.0]), np.array([[1.0], [30.0]])
    made = reconciled_forecasts(whole, np.array([1e-6]), [parts], [np.array([[9.0], [1.0]])])
    assert made.parts[0][0, 0] == 0
    assert made.parts[0][1, 0] == pytest.approx(made.whole[0])


def test_what_was_never_missed_stays_where_it_is():
    made = reconciled_forecasts(WHOLE, np.array([0.0]), [PARTS], [np.array([[0.0], [3.0]])])
    assert made.whole[0] == pytest.approx(100, abs=1e-5)
    assert made.parts[0][:, 0] == pytest.approx([40, 60], abs=1e-5)


def test_an_interval_is_stretched_to_what_was_reconciled_and_keeps_its_other_end():
    low, high = stretched_ends(np.array([8.0, 8.0]), np.array([9.0, 9.0]), np.array([7.0, 9.5]))
    assert (low.tolist(), high.tolist()) == ([7.0, 8.0], [9.0, 9.5])
    assert interval_variances(np.array([-1.2815515655]), np.array([1.2815515655])) == pytest.approx(
        1
    )


def test_a_variance_is_of_what_had_been_followed_by_then():
    squares = np.array([[1.0, 9.0], [3.0, 11.0], [5.0, NAN], [NAN, NAN]])
    found = error_variances(squares)
    np.testing.assert_array_equal(found, [[NAN, NAN], [1, 1], [2, 9], [3, 10]])
    hours = np.concatenate([np.full((1, 24), 2.0), np.full((1, 24), NAN)], axis=1)
    np.testing.assert_array_equal(daily_squares(hours), [[4.0, NAN]])


HOURS = 30 * 24


def series(seed: int, level: float) -> np.ndarray:
    draw = np.random.default_rng(seed)
    curve = np.sin(2 * np.pi * np.arange(HOURS) / 24)
    return level * (1 + 0.3 * curve) + draw.normal(0, level / 8, HOURS)


def scored(whole: np.ndarray, parts: list[np.ndarray]) -> list[HierarchyScores]:
    days = common_days([whole, *parts])
    return hierarchy_scores(
        rolled_series(whole, days), {"team": [rolled_series(part, days) for part in parts]}
    )


def test_errors_before_and_after_are_measured_on_the_same_origins():
    parts = [series(1, 40.0), series(2, 90.0)]
    day, week = scored(parts[0] + parts[1], parts)
    assert (day.horizon, week.horizon) == (24, 168)
    assert (day.origins, week.origins) == (21, 15), "the first week gives the weights alone"
    assert day.whole.reconciled_error <= 1.02 * day.whole.own_error
    assert day.parts["team"].reconciled_error <= 1.02 * day.parts["team"].own_error
    assert day.parts["team"].reconciled_coverage >= day.parts["team"].own_coverage


def test_shuffling_what_comes_after_an_origin_changes_nothing_that_was_reconciled_there():
    parts = [series(1, 40.0), series(2, 90.0)]
    whole = rolled_series(parts[0] + parts[1], 20)
    origin = 12
    shuffled = parts[0] + parts[1]
    np.random.default_rng(1).shuffle(shuffled[whole.rolled.origins[origin] :])
    again = rolled_series(shuffled, 20)
    for found in (again.rolled.points, again.variances):
        before = whole.rolled.points if found is again.rolled.points else whole.variances
        np.testing.assert_array_equal(found[: origin + 1], before[: origin + 1])


def test_the_rest_is_what_is_in_no_part_and_unknown_where_one_is():
    whole = np.array([10.0, 10.0, 10.0, NAN])
    rest = remainder_of(whole, [np.array([4.0, 4.0, NAN, 4.0]), np.array([5.0, 6.1, 5.0, 5.0])])
    assert rest is not None
    np.testing.assert_array_equal(rest, [1.0, 0.0, NAN, NAN])
    assert remainder_of(whole, [np.array([4.0] * 4), np.array([6.0] * 4)]) is None


def test_parts_that_come_to_more_than_the_whole_are_none_of_it():
    whole = np.full(100, 10.0)
    assert parts_exceed_total(whole, [np.full(100, 8.0), np.full(100, 3.0)])
    assert not parts_exceed_total(whole, [np.full(100, 8.0), np.full(100, 2.0)])
    assert not parts_exceed_total(whole, [np.full(100, NAN)])
