"""A level that began days ago, between which and the one before it totals lie: what started, stopped or stepped may go on or not.

Days are in order, NaN where one is not known. Of misses of forecasts from before nothing is learnt of it: they are of the level before.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.fresh_steps import BEFORE_DAYS, DAYS_TO_BELIEVE, LEAST_STEP
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import Floats

LEAST_BEFORE = 14
"""Known days of the level before; of fewer nothing says what is usual."""
LEAST_RUN = 3
"""Days with demand after some without, from which on they are no rare days any more; where there was none at all, one."""
SEEN_DAYS, LONGER = 60, 1.5
"""Days before in which it is looked how long demand went on at most, and how many times as long is not of the same kind."""
MOST_START, MOST_STOP, MOST_STEP = 14, 14, 3
"""Days for which it is open whether what started, stopped or stepped goes on."""
FADING_DAYS = 7
"""The last days of a stop, over which what may come back fades to nothing."""
IDLE = 0.5
NEARLY_NOTHING = 0.05
BEYOND = 0.5
"""Of the range of the days before, by which each day of a step lies outside of it."""
SLACK = 0.05
"""Of a level: it is itself of a few days."""
WEEK = 7


@dataclass(frozen=True, slots=True)
class FreshLevel:
    """A level of so many `days`, by day, and the one `before` it; `expected` is what is believed of both.

    `shape` is what each of the next seven days has of an ordinary one, `ratios` what days were times that.
    """

    days: int
    before: float
    now: float
    expected: float
    shape: Floats
    ratios: Floats

    def totals(self, ahead: int, draw: np.random.Generator) -> Floats:
        """Of so many days ahead by scenario: some at the higher level, the others at the lower, so that the mean is what is expected.

        Levels lie a little beyond what was seen of them.
        """
        high = max(self.before, self.now) * (1 + SLACK)
        low = min(self.before, self.now) * (1 - SLACK)
        share = (self.expected - low) / (high - low)
        is_high = (np.arange(SCENARIOS) + 0.5) / SCENARIOS < share
        level = np.where(draw.permutation(is_high), high, low)[:, None]
        noise = draw.choice(self.ratios, (SCENARIOS, ahead))
        scenarios: Floats = level * np.resize(self.shape, ahead) * noise / noise.mean()
        return scenarios


def days_since_start(totals: Floats) -> int:
    """For how many known days what was mostly idle has been busy; 0 where it is not, or was nearly as long before."""
    known_totals = totals[~np.isnan(totals)]
    if not len(known_totals) or not known_totals[-1] > 0:
        return 0
    days = int(_runs(known_totals > 0)[-1])
    before = known_totals[: len(known_totals) - days][-SEEN_DAYS:]
    earlier = _runs(before > 0)
    if len(before) < LEAST_BEFORE or not _is_idle(before):
        return 0
    least = max(LEAST_RUN, math.ceil(LONGER * earlier.max() + 1)) if len(earlier) else 1
    return days if days >= least else 0


def fresh_level(totals: Floats) -> FreshLevel | None:
    """The level of the last days where it is open whether it goes on; None where it is not, or some day is below 0.

    A level of n days is believed n ÷ (n + 4) (what stopped more from day to day of its second week).
    """
    known_totals = totals[~np.isnan(totals)]
    if (known_totals < 0).any():
        return None
    started, stopped = days_since_start(known_totals), _stopped(known_totals)
    if started:
        return _level(totals, started, 1.0) if started <= MOST_START else None
    if stopped:
        return _level(totals, stopped, min(1.0, (MOST_STOP - stopped) / FADING_DAYS))
    stepped = _stepped(known_totals)
    return _level(totals, stepped, 1.0) if stepped else None


def _level(totals: Floats, days: int, back: float) -> FreshLevel:
    is_known = ~np.isnan(totals)
    known_totals, weekday = (
        totals[is_known],
        (np.arange(len(totals)) - len(totals))[is_known] % WEEK,
    )
    begins = len(known_totals) - days
    earlier = slice(max(0, begins - BEFORE_DAYS), begins)
    is_start = _is_idle(known_totals[earlier])
    # The first day of what started may have begun late.
    since = slice(begins + int(is_start and days > 1), None)
    now, before = float(known_totals[since].mean()), float(known_totals[earlier].mean())
    believed = 1 - back * DAYS_TO_BELIEVE / (days + DAYS_TO_BELIEVE)
    usual = since if is_start else earlier
    shape = _shape(known_totals[usual], weekday[usual])
    ordinary = known_totals[usual].mean() * shape[weekday[usual]]
    ratios = known_totals[usual][ordinary > 0] / ordinary[ordinary > 0]
    ratios /= ratios.mean()
    return FreshLevel(days, before, now, before + believed * (now - before), shape, ratios)


def _shape(days: Floats, weekday: Ints) -> Floats:
    """By weekday, counted from the first day ahead, what it has of an ordinary day; even where one is not known twice."""
    counts = np.bincount(weekday, minlength=WEEK)
    if counts.min() < 2:
        return np.ones(WEEK)
    means = np.bincount(weekday, days, WEEK) / counts
    shape: Floats = means / means.mean()
    return shape


def _is_idle(totals: Floats) -> bool:
    return bool((totals == 0).mean() >= IDLE)


def _runs(is_on: NDArray[np.bool_]) -> Ints:
    """Lengths of runs, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_on.astype(np.int64), [0]])))
    lengths: Ints = edges[1::2] - edges[::2]
    return lengths


def _stopped(totals: Floats) -> int:
    """For how many days nearly nothing has come, of what came every day."""
    for days in range(1, min(MOST_STOP - 1, len(totals) - LEAST_BEFORE) + 1):
        before, since = totals[: len(totals) - days][-BEFORE_DAYS:], totals[len(totals) - days :]
        if (since <= NEARLY_NOTHING * before.min()).all() and before.min() > 0:
            return days
    return 0


def _stepped(totals: Floats) -> int:
    """For how many days, of up to three, all have been beyond what four weeks before them were, on the same side."""
    for days in range(1, min(MOST_STEP, len(totals) - LEAST_BEFORE) + 1):
        before, since = totals[: len(totals) - days][-BEFORE_DAYS:], totals[len(totals) - days :]
        least, most = float(before.min()), float(before.max())
        apart = max(BEYOND * (most - least), LEAST_STEP * float(np.median(before)))
        if not _is_idle(before) and ((since > most + apart).all() or (since < least - apart).all()):
            return days
    return 0
