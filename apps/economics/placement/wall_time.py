"""How long work takes that is interrupted: mean, spread, and the chance to be done by then.

Interruptions come at a constant rate, may hit restarts too, and cost the work since the last checkpoint (the
model of `economics.checkpoints`, whose mean this has exactly). The wait for capacity after one is exponential. All in
one unit of time.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import erf, exp, expm1, log, sqrt

from apps.economics.checkpoints import NotACadence

MOST_OF_MTBF = 50.0
"""A stretch of so many mean times between interruptions never comes to its end."""


class NeverFinishes(ValueError):
    """Work to be done without an interruption that takes far longer than interruptions leave."""


@dataclass(frozen=True, slots=True)
class WallTime:
    """`least` is without any interruption, which has the chance `calm`; `paid` is the mean less waits."""

    least: float
    mean: float
    variance: float
    calm: float
    interruptions: float
    paid: float

    def chance_within(self, limit: float) -> float:
        """The chance to be done by then.

        Delays are nothing with the chance `calm`, else gamma with the exact mean and variance, by the cube of Wilson
        and Hilferty (1931).
        """
        if limit < self.least:
            return 0.0
        hit, delay = 1 - self.calm, self.mean - self.least
        if hit <= 0 or delay <= 0:
            return 1.0
        mean = delay / hit
        variance = (self.variance + delay * delay) / hit - mean * mean
        spare = limit - self.least
        if variance <= 1e-12 * mean * mean:
            return 1.0 if spare >= mean else self.calm
        shape = mean * mean / variance
        standard = ((spare / mean) ** (1 / 3) - 1 + 1 / (9 * shape)) * 3 * sqrt(shape)
        return self.calm + hit * (1 + erf(standard / sqrt(2))) / 2


def uninterrupted(work: float, cadence: float | None, write: float) -> WallTime:
    """Work with its checkpoints (none: without any) and nothing that interrupts it."""
    least = work * (1 + write / cadence) if cadence else work
    return WallTime(least, least, 0.0, 1.0, 0.0, least)


def interrupted(
    *, work: float, cadence: float, write: float, mtbf: float, restart: float, wait: float
) -> WallTime:
    """Work ÷ cadence stretches of (cadence + write), each begun anew when it is interrupted.

    Refuses NotACadence, and NeverFinishes.
    """
    if min(work, cadence, mtbf) <= 0 or min(write, restart, wait) < 0:
        raise NotACadence("a time must be above 0")
    stretch, count = cadence + write, work / cadence
    if max(stretch, restart) > MOST_OF_MTBF * mtbf:
        raise NeverFinishes("interrupted too often to get from one checkpoint to the next")
    lost, again = _CutShort.of(stretch, mtbf), _CutShort.of(restart, mtbf)
    # After an interruption: the wait, and the restart, as often as that is interrupted itself.
    each_again = again.mean + wait
    back = wait + restart + again.count * each_again
    back_variance = (
        wait * wait
        + again.count * (again.variance + wait * wait)
        + again.count_variance * each_again * each_again
    )
    delay = lost.mean + back
    mean = count * (stretch + lost.count * delay)
    variance = count * (
        lost.count * (lost.variance + back_variance) + lost.count_variance * delay * delay
    )
    interruptions = count * lost.count * (1 + again.count)
    return WallTime(
        least=count * stretch,
        mean=mean,
        variance=variance,
        calm=exp(-count * stretch / mtbf),
        interruptions=interruptions,
        paid=mean - wait * interruptions,
    )


@dataclass(frozen=True, slots=True)
class _CutShort:
    """Tries of a length that are interrupted: how many before one is not, and how long each lasts."""

    count: float
    count_variance: float
    mean: float
    variance: float

    @classmethod
    def of(cls, length: float, mtbf: float) -> "_CutShort":
        """Geometric in number; in length exponential, cut at `length`."""
        share = length / mtbf
        if share < 1e-9:
            return cls(share, share, length / 2, length * length / 12)
        odds = expm1(share)
        mean = mtbf - length / odds
        square = 2 * mtbf * mtbf - (length * length + 2 * length * mtbf) / odds
        return cls(odds, odds * (1 + odds), mean, max(0.0, square - mean * mean))


@dataclass(frozen=True, slots=True)
class QueueWait:
    """How long work waits to begin: half of it, and nine in ten, no longer than this."""

    median: float
    ninth: float

    def quantile(self, level: float) -> float:
        """Straight up to the median, beyond it exponential through both; of two equal ones always that."""
        if self.ninth <= self.median:
            return self.median
        if level <= 0.5:
            return self.median * level * 2
        return self.median + (self.ninth - self.median) * log(0.5 / (1 - level)) / log(5)

    @property
    def points(self) -> tuple[float, ...]:
        """Equally likely waits: ten, or the one where all are the same."""
        return (self.median,) if self.ninth <= self.median else _points_of(self)

    @property
    def mean(self) -> float:
        """Of those."""
        points = self.points
        return sum(points) / len(points)


@lru_cache(maxsize=1024)
def _points_of(wait: QueueWait) -> tuple[float, ...]:
    # Offers of a book share a few waits, and every quote asks for them.
    return tuple(wait.quantile(0.05 + 0.1 * place) for place in range(10))
