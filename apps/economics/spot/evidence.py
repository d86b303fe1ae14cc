"""How often spot is taken away, from what was seen: rates with their range, lives, and hours of the day.

Of lives that still go on, or that nobody saw end, it is known only that they were longer (Kaplan and
Meier 1958). A rate never follows from a price.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.economics.checkpoints import hazard
from apps.economics.hours import DAY_HOURS
from apps.economics.spot.trace import SpotTrace

FEWEST_ENDS = 5
"""With fewer interruptions evidence is called thin."""
FEWEST_LIVES = 20
"""Of fewer lives seen to their end nothing is said of how long one still lasts."""
CHI_SQUARE_23 = 41.64
"""Of 24 hours that are alike one set of counts in a hundred is further from even than this (chi square of 23)."""
FEWEST_HOURLY_ENDS = 48
"""With fewer than two an hour of the day that test says nothing."""
PRIOR_ENDS = 5
"""An hour of the day has its own rate and so many interruptions at the rate of all hours; a place those of one farther off."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SpotLife:
    """Hours on spot, begun at Unix seconds, and whether it was taken away then; else that is not known."""

    starts: float
    hours: float
    was_interrupted: bool


@dataclass(frozen=True, slots=True)
class ObservedInterruptions:
    """Interruptions an hour with the range of 95 %; `rate` is None where none was seen: only `high` is known."""

    exposure_hours: float
    interruptions: int
    rate: float | None
    low: float
    high: float | None

    @property
    def is_thin(self) -> bool:
        """Whether there is little to go by."""
        return self.interruptions < FEWEST_ENDS


def interruption_rate(lifetimes: Sequence[SpotLife]) -> ObservedInterruptions:
    """Interruptions ÷ hours on spot. Of no hour nothing is known."""
    exposure = sum(life.hours for life in lifetimes)
    ends = sum(life.was_interrupted for life in lifetimes)
    if exposure <= 0:
        return ObservedInterruptions(0.0, ends, None, 0.0, None)
    estimate = hazard(ends, exposure)
    return ObservedInterruptions(exposure, ends, estimate.rate, estimate.low, estimate.high)


def is_sufficient_evidence(interruptions: int, hours: float, farther_rate: float) -> bool:
    """Whether one source says enough: FEWEST_ENDS were seen, or would have been at the rate of a source farther off."""
    return interruptions >= FEWEST_ENDS or hours * farther_rate >= FEWEST_ENDS


def rates_by_hour(lifetimes: Sequence[SpotLife]) -> list[ObservedInterruptions]:
    """Rates in each hour of the day in UTC, shrunk to that of all hours; lives begin at Unix seconds."""
    exposure, ends = np.zeros(DAY_HOURS), np.zeros(DAY_HOURS, np.int64)
    for life in lifetimes:
        first, last = life.starts / 3600, life.starts / 3600 + life.hours
        edges = np.append(np.arange(np.ceil(first + 1e-9), last), last)
        parts = np.diff(edges, prepend=first)
        np.add.at(exposure, np.floor(edges - parts / 2).astype(np.int64) % DAY_HOURS, parts)
        ends[int(last - 1e-9) % DAY_HOURS] += life.was_interrupted
    return shrunk_rates(exposure, ends)


def summed_rates(sources: Sequence[Sequence[ObservedInterruptions]]) -> list[ObservedInterruptions]:
    """Return the interruptions that several sources of one kind saw by hour of the day, added up, and shrunk as one."""
    return shrunk_rates(*_sums_by_hour(sources))


def shrunk_rates(exposure: Floats, ends: NDArray[np.int64]) -> list[ObservedInterruptions]:
    """Rates of hours of the day from hours on spot and interruptions in each, each with PRIOR_ENDS at the rate of all."""
    total = ends.sum() / exposure.sum() if exposure.sum() else 0.0
    if not total:
        return [
            ObservedInterruptions(float(hours), 0, None, 0.0, 3 / float(hours) if hours else None)
            for hours in exposure
        ]
    prior = PRIOR_ENDS / total
    rates = []
    for hours, count in zip(exposure, ends, strict=True):
        shrunk = hazard(int(count) + PRIOR_ENDS, float(hours) + prior)
        rates.append(
            ObservedInterruptions(float(hours), int(count), shrunk.rate, shrunk.low, shrunk.high)
        )
    return rates


def observed_by_hour_of_day(trace: SpotTrace, starts: float) -> list[float]:
    """Hours in which somebody looked, by hour of the day in UTC; a tick counts where its middle is."""
    middles = starts / 3600 + (np.flatnonzero(trace.known) + 0.5) * trace.tick
    hours = np.floor(middles).astype(np.int64) % DAY_HOURS
    counted: list[float] = (np.bincount(hours, minlength=DAY_HOURS) * trace.tick).tolist()
    return counted


