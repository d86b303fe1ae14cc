"""Months of days that often have no demand: how often and how much from the whole window, drawn as whole weeks that were.

A week of such a history says next to nothing of a month: it has none, or five times the usual. So the level is a mean of
what TSB and windows of a week to thirteen say, each by how far it missed the four weeks after it before (as day_totals has it).
Values are by day, NaN where a day is not known; days seven apart are the same weekday.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.daily_moves import means_between, weeks_to_the_end
from apps.economics.forecast.daily_swings import first_day_of_nothing
from apps.economics.forecast.day_totals import (
    TSB_CHANCE,
    TSB_SIZE,
    tsb_levels,
    weights_of_misses,
)
from apps.economics.forecast.names import SCENARIOS
from apps.economics.forecast.scores import Floats

WEEK = 7
RECENT_WEEKS, SHARE_OF_WEEKS = 8, 0.25
WINDOW_WEEKS = 13
LEAST_SURPRISE = 0.05
"""Of days, that are not as their weekday mostly is, from which on no shape of the week says when there is demand."""
SEEN_NEVER = 5.0
"""Days with demand on other weekdays, for one without any to have none."""
LEVEL_DAYS = (28, 56, 91)
TARGET_DAYS = 28
FAST_CHANCE = 0.3
MOST_BLOCK_WEEKS, BLOCKS = 4, 4
LEAST_LEVEL = 1e-9
BUSY = 0.5
DOUBT, LEAST_DOUBT = 1.5, 0.2
"""Means of drawn weeks lie as far apart as the mean that was seen lies from the true one; the next may also be another."""


@dataclass(frozen=True, slots=True)
class RareDays:
    """Totals by scenario and day ahead, and of each day ahead what a busy one has: 0 where none is to be expected."""

    totals: Floats
    busy: Floats


def comes_rarely(values: Floats) -> bool:
    """Whether some of the last thirteen weeks' days have demand, others none, and their weekday does not say which."""
    shares = _shares_of_weekdays(weeks_to_the_end(values, WINDOW_WEEKS))
    if (values[~np.isnan(values)] < 0).any() or np.isnan(shares).all():
        return False
    surprise = float(np.nanmean(np.minimum(shares, 1 - shares)))
    is_sparse = float(np.nanmean(shares)) <= BUSY
    return surprise >= LEAST_SURPRISE or (is_sparse and surprise > 0)


def rare_days(values: Floats, horizon: int, draw: np.random.Generator) -> RareDays:
    """Scenarios of the days after `values`, which come rarely: blocks of weeks, with demand as often as the level asks for.

    A scenario's level is as far from the others' as means of as many weeks drawn at random are: few weeks say little.
    """
    weeks = np.nan_to_num(weeks_to_the_end(values, WINDOW_WEEKS))
    drawn = _drawn_blocks(weeks, horizon, draw)
    mean = weeks.mean()
    means = weeks.mean(axis=1)[draw.integers(0, len(weeks), (SCENARIOS, len(weeks)))].mean(axis=1)
    apart = (means - means.mean()) / mean
    doubt = np.maximum(1 + DOUBT * apart, LEAST_DOUBT)
    is_on = np.resize(_is_on(weeks), horizon)
    level = rare_level(values)
    sizes = weeks[weeks > 0]
    totals = _as_often(drawn, level * doubt, sizes, is_on, draw)
    recent = weeks_to_the_end(values, RECENT_WEEKS)
    had = (np.nan_to_num(recent) > 0).any(axis=1)
    is_seen = had.mean() >= SHARE_OF_WEEKS
    busy = np.where(is_on & is_seen, float(np.median(sizes)), 0.0)
    return RareDays(totals, busy)


def rare_level(values: Floats) -> float:
    """Return what a day is expected to have on average."""
    origins = np.arange(len(values) % WEEK + WEEK, len(values) + 1, WEEK)
    tried = _tried_levels(values, origins)
    actual = means_between(values, origins, np.minimum(origins + TARGET_DAYS, len(values)))
    missed = np.abs(tried - actual)
    if first_day_of_nothing(values):
        return float(tried[:, -1].min())
    weights = weights_of_misses(missed[:, -WINDOW_WEEKS - 1 : -1], WEEK)
    return float(weights @ tried[:, -1])


def _tried_levels(values: Floats, origins: Ints) -> Floats:
    """By method and origin: TSB slow and fast, and means of windows; days not known count in none."""
    busy_days = np.flatnonzero(values > 0)
    first = float(values[busy_days[0]]) if len(busy_days) else 0.0
    start = float(values[: origins[0]].any())
    rows = [
        tsb_levels(values, start, first, (TSB_SIZE, chance))[origins - 1]
        for chance in (TSB_CHANCE, FAST_CHANCE)
    ]
    for days in LEVEL_DAYS:
        mean = means_between(values, np.maximum(origins - days, 0), origins)
        rows.append(np.where(np.isnan(mean), rows[0], mean))
    return np.stack(rows)


def _shares_of_weekdays(weeks: Floats) -> Floats:
    """Of each weekday the share of known days with demand; NaN where none is known."""
    known_days = (~np.isnan(weeks)).sum(axis=0)
    shares = (np.nan_to_num(weeks) > 0).sum(axis=0) / np.maximum(known_days, 1)
    return np.where(known_days > 0, shares, np.nan)


def _is_on(weeks: Floats) -> NDArray[np.bool_]:
    """Weekdays on which there may be demand: all but those that had none where others had five days of it."""
    with_demand = (weeks > 0).sum(axis=0)
    is_on: NDArray[np.bool_] = (with_demand > 0) | (with_demand.mean() < SEEN_NEVER)
    return is_on


def _drawn_blocks(weeks: Floats, horizon: int, draw: np.random.Generator) -> Floats:
    """Blocks of weeks one after the other, by scenario and day: what comes for a week in four keeps its gaps."""
    length = max(1, min(MOST_BLOCK_WEEKS, len(weeks) // BLOCKS))
    count = -(-horizon // (WEEK * length))
    starts = draw.integers(0, len(weeks) - length + 1, (SCENARIOS, count))
    places = (starts[:, :, None] + np.arange(length)).reshape(SCENARIOS, -1)
    drawn: Floats = weeks[places].reshape(SCENARIOS, -1)[:, :horizon]
    return drawn


def _as_often(
    drawn: Floats,
    levels: Floats,
    sizes: Floats,
    is_on: NDArray[np.bool_],
    draw: np.random.Generator,
) -> Floats:
    """Days with demand left out, or others given some, until each scenario's mean is its level; sizes stay what they were."""
    mean = max(float(drawn.mean()), LEAST_LEVEL)
    often = (levels / mean)[:, None]
    thinned = np.where(draw.random(drawn.shape) < np.minimum(often, 1.0), drawn, 0.0)
    is_free = (drawn == 0) & is_on
    room = max(float(is_free.mean()) * float(sizes.mean()), LEAST_LEVEL)
    chance = np.maximum(often - 1, 0.0) * mean / room
    added = draw.choice(sizes, drawn.shape)
    filled = np.where(is_free & (draw.random(drawn.shape) < chance), added, thinned)
    total = float(filled.mean())
    scaled: Floats = filled * (float(levels.mean()) / total if total > 0 else 1.0)
    return scaled
