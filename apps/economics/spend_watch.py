"""Spend looked at day by day: which of the last days are further out of line than anything before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import exp
from typing import Any

import numpy as np

from apps.economics.changes import WEEK
from apps.economics.deviations import robust_deviation
from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_weeks import (
    MOST_WEEKS,
    MOVED_SHARE,
    Days,
    OverLine,
    WeeksBack,
    line_of,
    noise_of,
    week_out_of_line,
    weekend_out_of_line,
    without_spells,
)

FEWEST_SPEND_DAYS = 42
"""Six weeks, so that what days differ by is known of three of them."""
LIKE_WEEKS = 6
SPANS = {1: (7.0, 0.3), 3: (6.5, 0.2), 7: (5.5, 0.12)}
"""Spans of days that are looked at; robust deviations, and the share of an average span, that an excess is above."""
RECORD = 1.35
"""Times the largest excess before it: what came already, such as at the end of each month, is no news."""
FEWEST_BEFORE = 8
LEAST_DEVIATION = 0.03
LATELY_DAYS = 28
BACK_DAYS, BACK_SHARE = 2, 0.5
"""An excess is over when so many days in a row have less than this share of it."""
MOST_STRICTNESS, STRICTER_BY = 3.0, 1.3

RESTED_SHARE = 0.05
LEAST_MOVED = 1 / 3
"""Of an excess: less of it is how days of a week differ anyhow. A pulse of every other week is half expected."""
LAST_DAYS, FIRST_DAYS, QUARTER = 3, 2, 3
"""Days of a month that its end may show on."""
SATURDAY = 6
"""Ordinals of Saturdays, modulo 7."""


@dataclass(frozen=True, slots=True)
class OutOfLine:
    """The `days` up to so many `ago` cost `excess` more than the line that `look` holds them against.

    `line` are the first and the last week before them that it is of.
    """

    days: int
    excess: float
    look: SpendDetector = SpendDetector.DAY
    ago: int = 0
    line: WeeksBack = (1, LIKE_WEEKS)


def expected_days(values: Days, ahead: int = 0) -> Days:
    """Of each day the median of up to six of the same weekday before it; NaN of fewer than three.

    Days of a spell of nothing are none of them where three others are known. With `ahead`, of so many days more.
    """
    longer = np.append(values, np.full(ahead, np.nan))
    like = line_of(longer, (1, LIKE_WEEKS))
    usual = line_of(without_spells(longer), (1, MOST_WEEKS), LIKE_WEEKS, 1)
    return np.where(np.isnan(like) | np.isnan(usual), like, usual)


def out_of_line(
    values: Days, strictness: float = 1.0, first: int | None = None
) -> OutOfLine | None:
    """Whether the last days cost more than the line that each look holds them against; the shortest span first.

    `values` are of days in a row, oldest first: zero where nothing was spent, NaN where that is not known. The look by
    the day holds the last day, three or seven against days like them: the excess is above the median of that of every
    span of as many days before by so many robust deviations, above a share of an average span, and above 1.35 times the
    largest; each × `strictness`. Then the last week, longer lines and the last weekend are looked at. A shape that
    only moved by a day is none. None with too few days. `first` is the ordinal of the first: with it what came at ends of
    months and quarters before is expected of this one, and a weekend that costs no less is Saturday and Sunday.
    """
    expected = expected_days(values, 1)
    off = values - expected[:-1]
    if len(values) < FEWEST_SPEND_DAYS or np.isnan(off[-1]):
        return None
    if first is not None:
        end_excess = month_end_excess(off, first)
        values, off = values - end_excess, off - end_excess
    day_excess = _days_out_of_line(values, expected, off, strictness)
    if day_excess is not None:
        return day_excess
    noise = noise_of(off, expected[:-1])
    weekend = None if first is None else SATURDAY - first
    over = week_out_of_line(
        values, expected[:-1], noise, _moved(expected, off, WEEK), strictness
    ) or weekend_out_of_line(values, off, noise, weekend, strictness)
    return None if over is None else _of_line(over, values, off)


def month_end_excess(off: Days, first: int) -> Days:
    """Of each of the last two weeks' days at a month's end what came there above its line before.

    The least of the last two months at the same distance from their end; of the last month of a quarter as much as the
    quarter before had, where that is more. Nothing on other days.
    """
    end_excess = np.zeros(len(off))
    for day in range(max(0, len(off) - 2 * WEEK), len(off)):
        place = _place_at_end(date.fromordinal(first + day))
        if place is None:
            continue
        months, distance = place
        had = [_at_end(off, first, months - back, distance) for back in (1, 2, 3)]
        usual = min((amount for amount in had[:2] if amount is not None), default=0.0)
        if months % QUARTER == 0 and had[2] is not None:
            usual = max(usual, had[2])
        end_excess[day] = max(0.0, usual)
    return end_excess


def _place_at_end(day: date) -> tuple[int, int] | None:
    """The month that ends about then, counted in months, and the days from its end; None: no month does."""
    months = day.year * 12 + day.month
    if day.day <= FIRST_DAYS:
        return months - 1, day.day
    left = (month_end(months) - day).days
    return (months, -left) if left < LAST_DAYS else None


def month_end(months: int) -> date:
    """The last day of a month, counted in months."""
    return date(months // 12, months % 12 + 1, 1) - timedelta(days=1)


def _at_end(off: Days, first: int, months: int, distance: int) -> float | None:
    """Return how far off it was so many days from a month's end; None where that is not known."""
    at = month_end(months).toordinal() + distance - first
    return float(off[at]) if 0 <= at < len(off) and not np.isnan(off[at]) else None