def hour_factors(by_hour: Sequence[ObservedInterruptions]) -> list[float] | None:
    """The rate of each hour of the day in UTC ÷ that of all, where they differ by more than chance; None: they do not.

    Of hours as `rates_by_hour` has them, or sums of such.
    """
    exposure = sum(hour.exposure_hours for hour in by_hour)
    ends = sum(hour.interruptions for hour in by_hour)
    if ends < FEWEST_HOURLY_ENDS or any(hour.exposure_hours <= 0 for hour in by_hour):
        return None
    rate = ends / exposure
    expected = [rate * hour.exposure_hours for hour in by_hour]
    uneven = sum(
        (hour.interruptions - mean) ** 2 / mean
        for hour, mean in zip(by_hour, expected, strict=True)
    )
    if uneven <= CHI_SQUARE_23:
        return None
    return [
        (hour.interruptions + PRIOR_ENDS) / (mean + PRIOR_ENDS)
        for hour, mean in zip(by_hour, expected, strict=True)
    ]


def summed_hours(places: Sequence[Sequence[ObservedInterruptions]]) -> list[ObservedInterruptions]:
    """Several places' hours of the day added up; empty where one of them has none."""
    if not places or not all(places):
        return []
    return [
        ObservedInterruptions(float(exposure), int(ends), None, 0.0, None)
        for exposure, ends in zip(*_sums_by_hour(places), strict=True)
    ]


def _sums_by_hour(
    sources: Sequence[Sequence[ObservedInterruptions]],
) -> tuple[Floats, NDArray[np.int64]]:
    """Hours on spot and interruptions of all of them, by hour of the day."""
    return (
        np.array([[hour.exposure_hours for hour in hours] for hours in sources]).sum(axis=0),
        np.array([[hour.interruptions for hour in hours] for hours in sources]).sum(axis=0),
    )


def factor_between(factors: Sequence[float], begins: float, hours: float) -> float:
    """The mean of the factors over so many hours from an hour of the day on; of no hours that of where they begin."""
    if hours <= 0:
        return factors[int(begins) % DAY_HOURS]
    days, remaining_hours = divmod(hours, DAY_HOURS)
    total = days * sum(factors)
    at, until = begins, begins + remaining_hours
    while at < until:
        step = min(until, int(at) + 1) - at
        total += step * factors[int(at) % DAY_HOURS]
        at += step
    return total / hours


def remaining_life(lifetimes: Sequence[SpotLife], age: float) -> float | None:
    """Mean hours that a life of this age still lasts, at most until the longest seen; None of too few lives.

    The area under Kaplan and Meier's survival curve beyond the age, by what is left of it there.
    """
    curve = _survival_curve(lifetimes, age)
    if curve is None:
        return None
    times, survival = curve
    longest = max(max(life.hours for life in lifetimes), float(times[-1]))
    steps = np.diff(np.concatenate([[age], times, [longest]]))
    return float((steps * np.concatenate([[1.0], survival])).sum())


def median_life(lifetimes: Sequence[SpotLife]) -> float | None:
    """Hours that half of the lives last, by the same curve; None of too few, or where over half were longer than all seen to end."""
    curve = _survival_curve(lifetimes, 0.0)
    if curve is None:
        return None
    times, survival = curve
    # A product of ratios may end a rounding above a half.
    over = np.flatnonzero(survival <= 0.5 + 1e-9)
    return float(times[over[0]]) if len(over) else None


def _survival_curve(lifetimes: Sequence[SpotLife], age: float) -> tuple[Floats, Floats] | None:
    """Times of ends beyond the age and Kaplan and Meier's curve at them; None of too few lives."""
    if sum(life.was_interrupted for life in lifetimes) < FEWEST_LIVES:
        return None
    hours = np.array([life.hours for life in lifetimes])
    ended = np.array([life.was_interrupted for life in lifetimes])
    times = np.unique(hours[ended & (hours > age)])
    if not len(times):
        return None
    at_risk = (hours[None, :] >= times[:, None]).sum(axis=1)
    deaths = ((hours[None, :] == times[:, None]) & ended[None, :]).sum(axis=1)
    return times, np.cumprod(1 - deaths / at_risk)


def lifetimes_of_trace(trace: SpotTrace, starts: float, nodes: int = 1) -> list[SpotLife]:
    """Each time that spot was up, from its first tick until its last; unseen where the next tick is not known."""
    up, is_known = trace.is_up(nodes), trace.known
    edges = np.diff(np.concatenate([[0], up.astype(np.int64), [0]]))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [
        SpotLife(
            starts + begin * trace.tick * 3600,
            (end - begin) * trace.tick,
            bool(end < len(up) and is_known[end]),
        )
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
