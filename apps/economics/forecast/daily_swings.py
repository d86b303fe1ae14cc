"""Levels that come and go, and single days that stand alone: neither is growth, and neither is a level that stays.

A level that leaps up and down again (a burst a week of each month) is drawn from the weeks that were: growth that is added up
has a mean without a bound. Levels are by week, values by day; NaN where one is not known.
"""

import numpy as np

from apps.economics.forecast.daily_moves import BLOCK_WEEKS, even_blocks
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import Floats

LEAP = float(np.log(3.0))
"""Of the logarithm, within two weeks."""
SWING_WEEKS, LEAST_WEEKS = 26, 4
LONGER, LONGER_WEEKS = 1.5, 1.0
"""A level that has lasted so many times as long as it ever did, and so much more, is one that stays."""
DOUBT, LEAST_DOUBT = 1.5, 0.2
"""As of days that come rarely."""
NOTHING = 0.05
"""Of the most of a day, or of the middle week: so much is next to nothing."""
PAUSE_DAYS, LEAST_BUSY_DAYS = 14, 28
SIDE_DAYS, LEAST_BESIDE = 7, 6


def without_lone_days(values: Floats) -> Floats:
    """Each day that lies further outside those of the week before and after it than they are apart, brought to the nearest.

    The last known day may begin a level, unless it is a credit: below 0 where nothing beside it is.
    """
    known_days = np.flatnonzero(~np.isnan(values))
    padded = np.concatenate([np.full(SIDE_DAYS, np.nan), values, np.full(SIDE_DAYS, np.nan)])
    neighbours = np.lib.stride_tricks.sliding_window_view(padded, 2 * SIDE_DAYS + 1).copy()
    neighbours[:, SIDE_DAYS] = np.nan
    is_judged = (~np.isnan(neighbours)).sum(axis=1) >= LEAST_BESIDE
    is_judged &= ~np.isnan(values)
    days, last = np.flatnonzero(is_judged), known_days[-1] if len(known_days) else -1
    alone, low = values[days], np.nanmin(neighbours[days], axis=1, initial=np.inf)
    high = np.nanmax(neighbours[days], axis=1, initial=-np.inf)
    is_credit = (alone < 0) & (low >= 0)
    beyond = np.maximum(low - alone, alone - high)
    is_alone = (beyond > high - low) & (is_credit | (days != last))
    clipped = values.copy()
    clipped[days[is_alone]] = np.clip(alone, low, high)[is_alone]
    return clipped


def keep_recurring_days(values: Floats, ordinary: Floats, days: int) -> Floats:
    """The values, but as `ordinary` has them (without_lone_days) where of the last `days` just one stood alone: once is no habit."""
    alone = ~np.isnan(values) & (values != ordinary)
    return values if alone[-days:].sum() > 1 else ordinary


def first_day_of_nothing(values: Floats) -> int:
    """The day after the last that had more than next to nothing, where what was is over; else 0.

    That is after four busy weeks together, a pause of over two weeks and of over twice the longest that ended.
    """
    busy = np.flatnonzero(values > NOTHING * np.nanmax(values))
    if len(busy) < LEAST_BUSY_DAYS:
        return 0
    begins = int(busy[-1]) + 1
    longest = int(np.diff(busy).max()) - 1
    return begins if len(values) - begins > max(PAUSE_DAYS, 2 * longest) else 0


def first_week_of_nothing(levels: Floats) -> int:
    """The first of the last weeks that all have next to nothing of the middle one before them; 0 where the last has more."""
    known_weeks = np.flatnonzero(~np.isnan(levels))
    begins = len(levels)
    for week in known_weeks[:0:-1]:
        before = levels[known_weeks[known_weeks < week]]
        before = before[before > 0]
        if not len(before) or levels[week] > NOTHING * np.median(before):
            break
        begins = int(week)
    return begins if begins < len(levels) else 0


def lasting_weeks(levels: Floats) -> float | None:
    """How many weeks a level lasts of a history that leaps up and down again; None of one that does not, or no longer does."""
    recent_levels = levels[-SWING_WEEKS:]
    recent_levels = recent_levels[~np.isnan(recent_levels)]
    if len(recent_levels) < LEAST_WEEKS or not (recent_levels > 0).any():
        return None
    logs = np.log(np.maximum(recent_levels, NOTHING * np.median(recent_levels[recent_levels > 0])))
    begins, signs = [0], [0]
    for week in range(1, len(logs)):
        steps = logs[week] - logs[max(0, week - 2) : week]
        step = float(steps[np.argmax(np.abs(steps))])
        if abs(step) > LEAP and np.sign(step) != signs[-1]:
            begins.append(week)
            signs.append(int(np.sign(step)))
    runs = np.diff([*begins, len(logs)])
    alike = runs[-3::-2]
    if not len(alike) or runs[-1] > LONGER * alike.max() + LONGER_WEEKS:
        return None
    return len(logs) / len(runs)


def swinging_levels(
    now: Floats, levels: Floats, lasting: float, draw: np.random.Generator
) -> Floats:
    """By scenario and day ahead: the level of `now`, which lasts so many weeks on the mean, then weeks that were, in blocks."""
    horizon = now.shape[1]
    weeks = -(-horizon // 7)
    recent_levels = levels[-SWING_WEEKS:]
    recent_levels = recent_levels[~np.isnan(recent_levels)]
    drawn = recent_levels[even_blocks(len(recent_levels), BLOCK_WEEKS, weeks, draw)]
    # So few weeks may have been more, or fewer, bursts than come.
    means = recent_levels[
        draw.integers(0, len(recent_levels), (SCENARIOS, len(recent_levels)))
    ].mean(axis=1)
    doubt = np.maximum(1 + DOUBT * (means / means.mean() - 1), LEAST_DOUBT)
    drawn = drawn * (doubt / doubt.mean())[:, None]
    left = (np.arange(SCENARIOS) + 0.5) / SCENARIOS
    ends = draw.permutation(np.log(left) / np.log(1 - 1 / max(lasting, 1 + 1e-9)))
    is_now = np.arange(horizon) < 7 * ends[:, None]
    levels_ahead: Floats = np.where(is_now, now, np.repeat(drawn, 7, axis=1)[:, :horizon])
    return levels_ahead
