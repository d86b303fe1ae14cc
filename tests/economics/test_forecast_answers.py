"""What loses to its best baseline is not the answer, and intervals cover what they say before they are shown."""

from math import nan

import numpy as np
import pytest

from apps.economics.forecast.answers import (
    AnsweredForecast,
    covering,
    gate_against_baselines,
    middles_gate,
    rare_gate,
    reaches_of,
    totals_gate,
    with_baseline,
)
from apps.economics.forecast.backtest import ForecastScores
from apps.economics.forecast.day_totals import DayTotals
from apps.economics.forecast.intervals import LEVELS
from apps.economics.forecast.paths import TotalsAhead
from apps.economics.forecast.scores import Floats
from apps.economics.gates import Gate, GateName
from apps.economics.hours_ahead import HoursAhead

OWN = AnsweredForecast(np.array([10.0, 20.0]), np.array([[8.0, 16.0], [12.0, 26.0]]), ())


def scores(
    ours: float = 1.0, naive: float = 2.0, coverage: float = 0.8, origins: int = 20
) -> ForecastScores:
    return ForecastScores(origins, {"runrate": ours, "naive": naive, "ses": nan}, coverage, 0.1)


def test_what_is_as_good_as_its_best_baseline_stays_the_answer() -> None:
    gate = gate_against_baselines(scores(), "24 hours")
    assert (gate.is_passed, gate.fallback) == (True, "")
    assert gate.says == "24 hours ahead: its error before was 1 beside 2 of naive"
    answer = with_baseline(OWN, gate, {}, slice(0, 2))
    assert (answer.points == OWN.points).all()
    assert (answer.baseline, answer.gates) == ("", (gate,))


def test_what_loses_to_its_best_baseline_is_that_baseline_by_name_as_far_as_it_was_judged() -> None:
    gate = gate_against_baselines(scores(ours=3.0), "24 hours")
    assert (gate.is_passed, gate.fallback) == (False, "naive")
    answer = with_baseline(OWN, gate, {"naive": np.array([5.0, 5.0])}, slice(0, 1))
    assert answer.points.tolist() == [5.0, 20.0]
    assert answer.quantiles.tolist() == [[3.0, 16.0], [7.0, 26.0]], "intervals move along"
    assert answer.baseline == "naive"


def test_of_too_few_forecasts_or_without_a_scale_nobody_can_tell() -> None:
    few = gate_against_baselines(scores(ours=3.0, origins=5), "a week")
    assert (few.is_passed, few.fallback) == (None, "")
    assert "5 forecasts were followed" in few.says
    assert gate_against_baselines(scores(ours=nan), "a week").is_passed is None
    assert (with_baseline(OWN, few, {}, slice(0, 2)).points == OWN.points).all()


def test_intervals_that_cover_too_little_are_widened_until_they_cover() -> None:
    reaches = [0.2, 0.4, 0.6, 0.9, 1.2, 1.4, 1.6, 1.8, 2.0, 3.0]
    answer = covering(OWN, scores(coverage=0.4), reaches)
    assert answer.quantiles.tolist() == [[6.0, 12.0], [14.0, 32.0]], "twice as wide"
    assert answer.gates[-1].is_passed is True
    assert "2 times as wide: 90 % lay in those" in answer.gates[-1].says


def test_intervals_that_cover_nearly_all_are_narrowed_and_what_never_missed_is_left() -> None:
    narrow = covering(OWN, scores(coverage=1.0), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9])
    assert narrow.quantiles[1, 0] == pytest.approx(10 + 2 * 0.9)
    exact = covering(OWN, scores(coverage=1.0), [0.0, 0.0, nan])
    assert (exact.quantiles == OWN.quantiles).all()
    assert exact.gates[-1] == Gate(GateName.COVERAGE, True, "all that came was as forecast")


def test_intervals_that_hold_or_were_never_tried_are_left_and_some_cannot_be_mended() -> None:
    for coverage, expected in ((0.8, True), (nan, None)):
        answer = covering(OWN, scores(coverage=coverage), [1.0])
        assert (answer.quantiles == OWN.quantiles).all()
        assert answer.gates[-1].is_passed is expected
    assert covering(OWN, scores(coverage=0.1), [20.0] * 10).gates[-1].is_passed is False
    assert covering(OWN, scores(coverage=0.1), [nan]).gates[-1].is_passed is False


