"""Simple forecasts of an hourly figure, each at many origins at once.

An origin is the number of the hour at which a forecast is made: it knows the hours before, never its own. A lead
is how many hours after its origin an hour lies, from 0. Every candidate answers an array of a row for each
origin and a column for each lead, in the unit of the values.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.names import CANDIDATES, NAIVE
from apps.economics.forecast.scores import DAY, Floats

Ints = NDArray[np.int64]
WEEK = 7 * DAY
LEAST_ORIGIN = DAY
SMOOTHING = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])
LAST_HOURS = 3


def candidates(values: Floats, origins: Ints, leads: Ints) -> Mapping[str, Floats]:
    """All of them by name. The first value is observed; origins are LEAST_ORIGIN or later.

    Hours not observed are NaN: what is asked of such an hour is taken from the same hour of the period before.
    """
    last, daily = _forward_filled(values), _seasonally_filled(values, DAY)
    weekly = _seasonally_filled(values, WEEK)
    naive = _for_all_leads(last[origins - 1], leads)
    yesterday = _fill_missing(_seasons_back(daily, origins, leads, DAY, 1), naive)
    day_shape = _mean_of_seasons(daily, origins, leads, DAY, 7, otherwise=yesterday)
    week_shape = _mean_of_seasons(weekly, origins, leads, WEEK, 4, otherwise=day_shape)
    mean_24 = _trailing_mean(values, origins, otherwise=last)
    above_day, above_week = _levels_above_shapes(daily, weekly, last, origins, mean_24)
    return {
        NAIVE: naive,
        "seasonal_naive_24": yesterday,
        "seasonal_naive_168": _fill_missing(
            _seasons_back(weekly, origins, leads, WEEK, 1), yesterday
        ),
        "hour_of_day_mean_7": day_shape,
        "ses": _for_all_leads(smoothed_level(values, origins), leads),
        "median_24": _for_all_leads(_trailing_median(last, origins, DAY), leads),
        "median_168": _for_all_leads(_trailing_median(last, origins, WEEK), leads),
        "hour_of_week_mean_4": week_shape,
        "day_shape_at_last_level": day_shape + above_day[0][:, None],
        "day_shape_at_level_of_day": day_shape + above_day[1][:, None],
        "week_shape_at_level_of_day": week_shape + above_week[:, None],
    }


def stacked_candidates(values: Floats, origins: Ints, leads: Ints) -> Floats:
    """Return the candidates' forecasts as one array: by origin, lead and candidate, in the order of CANDIDATES."""
    pool = candidates(values, origins, leads)
    return np.stack([pool[name] for name in CANDIDATES], axis=2)


def _for_all_leads(levels: Floats, leads: Ints) -> Floats:
    return np.repeat(levels[:, None], len(leads), axis=1)


def _forward_filled(values: Floats) -> Floats:
    """Each hour's last observed value up to and with it."""
    places = np.where(np.isnan(values), 0, np.arange(len(values)))
    filled: Floats = values[np.maximum.accumulate(places)]
    return filled


def _seasonally_filled(values: Floats, season: int) -> Floats:
    """Hours not observed as the same hour of the season before, itself filled so; NaN where there is none."""
    filled = values.copy()
    for begin in range(season, len(filled), season):
        block = filled[begin : begin + season]
        before = filled[begin - season : begin - season + len(block)]
        np.copyto(block, before, where=np.isnan(block))
    return filled


def _seasons_back(filled: Floats, origins: Ints, leads: Ints, season: int, seasons: int) -> Floats:
    """The hour of the same phase in the season so many before the origin; NaN before the first hour."""
    places = origins[:, None] - season * seasons + leads % season
    return np.where(places >= 0, filled[np.maximum(places, 0)], np.nan)


def _mean_of_seasons(
    filled: Floats, origins: Ints, leads: Ints, season: int, seasons: int, *, otherwise: Floats
) -> Floats:
    """The mean of the same phase in the last seasons, of those that there are."""
    sums, counts = np.zeros(otherwise.shape), np.zeros(otherwise.shape)
    for back in range(1, seasons + 1):
        past_values = _seasons_back(filled, origins, leads, season, back)
        is_known = ~np.isnan(past_values)
        sums += np.where(is_known, past_values, 0)
        counts += is_known
    return np.where(counts > 0, sums / np.maximum(counts, 1), otherwise)


def _fill_missing(values: Floats, otherwise: Floats) -> Floats:
    return np.where(np.isnan(values), otherwise, values)


def _trailing_median(filled: Floats, origins: Ints, hours: int) -> Floats:
    """The median of the last `hours`, or of as many as there are."""
    padded = np.concatenate([np.full(hours, np.nan), filled])
    windows = np.lib.stride_tricks.sliding_window_view(padded, hours)[origins]
    medians: Floats = np.nanmedian(windows, axis=1)
    return medians


def _trailing_mean(values: Floats, origins: Ints, *, otherwise: Floats) -> Floats:
    """The mean of the hours observed in the last day; the last value where none was."""
    observed = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(observed, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(observed)])
    begins = np.maximum(origins - DAY, 0)
    count = counts[origins] - counts[begins]
    mean = (sums[origins] - sums[begins]) / np.maximum(count, 1)
    return np.where(count > 0, mean, otherwise[origins - 1])


def _levels_above_shapes(
    daily: Floats, weekly: Floats, last: Floats, origins: Ints, mean_24: Floats
) -> tuple[tuple[Floats, Floats], Floats]:
    """How far the level lies above the day's shape, by the last hours and by the last day, and above the week's."""
    hours = np.arange(DAY)
    level = _for_all_leads(mean_24, hours)
    day_shape = _mean_of_seasons(daily, origins, hours, DAY, 7, otherwise=level)
    back = np.arange(1, LAST_HOURS + 1)
    above_last = (last[origins[:, None] - back] - day_shape[:, -back]).mean(axis=1)
    # The last day's own hours, as the weeks before had them.
    day_of_week = _mean_of_seasons(weekly, origins, hours + WEEK - DAY, WEEK, 4, otherwise=level)
    return (above_last, mean_24 - day_shape.mean(axis=1)), mean_24 - day_of_week.mean(axis=1)


def smoothed_level(values: Floats, origins: Ints, smoothing: Floats = SMOOTHING) -> Floats:
    """Simple exponential smoothing; at each origin by the constant whose one-hour errors were least till then."""
    levels = np.empty((len(values) + 1, len(smoothing)))
    losses = np.zeros((len(values) + 1, len(smoothing)))
    level, loss = np.full(len(smoothing), values[0]), np.zeros(len(smoothing))
    for hour, value in enumerate(values):
        if value == value:  # NaN is not equal to itself: nothing was observed
            error = value - level
            loss = loss + error * error
            level = level + smoothing * error
        levels[hour + 1], losses[hour + 1] = level, loss
    best: Floats = levels[origins, losses[origins].argmin(axis=1)]
    return best
