"""How long answers took: histograms merged, quantiles and promises read from them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise


class HistogramUnreadable(ValueError):
    """Bounds that do not rise from above zero, or counts that are not one more than bounds."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Requests by how long they took: `counts[i]` at most `bounds[i]` seconds and longer than the
    bound before it, and one count more of those longer than the last. Refuses HistogramUnreadable.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.bounds) + 1:
            message = f"{len(self.bounds)} bounds need {len(self.bounds) + 1} counts"
            raise HistogramUnreadable(f"{message}, not {len(self.counts)}")
        if not all(earlier < later for earlier, later in pairwise((0, *self.bounds))):
            raise HistogramUnreadable("bounds rise, from above 0")
        if any(count < 0 for count in self.counts):
            raise HistogramUnreadable("a count is 0 or more")

    @property
    def total(self) -> int:
        """How many requests."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Quantile:
    """`ratio` of the requests took at most `seconds`; `is_over`: more than that, the last bound."""

    ratio: float
    seconds: float
    is_over: bool


@dataclass(frozen=True, slots=True)
class Within:
    """Of `total` requests `sure` were surely answered in time; `likely` adds the part of the
    bucket that the limit cuts, taken as even within it."""

    total: int
    sure: int
    likely: float


def merged(histograms: Iterable[Histogram]) -> Histogram | None:
    """All of them as one, on the bounds that every one has; None of none.

    Requests are conserved: finer bounds fold into coarser ones, nothing is guessed.
    """
    parts = list(histograms)
    if not parts:
        return None
    shared = set(parts[0].bounds).intersection(*(part.bounds for part in parts))
    bounds = tuple(sorted(shared))
    counts = [0] * (len(bounds) + 1)
    for histogram in parts:
        for bound, count in zip((*histogram.bounds, None), histogram.counts, strict=True):
            counts[len(bounds) if bound is None else bisect_left(bounds, bound)] += count
    return Histogram(bounds, tuple(counts))


def quantiles(histogram: Histogram, ratios: Sequence[float]) -> tuple[Quantile, ...]:
    """Linear within a bucket, from 0 in the first, as Prometheus' histogram_quantile; in the last,
    which has no end, the last bound and `is_over`. Nothing of no requests or of no bounds.
    """
    if not histogram.total or not histogram.bounds:
        return ()
    below = list(accumulate(histogram.counts))
    return tuple(_quantile_of(histogram, below, ratio) for ratio in ratios)


def within(histogram: Histogram, seconds: float) -> Within:
    """How many requests took at most so long: surely, and with the cut bucket taken as even.

    In the last bucket, which has no end, none is likely: a limit beyond the bounds is met by those
    within the bounds alone.
    """
    place = bisect_left(histogram.bounds, seconds)
    if place < len(histogram.bounds) and histogram.bounds[place] == seconds:
        sure = sum(histogram.counts[: place + 1])
        return Within(histogram.total, sure, float(sure))
    sure = sum(histogram.counts[:place])
    if place == len(histogram.bounds):
        return Within(histogram.total, sure, float(sure))
    since = histogram.bounds[place - 1] if place else 0.0
    part = (seconds - since) / (histogram.bounds[place] - since)
    return Within(histogram.total, sure, sure + part * histogram.counts[place])


def budget_left(met_ratio: float, target_ratio: float) -> float:
    """The part of the error budget that is left: 1 none used, 0 all of it, below it more than all.

    The budget is `1 - target_ratio` of the requests (Google SRE workbook, ch. 2); 0 < target < 1.
    """
    return 1 - (1 - met_ratio) / (1 - target_ratio)


def _quantile_of(histogram: Histogram, below: Sequence[int], ratio: float) -> Quantile:
    rank = ratio * histogram.total
    place = bisect_left(below, rank)
    # The bucket that holds the rank is one with requests in it.
    while not histogram.counts[place]:
        place += 1
    if place == len(histogram.bounds):
        return Quantile(ratio, histogram.bounds[-1], is_over=True)
    since = histogram.bounds[place - 1] if place else 0.0
    part = (rank - (below[place] - histogram.counts[place])) / histogram.counts[place]
    return Quantile(ratio, since + (histogram.bounds[place] - since) * part, is_over=False)
