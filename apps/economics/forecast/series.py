"""A figure by the hour, with the hours that nobody observed left open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.scores import Floats
from apps.economics.refusal import Refusal

HOUR_SECONDS = 3_600
MOST_HOURS = 10 * 366 * 24


class SpanTooLong(Refusal):
    """One of the moments lies so far off that it is no part of the series."""


@dataclass(frozen=True, slots=True)
class HourlySeries:
    """`values[n]` is of the hour that begins `n` hours after `starts_at`; NaN was not observed."""

    starts_at: datetime
    values: Floats

    def position_of(self, moment: datetime) -> int:
        """The number of the hour that `moment` is in, or begins; may lie outside the series."""
        return -((self.starts_at - moment) // timedelta(hours=1))

    def hour_at(self, position: int) -> datetime:
        """When that hour begins."""
        return self.starts_at + timedelta(hours=position)


def hourly_means(moments: Sequence[float], values: Sequence[float]) -> HourlySeries:
    """The mean of each hour's values, by Unix seconds in any order; at least one.

    Refuses SpanTooLong where they are over ten years apart.
    """
    sums = hourly_sums(moments, values)
    first = sums.starts_at.timestamp()
    counts = np.bincount(_hours_after(first, moments))
    return HourlySeries(sums.starts_at, sums.values / np.maximum(counts, 1))


def hourly_sums(moments: Sequence[float], values: Sequence[float]) -> HourlySeries:
    """The sum of each hour's values; as `hourly_means`. An hour with a NaN among them is not known."""
    first = min(moments) // HOUR_SECONDS * HOUR_SECONDS
    position = _hours_after(first, moments)
    count = int(position.max()) + 1
    if count > MOST_HOURS:
        raise SpanTooLong("", f"its moments are {count // 8_766:,} years apart; ten are the most")
    amounts = np.asarray(values, dtype=np.float64)
    sums = np.bincount(position, weights=amounts, minlength=count).astype(np.float64)
    sums[np.bincount(position, minlength=count) == 0] = np.nan
    return HourlySeries(datetime.fromtimestamp(first, UTC), sums)


def _hours_after(first: float, moments: Sequence[float]) -> NDArray[np.int64]:
    hours = (np.asarray(moments, dtype=np.float64) - first) // HOUR_SECONDS
    return hours.astype(np.int64)