def _days_out_of_line(
    values: Days, expected: Days, off: Days, strictness: float
) -> OutOfLine | None:
    average = float(np.nanmean(values[-LATELY_DAYS - 1 : -1]))
    for length, (deviations, share) in SPANS.items():
        sums = np.convolve(off, np.ones(length), "valid")
        excess, before = float(sums[-1]), sums[:-length]
        before = before[~np.isnan(before)]
        if np.isnan(excess) or len(before) < FEWEST_BEFORE:
            continue
        usual = float(np.median(before))
        sigma = robust_deviation(before.tolist(), usual)
        sigma = max(sigma, LEAST_DEVIATION * average * length**0.5)
        # Days that cost more than others differ by more.
        span = max(average * length, float(expected[-length - 1 : -1].sum()))
        least = max(usual + deviations * sigma, share * span, RECORD * float(before.max()))
        least = max(strictness * least, _record_threshold(values, expected, length))
        if excess - _moved(expected, off, length) > least > 0:
            look_kind = SpendDetector.WEEK if length == WEEK else SpendDetector.DAY
            return OutOfLine(_days_out(off[-length:], excess), excess, look_kind)
    return None


def _record_threshold(values: Days, expected: Days, length: int) -> float:
    """Return the amount to come above for what rested: 1.35 times the largest span there ever was; 0 where it did not rest."""
    span_sums = np.convolve(values, np.ones(length), "valid")
    before = span_sums[:-length][~np.isnan(span_sums[:-length])]
    largest = float(before.max()) if len(before) else 0.0
    rests = float(expected[-length - 1 : -1].sum()) <= RESTED_SHARE * largest
    return RECORD * largest if rests else 0.0


def _moved(expected: Days, off: Days, length: int) -> float:
    """Return the part of an excess of the last days that may be a shape that came a day earlier, or a day later.

    Earlier: the next day's is expected yet. Later: it was missed before, so that the week has no excess, or none larger than came.
    """
    span = expected[-length - 1 : -1]
    earlier = float(expected[-1] - span.min())
    weeks = np.convolve(off, np.ones(WEEK), "valid")
    past_weeks = weeks[:-WEEK][~np.isnan(weeks[:-WEEK])]
    excess = float(off[-length:].sum())
    largest = RECORD * float(past_weeks.max()) if len(past_weeks) else 0.0
    may_be_late = weeks[-1] <= max(MOVED_SHARE * excess, largest)
    later = float(expected[-length - 2 : -2].max() - span[-1]) if may_be_late else 0.0
    moved = max(earlier, later)
    return moved if moved > 0 and moved >= LEAST_MOVED * excess else 0.0


def _of_line(over: OverLine, values: Days, off: Days) -> OutOfLine:
    """With its excess over the line, and the first of its days."""
    span = values[len(values) - over.ago - over.days : len(values) - over.ago]
    excess = float(span.sum()) * (1 - exp(-over.over))
    days = over.days
    if over.look is SpendDetector.WEEK:
        days = _days_out(off[-2 * WEEK :], excess)
    return OutOfLine(days, excess, over.look, over.ago, over.line)


def _days_out(off: Days, excess: float) -> int:
    """How many of the last days it is, from the first on that has half of their mean excess or more."""
    return len(off) - int(np.argmax(off >= BACK_SHARE * excess / len(off)))


def on_new_levels(values: Days, levels: Iterable[tuple[int, float]]) -> Days:
    """Return the values as if each new level (its first place, and its ratio to the one before) had been there from the beginning."""
    scaled = values.copy()
    for place, ratio in levels:
        scaled[:place] *= ratio
    return scaled


def days_that_last(excess: Sequence[float]) -> int:
    """How many days an excess lasted, of its days from the first on: up to two in a row with less than half of its mean.

    All of them where it lasts still.
    """
    for place in range(1, len(excess) - BACK_DAYS + 1):
        mean = sum(excess[:place]) / place
        if all(amount < BACK_SHARE * mean for amount in excess[place : place + BACK_DAYS]):
            return place
    return len(excess)


def strictness_after(false_alarms: int) -> float:
    """How much further out of line a series has to be that raised so many false alarms; no more than three times."""
    return min(MOST_STRICTNESS, STRICTER_BY**false_alarms)


def weights_like(before: Sequence[int], after: Sequence[int]) -> dict[int, float]:
    """How much each day before counts, so that they are as many of each weekday as the days after (ordinals).

    Of a weekday that is none of the days before, all of them count alike. Refuses ValueError without a day before.
    """
    if not before:
        raise ValueError("no day before")
    weights = dict.fromkeys(before, 0.0)
    for day in after:
        like = [earlier_day for earlier_day in before if (day - earlier_day) % WEEK == 0] or list(
            before
        )
        for like_day in like:
            weights[like_day] += 1 / len(like)
    return weights


def as_days(day_values: Iterable[tuple[int, float]], first: int, last: int) -> Days:
    """Values by ordinal as days in a row from `first` to `last`, zero where none is given."""
    values: Any = np.zeros(last - first + 1)
    for day, value in day_values:
        if first <= day <= last:
            values[day - first] = value
    days: Days = values
    return days
