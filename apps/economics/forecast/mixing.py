"""One forecast out of many: the median of the candidates, weighted by how well each did before."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from apps.economics.forecast.candidates import LEAST_ORIGIN, Ints, stacked_candidates
from apps.economics.forecast.names import CANDIDATES, NAIVE
from apps.economics.forecast.scores import DAY, Floats

MOST_HORIZON = 14 * DAY
HALF_LIFE_HOURS = 14 * DAY
SHARPNESS = 3
NAIVE_FIRST_DAY, NAIVE_LATER = 5.0, 2.0
"""Counts of GPUs are steps: the last value is weighted as several candidates, most in the first day."""

MOST_LEADS_OF_GROUP = 8
HOURS_AT_ONCE = 2_160
EDGES = (0, 1, 3, 6, 12, *range(DAY, MOST_HORIZON + 1, DAY))


@dataclass(frozen=True)
class LeadGroups:
    """Leads that are judged together: single hours at first, whole days later on."""

    horizon: int

    @cached_property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Of each group its first lead and the one after its last."""
        edges = [edge for edge in EDGES if edge < self.horizon]
        return tuple(zip(edges, [*edges[1:], self.horizon], strict=True))

    @cached_property
    def group_of_lead(self) -> Ints:
        """The group of each lead of the horizon."""
        return np.repeat(np.arange(len(self.bounds)), [end - begin for begin, end in self.bounds])

    @cached_property
    def judged_leads(self) -> Ints:
        """The leads by which groups are judged: all of short ones, at most 8 of others."""
        return np.concatenate(
            [
                np.arange(begin, end, -(-(end - begin) // MOST_LEADS_OF_GROUP))
                for begin, end in self.bounds
            ]
        )


def weights_at(values: Floats, origins: Ints, groups: LeadGroups) -> Floats:
    """Weights by ascending origin, group of leads and candidate, of errors in hours before the origin alone.

    A candidate weighs the cube of the inverse of its mean absolute error; an error two weeks old counts half. The
    weighted median of such a pool is what beat its best member on step series and seasonal ones alike.
    """
    losses, counts = _losses_by_hour(values, groups)
    loss, count = _decayed(losses, origins), _decayed(counts, origins)
    mean = np.where(count > 0, loss / np.maximum(count, 1e-9), 1.0)
    relative = mean / np.maximum(mean.mean(axis=2, keepdims=True), 1e-9)
    weights: Floats = (relative + 1e-6) ** -SHARPNESS
    ends = np.array([end for _, end in groups.bounds])
    weights[:, :, CANDIDATES.index(NAIVE)] *= np.where(ends <= DAY, NAIVE_FIRST_DAY, NAIVE_LATER)
    return weights


def _losses_by_hour(values: Floats, groups: LeadGroups) -> tuple[Floats, Floats]:
    """Absolute errors by the hour they became known in, group and candidate, and how many of each group."""
    leads = groups.judged_leads
    losses = np.zeros((len(values), len(groups.bounds), len(CANDIDATES)))
    counts = np.zeros((len(values), len(groups.bounds), 1))
    for begin in range(LEAST_ORIGIN, len(values), HOURS_AT_ONCE):
        made_at = np.arange(begin, min(begin + HOURS_AT_ONCE, len(values)))
        forecasts = stacked_candidates(values, made_at, leads)
        errors = np.abs(observed_at(values, made_at, leads)[:, :, None] - forecasts)
        for column, lead in enumerate(leads):
            group = groups.group_of_lead[lead]
            known_rows = np.flatnonzero(~np.isnan(errors[:, column, 0]))
            losses[made_at[known_rows] + lead, group] += errors[known_rows, column]
            counts[made_at[known_rows] + lead, group] += 1
    return losses, counts


def observed_at(values: Floats, origins: Ints, leads: Ints) -> Floats:
    """Return the values observed in the hour of each origin and lead; NaN where none was, or it lies ahead."""
    places = origins[:, None] + leads
    observed = values[np.minimum(places, len(values) - 1)]
    return np.where(places < len(values), observed, np.nan)


def mixed(values: Floats, origins: Ints, leads: Ints, weights: Floats) -> Floats:
    """The weighted median of the candidates: a row for each origin, a column for each lead.

    `weights` is by origin, lead and candidate. Held to three times the most observed by then.
    """
    stacked = stacked_candidates(values, origins, leads)
    order = np.argsort(stacked, axis=2)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=2), axis=2)
    middle = (reached >= reached[..., -1:] / 2).argmax(axis=2)[..., None]
    median = np.take_along_axis(np.take_along_axis(stacked, order, axis=2), middle, axis=2)
    return bounded(values, origins, median[..., 0])


def bounded(values: Floats, origins: Ints, forecasts: Floats) -> Floats:
    """Forecasts from the least observed before each origin, or 0 if that is more, to three times the most.

    `forecasts` is by origin on its first axis.
    """
    least = np.minimum(np.minimum.accumulate(np.where(np.isnan(values), np.inf, values)), 0)
    most = np.maximum.accumulate(np.where(np.isnan(values), -np.inf, values))
    shape = (-1, *[1] * (forecasts.ndim - 1))
    low, high = least[origins - 1].reshape(shape), most[origins - 1].reshape(shape)
    return np.clip(forecasts, low, np.maximum(3 * high, high))


def _decayed(by_hour: Floats, origins: Ints) -> Floats:
    """The sum of all hours before each origin, each hour counting less the older it is."""
    keep = 0.5 ** (1 / HALF_LIFE_HOURS)
    sums, total, row = np.empty((len(origins), *by_hour.shape[1:])), np.zeros(by_hour.shape[1:]), 0
    for hour in range(int(origins[-1]) + 1):
        while row < len(origins) and origins[row] == hour:
            sums[row] = total
            row += 1
        if hour < len(by_hour):
            total = total * keep + by_hour[hour]
    return sums
