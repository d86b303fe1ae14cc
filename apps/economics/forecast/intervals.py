"""Intervals from errors made before, kept at their nominal coverage as errors come in."""

from dataclasses import dataclass

import numpy as np

from apps.economics.forecast.candidates import Ints
from apps.economics.forecast.mixing import LeadGroups
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.forecast.scores import DAY, Floats, adapted_miss_rate, conformal_rank

LEVELS = np.array(QUANTILE_LEVELS)
NOMINAL_MISS_RATES = np.array([0.2, 0.4, 0.6, 0.8])
"""Of the intervals from level 0.1 to 0.9, from 0.2 to 0.8 and so on inwards."""

DAYS_OF_ERRORS = 28
WEEK = 7 * DAY
TRIAL_HOURS = 6
"""Between two trials."""
SHRUNK_DAYS, SHRUNK_WEEKS = 100.0, 8.0
"""An hour of the day counts as that many errors of all hours, one of the week as that many weeks of its hour of the day."""
LEAST_SCALE = 0.1
FEW_DAYS = 5.0
"""Of n days of forecasts n ÷ (n + 5) of the miss rate is asked for: few errors have not yet seen the worst."""
WEEKS_OF_HOUR, SHARE_OF_WEEKS, MIDDLE = 8, 0.25, 0.5


