"""Replayed budgets: what counts as warned of in time and as a false alarm, and that the rule keeps its promise."""

import numpy as np
import pytest

from apps.economics.forecast.intervals import LEVELS
from bench.budget_alerts import (
    KINDS,
    MADE_FROM,
    DayAhead,
    ReplayedSeries,
    counted_warnings,
    made_series,
    moment_of_excess,
    replayed,
)


def known_ahead(days: list[float], said: float) -> ReplayedSeries:
    """A series of which `said` a day was always expected, without a doubt."""
    ahead = DayAhead(np.full(60, said), np.tile(np.full(60, said), (len(LEVELS), 1)))
    return ReplayedSeries("known", np.array(days), 0, (ahead,) * len(days), ((0, len(days)),))


def test_the_moment_of_an_excess_lies_within_its_day() -> None:
    assert moment_of_excess(np.full(10, 10.0), 55) == pytest.approx(5.5)
    assert moment_of_excess(np.full(10, 10.0), 100) is None


def test_what_is_seen_coming_is_in_time_and_what_is_not_is_missed() -> None:
    right = counted_warnings([known_ahead([10.0] * 30, 10.0)], (0.8,), "grid", "forecast")
    assert (right.overruns, right.in_time, right.false_alarms) == (1, 1, 0)
    late = counted_warnings([known_ahead([10.0] * 30, 0.0)], (0.8,), "grid", "forecast")
    assert (late.overruns, late.in_time, late.false_alarms) == (1, 0, 0)


def test_a_warning_of_what_does_not_come_is_a_false_alarm_and_months_are_of_budgets() -> None:
    wrong = counted_warnings([known_ahead([10.0] * 30, 20.0)], (1.1, 1.2), "grid", "forecast")
    assert (wrong.overruns, wrong.false_alarms) == (0, 2)
    assert wrong.months == pytest.approx(60 / 30.4)


@pytest.mark.proof
def test_four_of_five_overruns_are_warned_of_three_days_before_with_one_false_alarm_a_year() -> (
    None
):
    """The aim, on seeds that neither the rule nor docs/guides/alerts.md is of."""
    series = [replayed(f"{kind}-200", made_series(kind, 200), MADE_FROM) for kind in KINDS]
    for way, shares in (
        ("plan", (1.0, 1.05, 1.1, 1.2)),
        ("grid", (0.8, 0.9, 0.95, 1.05, 1.1, 1.2)),
    ):
        found = counted_warnings(series, shares, way, "forecast").figures
        print(way, found)
        assert found["share_in_time"] >= 0.8
        assert found["false_in_12_months"] <= 1
