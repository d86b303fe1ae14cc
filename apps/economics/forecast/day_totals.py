"""Totals of days, forecast as totals: of the hours' own forecast, a smoothed level and a mean, each judged by what came.

Hours are summed to blocks of 24 that end with the history (ADIDA, Nikolopoulos and others 2011). Of a series that has
days without demand the level is that of Teunter, Syntetos and Babai 2011, which falls while nothing comes.
"""

from dataclasses import dataclass

import numpy as np

from apps.economics.forecast.candidates import Ints, smoothed_level
from apps.economics.forecast.fresh_levels import days_since_start
from apps.economics.forecast.scores import DAY, Floats

WEEK_DAYS = 7
LEAST_HOURS_OF_DAY = 18
"""Known ones, for a block to have a total: theirs, scaled to the day."""
MEAN_DAYS = 28
SHARPNESS, HALF_LIFE_DAYS, BELIEVED_AFTER = 8, 28, 5
LEAST_FOR_HABIT = 14
INTERMITTENT = 0.5
"""Of days without demand, from which on a level is of how often and how much."""
SMOOTHING_OF_DAYS = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
TSB_SIZE, TSB_CHANCE = 0.2, 0.1


@dataclass(frozen=True, slots=True)
class DayTotals:
    """Totals of days ahead as they would have been forecast at each origin, a day apart, and what came.

    `expected` and `came` are by origin and day ahead; NaN where a day is not known, or lies ahead. `blocks` are the
    hours of the history by day, `first` is which of them begins at the first origin.
    """

    blocks: Floats
    totals: Floats
    first: int
    expected: Floats
    came: Floats

    @property
    def errors(self) -> Floats:
        """The errors of the forecast: what came less what was expected."""
        return self.came - self.expected


def has_known_day(values: Floats, origin: int) -> bool:
    """Whether LEAST_HOURS_OF_DAY hours of some day before `origin` are known; else no total of a day is."""
    blocks = values[origin % DAY : origin].reshape(-1, DAY)
    return bool(((~np.isnan(blocks)).sum(axis=1) >= LEAST_HOURS_OF_DAY).any())


def day_totals(values: Floats, origin: int, hourly: Floats) -> DayTotals:
    """`origin` is the hour of the last forecast, `hourly` the sums of the hours' own forecasts by origin and day ahead.

    Origins are a day apart. No expectation depends on a value at its origin or after; some day before the first is known.
    """
    count, days = hourly.shape
    blocks = values[origin % DAY : len(values) - (len(values) - origin) % DAY].reshape(-1, DAY)
    known_hours = (~np.isnan(blocks)).sum(axis=1)
    sums = np.nansum(blocks, axis=1) / np.maximum(known_hours, 1) * DAY
    totals = np.where(known_hours >= LEAST_HOURS_OF_DAY, sums, np.nan)
    last = origin // DAY
    first = last - count + 1
    places = first + np.arange(count)[:, None] + np.arange(days)
    actual = np.where(places < len(totals), totals[np.minimum(places, len(totals) - 1)], np.nan)
    tried = np.stack([hourly, *_by_level_and_shape(totals, first + np.arange(count), days)])
    if is_intermittent(totals[:last]):
        # A job that runs now is none that runs all week: hours say something of the next day alone.
        tried[0, :, 1:] = tried[1, :, 1:]
    return DayTotals(blocks[:last], totals[:last], first, _mixed(tried, actual), actual)


def tsb_levels(
    values: Floats, chance: float, size: float, rates: tuple[float, float] = (TSB_SIZE, TSB_CHANCE)
) -> Floats:
    """Return what a step is expected to have after each of `values`: how often there is any, times how much it is then.

    `rates` are α of the size and β of the chance; `chance` and `size` those before the first. A NaN changes nothing.
    """
    levels = np.empty(len(values))
    for place, value in enumerate(values):
        if value == value:  # NaN is not equal to itself
            chance += rates[1] * (float(value > 0) - chance)
            if value > 0:
                size += rates[0] * (value - size)
        levels[place] = chance * size
    return levels


def is_intermittent(totals: Floats) -> bool:
    """Whether half of the known days or more have no demand, and some have; not of what started and has gone on since."""
    known_totals = totals[~np.isnan(totals)]
    demand = known_totals > 0
    is_sparse = demand.any() and demand.mean() <= 1 - INTERMITTENT and (known_totals >= 0).all()
    return bool(is_sparse) and not days_since_start(totals)


