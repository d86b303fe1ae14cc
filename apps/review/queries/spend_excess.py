"""Days of spend that are over a line of their own, beyond what was told of before: a budget's pace, or a year ago."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from apps.economics.changes import WEEK
from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_lines import (
    LINE_WEEKS,
    YEAR_WEEKS,
    crept_over_pace,
    crept_over_year,
    whole_weeks,
)
from apps.economics.spend_watch import (
    days_that_last,
    expected_days,
    on_new_levels,
    weights_like,
)
from apps.economics.spend_weeks import Days
from apps.review.models import SpendAnomaly
from apps.review.queries.spend_anomalies import CURRENT_DAYS
from apps.review.queries.spend_own_lines import BudgetPace
from apps.review.queries.spend_series import SpendSeries
from apps.review.queries.spend_stories import DAYS_BEFORE, ExcessDays

LEAST_LINE = 0.25
"""Of a budget's pace: days that cost less than so much of it say nothing of how it is divided."""
NewLevel = tuple[int, float]
"""From which day on (its ordinal), and its ratio to the one before."""


@dataclass(frozen=True, slots=True)
class Excess:
    """Days that are out of line, and what found them.

    Over a line of its own: `line_name` is the budget's, `over_since` the first day of the weeks in a row over it, and
    `rose_since` the first that was held against it (ordinals; 0 of other looks).
    """

    days: ExcessDays
    look: SpendDetector
    line_name: str = ""
    over_since: int = 0
    rose_since: int = 0


@dataclass(frozen=True, slots=True)
class OwnLines:
    """By series the paces of its budgets, and its weeks of a year and a half."""

    paces: Mapping[str, Sequence[BudgetPace]]
    weeks: Mapping[str, Days]


@dataclass(frozen=True, slots=True)
class ToldBefore:
    """Of a series: its anomalies, the levels that are usual by now, and how strictly it is looked at."""

    anomalies: Sequence[SpendAnomaly]
    levels: Sequence[NewLevel]
    strictness: float


def over_own_line(series: SpendSeries, lines: OwnLines, told_before: ToldBefore) -> Excess | None:
    """Its last week where it crept over one of its budgets, or else over last year; None: it did not."""
    for pace in lines.paces.get(series.of.series, ()):
        excess = _over_pace(series, pace, told_before)
        if excess is not None:
            return excess
    weeks = lines.weeks.get(series.of.series)
    return None if weeks is None else _over_year(series, weeks, told_before)


def _over_pace(series: SpendSeries, pace: BudgetPace, told_before: ToldBefore) -> Excess | None:
    """Held against the pace in dollars, divided as the four weeks before it went over were: what they were of was planned."""
    first = max(series.first, pace.first)
    spent, planned = series.values[first - series.first :], pace.days[first - pace.first :]
    # What was told of a budget is told again where it is over by more than that.
    ratios = [
        anomaly.spent_micros / anomaly.expected_micros
        for anomaly in told_before.anomalies
        if (anomaly.look, anomaly.line_name) == (SpendDetector.BUDGET, pace.name)
        and anomaly.began_on.toordinal() >= first
        and anomaly.expected_micros > 0
    ]
    highest_ratio = max(ratios, default=1.0)
    crept = crept_over_pace(
        whole_weeks(spent), highest_ratio * whole_weeks(planned), told_before.strictness
    )
    if crept is None:
        return None
    began, since = series.last - WEEK + 1, series.last + 1 - WEEK * crept.weeks
    days = ExcessDays(began, series.last, since - DAYS_BEFORE, since - 1)
    days = _scaled_to(float(planned[-WEEK:].sum()), days, series)
    return Excess(days, SpendDetector.BUDGET, pace.name, since, first)


def _scaled_to(pace: float, days: ExcessDays, series: SpendSeries) -> ExcessDays:
    """With the scale that makes their line what was planned for them, in micro-units: more than 0.

    A line that is not known, rested or was credited is none to divide a pace by: that is divided as the days themselves are.
    """
    usual = _spent_like(days, series)
    if usual < LEAST_LINE * pace:
        days = replace(days, line_from=days.began, line_until=days.until)
        usual = _spent_like(days, series)
    return replace(days, scale=pace / usual)


def _spent_like(days: ExcessDays, series: SpendSeries) -> float:
    """Return the cost of as many of each weekday of their line, in micro-units; 0 where none is known."""
    line = days.line_in(series)
    if not line:
        return 0.0
    weights = weights_like(line, range(days.began, days.until + 1))
    return sum(weight * float(series.values[day - series.first]) for day, weight in weights.items())


def _over_year(series: SpendSeries, weeks: Days, told_before: ToldBefore) -> Excess | None:
    """Held against the same days of 52 weeks ago, × the growth that there was anyhow, which is no less than 1."""
    after = series.last + 1
    levels = [(len(weeks) - (after - began) // WEEK, ratio) for began, ratio in told_before.levels]
    scaled = on_new_levels(weeks, [level for level in levels if level[0] > 0])
    crept = crept_over_year(scaled, told_before.strictness)
    if crept is None:
        return None
    year = WEEK * YEAR_WEEKS
    grown = float(scaled[-1 - YEAR_WEEKS] / weeks[-1 - YEAR_WEEKS]) * exp(crept.usual)
    began, last = series.last - WEEK + 1, series.last
    days = ExcessDays(began, last, began - year, last - year, scale=grown, is_known=True)
    compared = min(LINE_WEEKS, len(weeks) - YEAR_WEEKS)
    since = after - WEEK * crept.weeks
    return Excess(days, SpendDetector.YEAR, over_since=since, rose_since=after - WEEK * compared)


def days_held_against_its_line(anomaly: SpendAnomaly, until: int) -> ExcessDays:
    """Its days up to one, against the line that it was found against."""
    began = anomaly.began_on.toordinal()
    if anomaly.line_from is None or anomaly.line_until is None:
        return ExcessDays.after_usual(began, until)
    return ExcessDays(
        began,
        until,
        anomaly.line_from.toordinal(),
        anomaly.line_until.toordinal(),
        anomaly.line_scale,
        is_known=anomaly.look == SpendDetector.YEAR,
    )


def days_it_lasts(anomaly: SpendAnomaly, series: SpendSeries) -> int:
    """How many days it lasts: what creeps over a line of its own, until a week is in line with that."""
    began = anomaly.began_on.toordinal()
    if not SpendDetector(anomaly.look).is_over_own_line:
        return _days_lasted(series, began)
    return _days_over_line(series, began, anomaly.expected_micros / anomaly.days, CURRENT_DAYS)


def _days_lasted(series: SpendSeries, began: int) -> int:
    """How many days from its first on are above what was expected of them when it began."""
    place = began - series.first
    values = series.values[: place + CURRENT_DAYS].copy()
    off = []
    for day in range(place, len(values)):
        expected = expected_days(values)[day] if place else 0.0
        off.append(0.0 if np.isnan(expected) else float(values[day] - expected))
        values[day] = expected
    return days_that_last(off)


def _days_over_line(series: SpendSeries, began: int, expected_a_day: float, most: int) -> int:
    """How many days from its first on it is over its line, up to the first week in line again; no more than `most`."""
    end = min(series.last, began + most - 1)
    place = began - series.first
    for last in range(began + WEEK, end + 1):
        week = series.values[place + last - began - WEEK + 1 : place + last - began + 1]
        if np.sum(week) <= WEEK * expected_a_day:
            return last - began
    return end - began + 1
