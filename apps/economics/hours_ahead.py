"""A forecast by the hour, and what stands for hours beyond its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.economics.hours import DAY_HOURS, WEEK_HOURS


@dataclass(frozen=True, slots=True)
class HoursAhead:
    """A forecast by the hour; `quantiles` has by level a value for each of its `points`, empty without an interval."""

    points: Sequence[float]
    quantiles: Mapping[float, Sequence[float]]


def place_counts(length: int, first: int, hours: int) -> list[int]:
    """How often each of `length` places stands for one of `hours` hours from place `first` on.

    Beyond the end the last week comes again, of a shorter forecast its last day or hour.
    """
    period = next(each for each in (WEEK_HOURS, DAY_HOURS, 1) if each <= length)
    known = range(first, min(length, first + hours))
    counts = [int(place in known) for place in range(length)]
    turned = max(0, first - length) % period
    whole, rest = divmod(hours - len(known), period)
    for ahead in range(period):
        place = length - period + (turned + ahead) % period
        counts[place] += whole + (ahead < rest)
    return counts


def repeated_sum(values: Sequence[float], first: int, hours: int) -> float:
    """The sum of `hours` values from place `first` on, where the last week, day or hour is repeated for ever."""
    counts = place_counts(len(values), first, hours)
    return sum(count * value for count, value in zip(counts, values, strict=True) if count)


def repeated_values(values: Sequence[float], first: int, hours: int) -> list[float]:
    """The values of which `repeated_sum` is the sum, hour by hour."""
    period = next(each for each in (WEEK_HOURS, DAY_HOURS, 1) if each <= len(values))
    within = max(0, len(values) - first)
    again = max(0, first - len(values))
    last = values[len(values) - period :]
    repeated = [last[(again + place) % period] for place in range(max(0, hours - within))]
    return [*values[first : first + hours], *repeated]


def spread_over(total: float, weights: Sequence[float]) -> list[float]:
    """A day's total over its hours in proportion to these weights, none below 0; evenly where all are 0."""
    whole = sum(weights)
    if not whole:
        return [total / len(weights)] * len(weights)
    return [total * weight / whole for weight in weights]
