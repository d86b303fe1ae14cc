"""A figure by the hour, with the hours that nobody observed left open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

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
    hours = np.asarray(moments, dtype=np.float64) // HOUR_SECONDS
    first = int(hours.min())
    position = (hours - first).astype(np.int64)
    count = int(position.max()) + 1
    if count > MOST_HOURS:
        raise SpanTooLong("", f"its moments are {count // 8_766:,} years apart; ten are the most")
    sums = np.bincount(position, weights=np.asarray(values, dtype=np.float64), minlength=count)
    counts = np.bincount(position, minlength=count)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return HourlySeries(datetime.fromtimestamp(first * HOUR_SECONDS, UTC), means)