@dataclass(frozen=True, slots=True)
class ForecastTrials:
    """Forecasts as they would have been made at `origins`, all through the history.

    `errors` (observed less forecast) is by origin and judged lead of `groups`; NaN where nothing was observed.
    """

    origins: Ints
    errors: Floats
    groups: LeadGroups

    def scales(self, origin: int) -> Floats:
        """How large errors of each hour of the week were, of four weeks as known at `origin`: mean absolute ones.

        Of few weeks an hour of the week says little: it is shrunk to its hour of the day, and that to all hours.
        """
        begin, end = np.searchsorted(self.origins, [origin - DAYS_OF_ERRORS * DAY, origin])
        rows = np.arange(begin, end)
        hours = self.origins[rows][:, None] + self.groups.judged_leads
        errors = np.where(hours < origin, np.abs(self.errors[rows]), np.nan)
        is_known = ~np.isnan(errors)
        place = (hours % WEEK)[is_known]
        sums = np.bincount(place, errors[is_known], WEEK)
        counts = np.bincount(place, minlength=WEEK).astype(np.float64)
        overall = sums.sum() / max(counts.sum(), 1.0)
        days = [amounts.reshape(-1, DAY).sum(axis=0) for amounts in (sums, counts)]
        of_day = (days[0] + SHRUNK_DAYS * overall) / (days[1] + SHRUNK_DAYS)
        if not overall > 0:
            return np.ones(WEEK)
        weeks = counts / max(counts.mean(), 1.0) * (end - begin) * TRIAL_HOURS / WEEK
        hourly_means = sums / np.maximum(counts, 1)
        of_week = weeks * hourly_means + SHRUNK_WEEKS * np.tile(of_day, WEEK // DAY)
        scales: Floats = np.maximum(of_week / (weeks + SHRUNK_WEEKS), LEAST_SCALE * overall)
        return scales

    def sorted_errors(self, origin: int, scales: Floats) -> list[Floats]:
        """For each group of leads the errors of four weeks that were known at `origin`, over their hour's scale, sorted."""
        of_lead = [
            self._errors_at(origin, column, scales) for column in range(self.errors.shape[1])
        ]
        group_of = self.groups.group_of_lead[self.groups.judged_leads]
        return [
            np.sort(
                np.concatenate([of_lead[column] for column in np.flatnonzero(group_of == group)])
            )
            for group in range(len(self.groups.bounds))
        ]

    def days_followed(self, origin: int) -> Floats:
        """By day ahead, from how many days forecasts are that had been followed for that day at `origin`; 28 at most."""
        days = np.arange(-(-self.groups.horizon // DAY))
        since = (origin - int(self.origins[0])) / DAY - days
        return np.clip(since, 0.0, float(DAYS_OF_ERRORS))

    def _errors_at(self, origin: int, column: int, scales: Floats) -> Floats:
        lead = int(self.groups.judged_leads[column])
        newest = origin - lead
        begin, end = np.searchsorted(self.origins, [newest - DAYS_OF_ERRORS * DAY, newest])
        errors = self.errors[begin:end, column]
        is_known = ~np.isnan(errors)
        scaled_errors: Floats = (
            errors[is_known] / scales[(self.origins[begin:end][is_known] + lead) % WEEK]
        )
        return scaled_errors


def quantile_offsets(trials: ForecastTrials, origins: Ints) -> Floats:
    """Return the offsets added to the forecast for each of LEVELS: by origin, level and hour ahead.

    `origins` are a day apart and among those of `trials`. From a day of trials on, each day's intervals are held
    against what came, as far as it had come by the next (adaptive conformal inference, Gibbs and Candès 2021), one
    rate for each day ahead. They nest, and hold the forecast itself. NaN where too few errors were known.
    """
    groups = trials.groups
    days = -(-groups.horizon // DAY)
    rates = np.tile(NOMINAL_MISS_RATES, (days, 1))
    day_of_group = np.array([begin // DAY for begin, _ in groups.bounds])
    offsets = np.empty((len(origins), len(LEVELS), groups.horizon))
    misses: dict[int, Floats] = {}
    leads = np.arange(groups.horizon)
    first = int(origins[0]) - (int(origins[0]) - int(trials.origins[0])) // DAY * DAY
    for origin in range(first, int(origins[-1]) + 1, DAY):
        for ahead in range(days):
            past = misses.get(origin - (ahead + 1) * DAY)
            if past is not None:
                rates[ahead] = adapted_miss_rate(rates[ahead], past[ahead], NOMINAL_MISS_RATES)
        scales = trials.scales(origin)
        followed = trials.days_followed(origin)[day_of_group]
        believed = followed / (followed + FEW_DAYS)
        of_groups = _offsets_of_groups(
            trials.sorted_errors(origin, scales), rates[day_of_group] * believed[:, None]
        )
        of_leads = of_groups[:, groups.group_of_lead] * scales[(origin + leads) % WEEK]
        misses[origin] = _miss_rates(trials, origin, of_leads[:, groups.judged_leads])
        if origin >= origins[0]:
            offsets[(origin - int(origins[0])) // DAY] = of_leads
    return offsets


def reaching_demand(values: Floats, origins: Ints, quantiles: Floats) -> Floats:
    """The quantiles, those at nothing raised to what the hour of the week had, where a quarter of its weeks had demand.

    Of the last eight weeks before each origin; quantiles are by origin, level and hour ahead. Where an interval ends at
    0 although demand comes one week in four, errors of other hours stood for those of this one.
    """
    reached = quantiles.copy()
    leads = np.arange(quantiles.shape[2])
    for row, origin in enumerate(origins):
        places = origin - WEEK * np.arange(1, WEEKS_OF_HOUR + 1)[:, None] + leads % WEEK
        before = np.where(places >= 0, values[np.maximum(places, 0)], np.nan)
        before.sort(axis=0)
        counts = (~np.isnan(before)).sum(axis=0)
        has_demand = (before > 0).sum(axis=0) >= np.maximum(SHARE_OF_WEEKS * counts, 1)
        for level, share in enumerate(LEVELS):
            of_level = reached[row, level]
            rank = np.ceil(share * np.maximum(counts - 1, 0)).astype(np.int64)
            had = before[rank, leads]
            is_short = (share > MIDDLE) & has_demand & (of_level <= 0) & (had > 0)
            reached[row, level] = np.where(is_short, had, of_level)
    # What was raised takes along the levels above it.
    ordered = np.fmax.accumulate(reached, axis=1)
    return np.where(np.isnan(quantiles), np.nan, ordered)


def _offsets_of_groups(sorted_errors: list[Floats], rates: Floats) -> Floats:
    """By level and group, for miss rates by group and interval."""
    offsets = np.zeros((len(LEVELS), len(sorted_errors)))
    for group, errors in enumerate(sorted_errors):
        low = high = 0.0
        for inwards in range(len(NOMINAL_MISS_RATES) - 1, -1, -1):
            rank = _rank_of_level(len(errors), rates[group, inwards], inwards)
            low = np.nan if rank is None else min(low, errors[len(errors) - rank])
            high = np.nan if rank is None else max(high, errors[rank - 1])
            offsets[inwards, group], offsets[-1 - inwards, group] = low, high
    return offsets


def _rank_of_level(count: int, rate: float, inwards: int) -> int | None:
    """The rank for this miss rate; the last where there are enough errors for the nominal rate, but not for this one."""
    rank = conformal_rank(count, rate / 2)
    if rank is None and conformal_rank(count, NOMINAL_MISS_RATES[inwards] / 2) is not None:
        return count
    return rank


def _miss_rates(trials: ForecastTrials, origin: int, offsets: Floats) -> Floats:
    """By day ahead and interval, the share of hours outside; NaN where nothing is known of them."""
    groups = trials.groups
    errors = trials.errors[np.searchsorted(trials.origins, origin)]
    inner = len(NOMINAL_MISS_RATES)
    low, high = offsets[:inner], offsets[:inner:-1]
    missed = np.where(np.isnan(errors) | np.isnan(low), np.nan, (errors < low) | (errors > high))
    day_of_lead = groups.judged_leads // DAY
    rates = np.full((int(day_of_lead[-1]) + 1, inner), np.nan)
    for day in range(len(rates)):
        day_misses = missed[:, day_of_lead == day]
        is_known = ~np.isnan(day_misses)
        counts = is_known.sum(axis=1)
        rates[day] = np.where(
            counts > 0,
            np.where(is_known, day_misses, 0).sum(axis=1) / np.maximum(counts, 1),
            np.nan,
        )
    return rates