def with_means(totals: Floats, expected: Floats, least: float) -> Floats:
    """Scenarios whose mean of each day is what is expected, whatever was cut off at the least: moved, or stretched where that is 0."""
    means = totals.mean(axis=0)
    if least < 0:
        moved: Floats = totals + expected - means
        return moved
    stretch = np.where(means > 0, np.maximum(expected, 0.0) / np.where(means > 0, means, 1), 1.0)
    stretched: Floats = totals * stretch
    return stretched


def without_single_ones(values: Floats) -> Floats:
    """None beyond the second least and the second most of its column: what came once is no habit.

    As they are where fewer than LEAST_FOR_HABIT are known, or some column has one that is not.
    """
    count = int((~np.isnan(values)).sum(axis=0).min())
    if count < LEAST_FOR_HABIT:
        return values
    # What is not known is last.
    ordered = np.sort(values, axis=0)
    clipped: Floats = np.clip(values, ordered[1], ordered[count - 2])
    return clipped


def _by_level_and_shape(totals: Floats, origins: Ints, days: int) -> tuple[Floats, Floats]:
    """By origin and day ahead a smoothed level and the mean of four weeks, each times the shape of the week."""
    known_days = np.flatnonzero(~np.isnan(totals[: int(origins[-1])]))
    begins = int(known_days[0])
    levels = _levels(totals[begins:], np.maximum(origins - begins, 1))
    smoothed, flat = np.empty((len(origins), days)), np.empty((len(origins), days))
    ahead = np.arange(days) % WEEK_DAYS
    is_rare = is_intermittent(totals[: int(origins[-1])])
    for row, origin in enumerate(origins):
        recent = totals[max(begins, origin - MEAN_DAYS) : max(origin, begins + 1)]
        if not is_rare:
            recent = without_single_ones(recent)
        mean = float(np.nanmean(recent)) if not np.isnan(recent).all() else levels[row]
        shape = _shape_of_weekdays(recent, mean)[ahead]
        smoothed[row], flat[row] = levels[row] * shape, mean * shape
    return smoothed, flat


def _levels(totals: Floats, origins: Ints) -> Floats:
    """Of each origin what was known before it says of a day."""
    past_totals = totals[: int(origins[-1])]
    if not is_intermittent(past_totals):
        return smoothed_level(totals, origins, SMOOTHING_OF_DAYS)
    first = float(past_totals[past_totals > 0][0])
    levels: Floats = tsb_levels(totals, float(totals[0] > 0), first)[origins - 1]
    return levels


def _shape_of_weekdays(recent: Floats, mean: float) -> Floats:
    """Of each weekday from the end of up to four weeks on its share of an ordinary day; 1 where there is no whole week."""
    weeks = len(recent) // WEEK_DAYS
    if not weeks or not mean > 0:
        return np.ones(WEEK_DAYS)
    block = recent[len(recent) - weeks * WEEK_DAYS :].reshape(weeks, WEEK_DAYS)
    counts = (~np.isnan(block)).sum(axis=0)
    of_day = np.where(counts > 0, np.nansum(block, axis=0) / np.maximum(counts, 1), mean)
    shape = np.maximum(of_day, 0.0) / mean
    plain: Floats = shape / shape.mean() if shape.mean() > 0 else np.ones(WEEK_DAYS)
    return plain


def _mixed(tried: Floats, actual: Floats) -> Floats:
    """The mean of what was tried, each weighed by its errors before: the next day by days, later ones by whole weeks."""
    mixed = np.empty(actual.shape)
    for begin, end, length in ((0, 1, 1), (1, actual.shape[1], min(WEEK_DAYS, actual.shape[1]))):
        missed = np.abs((tried - actual)[:, :, :length].sum(axis=2))
        for origin in range(len(actual)):
            weights = weights_of_misses(missed[:, : max(0, origin - length + 1)])
            mixed[origin, begin:end] = weights @ tried[:, origin, begin:end]
    return mixed


def weights_of_misses(missed: Floats, apart: int = 1) -> Floats:
    """Of each method its share, of absolute errors by method and origin, so many days apart, the newest last; NaN: not known.

    They are trusted more the more there are, and count half after four weeks.
    """
    ages = apart * np.arange(missed.shape[1])[::-1]
    counted = np.where(np.isnan(missed[0]), 0.0, 0.5 ** (ages / HALF_LIFE_DAYS))
    number = (counted > 0).sum()
    if not number:
        return np.full(len(missed), 1 / len(missed))
    losses = np.where(np.isnan(missed), 0.0, missed) @ counted
    relative = losses / losses.mean() if losses.mean() > 0 else np.ones(len(missed))
    believed = number / (number + BELIEVED_AFTER)
    weights = (believed * relative + 1 - believed + 1e-3) ** -SHARPNESS
    shares: Floats = weights / weights.sum()
    return shares
