"""Spend looked at day by day: which of the last days are further out of line than anything before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.economics.changes import WEEK
from apps.economics.step_times import MAD_TO_SIGMA

FEWEST_SPEND_DAYS = 42
"""Six weeks, so that what days differ by is known of three of them."""
LIKE_WEEKS, FEWEST_LIKE_WEEKS = 6, 3
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

Days = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OutOfLine:
    """The last `days` cost `excess` more than days like them."""

    days: int
    excess: float


def expected_days(values: Days) -> Days:
    """Of each day the median of up to six of the same weekday before it; NaN of fewer than three."""
    like = np.full((LIKE_WEEKS, len(values)), np.nan)
    for week in range(1, LIKE_WEEKS + 1):
        like[week - 1, WEEK * week :] = values[: max(0, len(values) - WEEK * week)]
    expected: Days = np.full(len(values), np.nan)
    enough = (~np.isnan(like)).sum(axis=0) >= FEWEST_LIKE_WEEKS
    expected[enough] = np.nanmedian(like[:, enough], axis=0)
    return expected


def out_of_line(values: Days, strictness: float = 1.0) -> OutOfLine | None:
    """Whether the last day, three or seven days cost more than days like them, beyond anything before; the shortest span.

    `values` are of days in a row, oldest first: zero where nothing was spent, NaN where that is not known. An excess is
    held against the excess of every span of as many days before: it is above their median by so many robust deviations,
    above a share of an average span, and above 1.35 times the largest; each × `strictness`. None with too few days.
    """
    off = values - expected_days(values)
    if len(values) < FEWEST_SPEND_DAYS or np.isnan(off[-1]):
        return None
    average = float(np.nanmean(values[-LATELY_DAYS - 1 : -1]))
    for length, (deviations, share) in SPANS.items():
        sums = np.convolve(off, np.ones(length), "valid")
        excess, before = float(sums[-1]), sums[:-length]
        before = before[~np.isnan(before)]
        if np.isnan(excess) or len(before) < FEWEST_BEFORE:
            continue
        usual = float(np.median(before))
        sigma = MAD_TO_SIGMA * float(np.median(np.abs(before - usual)))
        sigma = max(sigma, LEAST_DEVIATION * average * length**0.5)
        least = max(
            usual + deviations * sigma, share * average * length, RECORD * float(before.max())
        )
        if excess > strictness * least > 0:
            return OutOfLine(_days_out(off[-length:], excess), excess)
    return None


def _days_out(off: Days, excess: float) -> int:
    """How many of the last days it is, from the first on that has half of their mean excess or more."""
    return len(off) - int(np.argmax(off >= BACK_SHARE * excess / len(off)))


def on_new_levels(values: Days, levels: Iterable[tuple[int, float]]) -> Days:
    """The same as if each new level (its first place, and its ratio to the one before) had been there from the beginning."""
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
        if all(each < BACK_SHARE * mean for each in excess[place : place + BACK_DAYS]):
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
        like = [each for each in before if (day - each) % WEEK == 0] or list(before)
        for each in like:
            weights[each] += 1 / len(like)
    return weights


def as_days(known: Iterable[tuple[int, float]], first: int, last: int) -> Days:
    """Values by ordinal as days in a row from `first` to `last`, zero where none is given."""
    values: Any = np.zeros(last - first + 1)
    for day, value in known:
        if first <= day <= last:
            values[day - first] = value
    days: Days = values
    return days
