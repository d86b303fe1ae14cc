"""A forecast by the hour, and what stands for hours beyond its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from apps.economics.hours import DAY_HOURS, WEEK_HOURS


@dataclass(frozen=True, slots=True)
class HoursAhead:
    """A forecast by the hour; `quantiles` has by level a value for each of its `points`, empty without an interval.

    `expected` are the means of whole paths, which add up as points do not; `ends` are the hours with which days of the paths
    end, and `spreads` by level how far the total up to each lies from the sum of what is expected. Empty: no path is known.
    `seen` are the quantiles at SEEN_LEVELS of hours that came, empty where nobody kept them; no tail goes above `ceiling`.
    """

    points: Sequence[float]
    quantiles: Mapping[float, Sequence[float]]
    expected: Sequence[float] = ()
    ends: Sequence[int] = ()
    spreads: Mapping[float, Sequence[float]] = field(default_factory=dict)
    seen: Sequence[float] = ()
    ceiling: float = inf

    @property
    def adding_up(self) -> Sequence[float]:
        """The hours as they are added up: the means of paths, else the points."""
        return self.expected or self.points

    def spread_of(self, level: float, first: int, hours: int) -> float:
        """How far the total of so many hours from place `first` on lies from the sum of what is expected, at this level.

        As far as that of the first so many hours does, or its share of all up to its end where that is more: what lies
        further ahead is known less.
        """
        share = hours / (first + hours) if hours else 0.0
        near = self._spread_until(level, hours)
        return max(near, share * self._spread_until(level, first + hours), key=abs)

    def _spread_until(self, level: float, end: int) -> float:
        """Between ends of days by straight lines, beyond the last as it grew until then on average."""
        before, spread = 0, 0.0
        for reached, value in zip(self.ends, self.spreads[level], strict=True):
            if end <= reached:
                return spread + (value - spread) * (end - before) / (reached - before)
            before, spread = reached, value
        return spread * end / before


def place_counts(length: int, first: int, hours: int) -> list[int]:
    """How often each of `length` places stands for one of `hours` hours from place `first` on.

    Beyond the end the last week comes again, of a shorter forecast its last day or hour.
    """
    period = next(candidate for candidate in (WEEK_HOURS, DAY_HOURS, 1) if candidate <= length)
    places = range(first, min(length, first + hours))
    counts = [int(place in places) for place in range(length)]
    offset = max(0, first - length) % period
    cycles, leftover = divmod(hours - len(places), period)
    for ahead in range(period):
        place = length - period + (offset + ahead) % period
        counts[place] += cycles + (ahead < leftover)
    return counts


def repeated_sum(values: Sequence[float], first: int, hours: int) -> float:
    """The sum of `hours` values from place `first` on, where the last week, day or hour is repeated for ever."""
    counts = place_counts(len(values), first, hours)
    return sum(count * value for count, value in zip(counts, values, strict=True) if count)


def repeated_values(values: Sequence[float], first: int, hours: int) -> list[float]:
    """The values of which `repeated_sum` is the sum, hour by hour."""
    period = next(candidate for candidate in (WEEK_HOURS, DAY_HOURS, 1) if candidate <= len(values))
    within = max(0, len(values) - first)
    again = max(0, first - len(values))
    last = values[len(values) - period :]
    repeated = [last[(again + place) % period] for place in range(max(0, hours - within))]
    return [*values[first : first + hours], *repeated]


def spread_over(total: float, weights: Sequence[float]) -> list[float]:
    """A day's total over its hours in proportion to these weights, none below 0; evenly where all are 0."""
    weight_sum = sum(weights)
    if not weight_sum:
        return [total / len(weights)] * len(weights)
    return [total * weight / weight_sum for weight in weights]
