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


@dataclass(frozen=True, slots=True)
class ForecastTrials:
    """Forecasts as they would have been made at `origins`, all through the history.

    `errors` (observed less forecast) is by origin and judged lead of `groups`; NaN where nothing was observed.
    """

    origins: Ints
    errors: Floats
    groups: LeadGroups

    def sorted_errors(self, origin: int) -> list[Floats]:
        """For each group of leads the errors of four weeks that were known at `origin`, sorted."""
        of_lead = [self._errors_at(origin, column) for column in range(self.errors.shape[1])]
        group_of = self.groups.group_of_lead[self.groups.judged_leads]
        return [
            np.sort(
                np.concatenate([of_lead[column] for column in np.flatnonzero(group_of == group)])
            )
            for group in range(len(self.groups.bounds))
        ]

    def _errors_at(self, origin: int, column: int) -> Floats:
        newest = origin - int(self.groups.judged_leads[column])
        begin, end = np.searchsorted(self.origins, [newest - DAYS_OF_ERRORS * DAY, newest])
        errors = self.errors[begin:end, column]
        known: Floats = errors[~np.isnan(errors)]
        return known


def quantile_offsets(trials: ForecastTrials, origins: Ints) -> Floats:
    """What is added to the forecast for each of LEVELS: by origin, level and group of leads.

    `origins` are a day apart and among those of `trials`. From a day of trials on, each day's intervals are held
    against what came, as far as it had come by the next (adaptive conformal inference, Gibbs and Candès 2021), one
    rate for each day ahead. They nest, and hold the forecast itself. NaN where too few errors were known.
    """
    days = -(-trials.groups.horizon // DAY)
    rates = np.tile(NOMINAL_MISS_RATES, (days, 1))
    day_of_group = np.array([begin // DAY for begin, _ in trials.groups.bounds])
    offsets = np.empty((len(origins), len(LEVELS), len(trials.groups.bounds)))
    misses: dict[int, Floats] = {}
    first = int(origins[0]) - (int(origins[0]) - int(trials.origins[0])) // DAY * DAY
    for origin in range(first, int(origins[-1]) + 1, DAY):
        for ahead in range(days):
            past = misses.get(origin - (ahead + 1) * DAY)
            if past is not None:
                rates[ahead] = adapted_miss_rate(rates[ahead], past[ahead], NOMINAL_MISS_RATES)
        of_groups = _offsets_of_groups(trials.sorted_errors(origin), rates[day_of_group])
        misses[origin] = _miss_rates(trials, origin, of_groups)
        if origin >= origins[0]:
            offsets[(origin - int(origins[0])) // DAY] = of_groups
    return offsets


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
    of_lead = offsets[:, groups.group_of_lead[groups.judged_leads]]
    inner = len(NOMINAL_MISS_RATES)
    low, high = of_lead[:inner], of_lead[:inner:-1]
    missed = np.where(np.isnan(errors) | np.isnan(low), np.nan, (errors < low) | (errors > high))
    day_of_lead = groups.judged_leads // DAY
    rates = np.full((int(day_of_lead[-1]) + 1, inner), np.nan)
    for day in range(len(rates)):
        known = missed[:, day_of_lead == day]
        seen = ~np.isnan(known)
        counts = seen.sum(axis=1)
        rates[day] = np.where(
            counts > 0, np.where(seen, known, 0).sum(axis=1) / np.maximum(counts, 1), np.nan
        )
    return rates
