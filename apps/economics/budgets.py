"""A budget against what came and what is expected: sums ahead, headroom, the chance of exceeding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.economics.hours_ahead import HoursAhead, repeated_sum, repeated_values


@dataclass(frozen=True, slots=True)
class SumAhead:
    """The amount expected of some hours together; `quantiles` by level, ascending, empty without an interval."""

    expected: float
    quantiles: Mapping[float, float]


@dataclass(frozen=True, slots=True)
class Chance:
    """Between `low` and `high`: one number within the levels that a forecast has, a bound beyond them."""

    low: float
    high: float


def sum_ahead(forecasts: Sequence[tuple[HoursAhead, int]], hours: int) -> SumAhead:
    """Of these forecasts together, so many hours, each from its own hour on (the second of the pair).

    Beyond a forecast's end its last week comes again, of a shorter one its last day or hour. Of a forecast with paths the sum is
    of their means, and a quantile that of their totals; of one without, the sum of the quantiles, which is exact where all
    hours err together (comonotonic; Dhaene and others 2002) and else too wide, never too narrow. So are those of several
    forecasts together. One forecast without an interval leaves the sum without.
    """
    middles = [repeated_sum(forecast.adding_up, first, hours) for forecast, first in forecasts]
    levels = [set(forecast.quantiles) for forecast, _ in forecasts]
    shared = sorted(set.intersection(*levels)) if levels else []
    sums = sorted(
        sum(
            _quantile_of_sum(forecast, (first, hours), level, middle)
            for (forecast, first), middle in zip(forecasts, middles, strict=True)
        )
        for level in shared
    )
    return SumAhead(sum(middles), dict(zip(shared, sums, strict=True)))


def _quantile_of_sum(
    ahead: HoursAhead, span: tuple[int, int], level: float, expected: float
) -> float:
    if level not in ahead.spreads:
        return repeated_sum(ahead.quantiles[level], *span)
    return max(min(expected, 0.0), expected + ahead.spread_of(level, *span))


def hours_within(
    room: float, forecasts: Sequence[tuple[HoursAhead, int]], hours: int, more: float = 0.0
) -> int | None:
    """How many whole hours pass before what is expected of these forecasts together is above `room`.

    `more` comes on top of them, an even share of it in each of the `hours`. None: not within these hours.
    """
    by_series = [repeated_values(forecast.adding_up, first, hours) for forecast, first in forecasts]
    accumulated = 0.0
    for place in range(hours):
        accumulated += more / hours + sum(values[place] for values in by_series)
        if accumulated > room:
            return place
    return None


def chance_above(room: float, quantiles: Mapping[float, float]) -> Chance | None:
    """How likely the sum is above `room`, between quantiles by straight lines; None without quantiles."""
    if not quantiles:
        return None
    pairs = list(quantiles.items())
    (lowest, least), (highest, most) = pairs[0], pairs[-1]
    if room >= most:
        return Chance(0.0, 1 - highest)
    if room < least:
        return Chance(1 - lowest, 1.0)
    place = next(place for place, (_, value) in enumerate(pairs) if value > room)
    (below, under), (above, over) = pairs[place - 1], pairs[place]
    level = below + (above - below) * (room - under) / (over - under)
    return Chance(1 - level, 1 - level)
