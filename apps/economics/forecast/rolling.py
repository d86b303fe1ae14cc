"""Forecasts made one day after the other, each of what was known then, with intervals of the errors till then."""

from dataclasses import dataclass

import numpy as np

from apps.economics.forecast.candidates import LEAST_ORIGIN, Ints
from apps.economics.forecast.intervals import (
    TRIAL_HOURS,
    ForecastTrials,
    quantile_offsets,
    reaching_demand,
)
from apps.economics.forecast.mixing import LeadGroups, bounded, mixed, observed_at, weights_at
from apps.economics.forecast.scores import DAY, Floats
from apps.economics.refusal import Refusal

LEAST_OBSERVED = 2 * DAY
MOST_HISTORY = 90 * DAY


class TooLittleHistory(Refusal):
    """So few hours are observed before an origin that no method can be chosen."""


@dataclass(frozen=True, slots=True)
class RolledForecasts:
    """`origins` are a day apart; `points` has a row for each and a column for each hour ahead.

    `quantiles` is by origin, level of LEVELS and hour ahead: NaN where too few errors are known for an interval.
    `weights` is by origin, hour ahead and candidate of CANDIDATES, on any scale. `day_sums` are the totals of whole days
    ahead as hours say them, at the last origin and on each day before it (that is, of more origins), by origin and day;
    their history begins with the hour `begin`.
    """

    origins: Ints
    points: Floats
    quantiles: Floats
    weights: Floats
    day_sums: Floats
    begin: int


def rolled_forecasts(values: Floats, first: int, count: int, horizon: int) -> RolledForecasts:
    """Forecasts of `horizon` hours at the hour `first` and at `count` − 1 further ones, each a day later.

    No forecast depends on a value at its origin or after. Refuses TooLittleHistory.
    """
    begin = max(0, first - MOST_HISTORY)
    observed = np.flatnonzero(~np.isnan(values[begin : max(first, 0)]))
    if len(observed) < LEAST_OBSERVED:
        raise TooLittleHistory(
            "",
            f"{len(observed)} hours are observed in the 90 days before the first forecast;"
            f" {LEAST_OBSERVED} are the least",
        )
    begin += int(observed[0])
    values, first = values[begin : first + (count - 1) * DAY], first - begin
    groups = LeadGroups(horizon)
    origins = first + DAY * np.arange(count)
    trials = np.arange(origins[-1], LEAST_ORIGIN - 1, -TRIAL_HOURS)[::-1]
    weights = weights_at(values, trials, groups)
    leads, judged = np.arange(horizon), groups.judged_leads
    of_leads = weights[np.searchsorted(trials, origins)][:, groups.group_of_lead]
    points = mixed(values, origins, leads, of_leads)
    tried = mixed(values, trials, judged, weights[:, groups.group_of_lead[judged]])
    errors = observed_at(values, trials, judged) - tried
    offsets = quantile_offsets(ForecastTrials(trials, errors, groups), origins)
    quantiles = points[:, None, :] + offsets
    bounds = reaching_demand(values, origins, bounded(values, origins, quantiles))
    is_daily = (trials - origins[-1]) % DAY == 0
    sums = _day_sums(tried[is_daily], groups)
    return RolledForecasts(origins + begin, points, bounds, of_leads, sums, begin)


def _day_sums(tried: Floats, groups: LeadGroups) -> Floats:
    """Of forecasts of the judged leads: the mean of each group's stands for all of its hours."""
    days = groups.horizon // DAY
    sums = np.zeros((len(tried), days))
    group_of = groups.group_of_lead[groups.judged_leads]
    for group, (begin, end) in enumerate(groups.bounds):
        if begin // DAY < days:
            sums[:, begin // DAY] += (end - begin) * tried[:, group_of == group].mean(axis=1)
    return sums
