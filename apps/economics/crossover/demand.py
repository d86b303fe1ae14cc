"""The demand on a model in a month: how many tokens, of which kinds, and how they come in hours."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log

MONTH_HOURS = 730
HOUR_SECONDS = 3600
MILLION = 1_000_000


@dataclass(frozen=True)
class TokenDemand:
    """Tokens of an average month of 730 hours.

    `million_tokens` counts prompt and output, `input_share` is the prompt's part of them (0 to 1).
    `hours` are the loads of the hours of a period that repeats, relative to each other, and
    `peak_to_mean` the busiest moment of such an hour over its mean. With one hour alone it is the
    month's peak over the month's mean.
    """

    million_tokens: float
    input_share: float
    peak_to_mean: float = 1.0
    hours: tuple[float, ...] = (1.0,)
    monthly_growth: float = 0.0

    def months_until(self, million_tokens: float) -> float | None:
        """After how many months of growth the volume is there; None: never."""
        if million_tokens <= self.million_tokens:
            return 0.0
        if self.monthly_growth <= 0:
            return None
        return log(million_tokens / self.million_tokens) / log(1 + self.monthly_growth)


@dataclass(frozen=True)
class RoutedTraffic:
    """A share of the tokens that a smaller model answers first, the large one where that fails.

    `work_ratio` is what a token of the smaller model takes of a replica, `price_ratio` what it costs
    of an API, each over the large model's.
    """

    share: float = 0.0
    escalation_rate: float = 0.0
    work_ratio: float = 1.0
    price_ratio: float = 1.0

    @property
    def work_factor(self) -> float:
        """Work of all tokens over that of the large model alone: escalated ones are worked twice."""
        return self._large_share + self.share * self.work_ratio

    @property
    def price_factor(self) -> float:
        """API price of all tokens over that of the large model alone."""
        return self._large_share + self.share * self.price_ratio

    @property
    def _large_share(self) -> float:
        return 1 - self.share + self.share * self.escalation_rate


@lru_cache(maxsize=128)
def load_levels(hours: tuple[float, ...], lead_hours: int | None) -> tuple[tuple[float, int], ...]:
    """Loads over the mean that replicas stand ready for, each with the number of its hours.

    A replica that takes `lead_hours` to be ready is started for the highest of the hours ahead of
    it, n(t) = max over [t, t + lead]; the period repeats. None: replicas are not scaled, all hours
    have what the highest needs.
    """
    mean = fsum(hours) / len(hours)
    if lead_hours is None:
        return ((max(hours) / mean, len(hours)),)
    around = hours + hours * (lead_hours // len(hours) + 1)
    ahead = [max(around[start : start + lead_hours + 1]) / mean for start in range(len(hours))]
    return tuple(sorted(Counter(ahead).items()))