def test_a_reach_is_of_the_side_on_which_it_came() -> None:
    points = np.array([10.0, 10.0, 10.0, 10.0, 10.0])
    quantiles = np.array([[8.0, 8.0, 10.0, np.nan, 8.0], [14.0, 14.0, 10.0, 12.0, 14.0]])
    actual = np.array([12.0, 7.0, 11.0, 10.0, np.nan])
    reaches = reaches_of(actual, points, quantiles)
    assert reaches[:3].tolist() == [0.5, 1.5, 20.0], "beyond an interval without width is far"
    assert np.isnan(reaches[3:]).all()
    assert reaches_of(points[:1], points[:1], quantiles[:, 2:3]).tolist() == [0.0]


def totals(days: int, came: float) -> tuple[DayTotals, TotalsAhead]:
    shape = (20, days)
    known = DayTotals(
        np.zeros((20, 24)), np.zeros(20), 0, np.full(shape, 10.0), np.full(shape, came)
    )
    reached = np.tile(np.arange(1, days + 1), (20, 1))
    quantiles = np.stack([reached * (5 + 10 * level) for level in LEVELS], axis=1)
    return known, TotalsAhead(10.0 * reached, quantiles, np.ones(shape))


def test_totals_are_held_against_their_own_intervals_and_the_sum_of_middles_beside_them() -> None:
    hours: Floats = np.zeros(14 * 24)
    covered, wider = totals_gate(*totals(14, 10.2))
    assert covered.says.startswith("totals of 7 days: 100 %")
    assert wider < 1, "all of them lay well inside"
    parts = middles_gate(14, hours, hours + 10 / 24)
    assert (parts.is_passed, parts.fallback != "") == (False, True)
    assert "in 7 days the middles of its hours come to 0, whole paths to 70" in parts.says
    covered, wider = totals_gate(*totals(1, np.nan))
    assert (covered.is_passed, wider) == (None, 1.0)
    parts = middles_gate(1, hours[:24] + 10 / 24, hours[:24] + 10 / 24)
    assert (parts.is_passed, parts.fallback) == (True, "")
    assert "in a day" in parts.says


def test_totals_that_lay_outside_make_their_intervals_as_wide_as_they_missed() -> None:
    covered, wider = totals_gate(*totals(14, 18.0))
    assert wider == pytest.approx(8 / 4), "each was 8 of 10 above what was expected, the interval 4"
    assert covered.is_passed is not None
    assert "2 times as wide: 100 % lay in those" in covered.says
    covered, wider = totals_gate(*totals(14, 10.0))
    assert (covered.is_passed, wider) == (True, 1.0), "all that came was as forecast"
    flat, sums = totals(14, 18.0)
    sums.quantiles[-1] = sums.expected[-1]
    covered, wider = totals_gate(flat, sums)
    assert (covered.is_passed, wider) == (False, 1.0), "of no width there is no wider one"


def test_an_interval_of_a_rare_day_may_hold_nearly_all_that_comes_and_not_too_little() -> None:
    assert rare_gate(scores(coverage=0.99)).is_passed is True
    assert "a day without demand and a busy one" in rare_gate(scores(coverage=0.99)).says
    assert rare_gate(scores(coverage=0.4)).is_passed is False
    assert rare_gate(scores(coverage=0.8)).is_passed is True
    assert rare_gate(scores(coverage=nan)).is_passed is None


def test_where_nothing_has_a_scale_plain_errors_tell_methods_apart() -> None:
    stood = ForecastScores(
        20, {"runrate": nan, "naive": nan}, 0.8, 0.1, {"runrate": 5.0, "naive": 2.0}
    )
    gate = gate_against_baselines(stood, "24 hours")
    assert (gate.is_passed, gate.fallback) == (False, "naive")
    assert "5 beside 2 of naive" in gate.says


def test_a_spread_grows_with_how_far_ahead_and_beyond_the_end_as_before() -> None:
    ahead = HoursAhead([1.0] * 48, {0.9: [2.0] * 48}, [1.5] * 48, (24, 48), {0.9: (6.0, 8.0)})
    assert ahead.adding_up == [1.5] * 48
    assert ahead.spread_of(0.9, 0, 24) == 6.0
    assert ahead.spread_of(0.9, 0, 36) == 7.0
    assert ahead.spread_of(0.9, 0, 96) == 16.0
    assert ahead.spread_of(0.9, 24, 24) == pytest.approx(6.0)
    assert ahead.spread_of(0.9, 44, 4) == pytest.approx(1.0), "no less than the first four hours"
    assert ahead.spread_of(0.9, 5, 0) == 0.0
    assert HoursAhead([1.0], {}).adding_up == [1.0]
