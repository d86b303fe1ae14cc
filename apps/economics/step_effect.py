"""A step in a series that has a trend, a week and a memory: an interrupted time series, by generalised least squares.

y = a + b·t + weekdays + d·1{t ≥ T} + e, where e is a stationary AR(1) that remembers over missing days too (Prais and Winsten
1954). `d` is the effect. How much the noise remembers is not known: it is weighed by its restricted likelihood (Patterson and
Thompson 1971), which is not led astray by short series as the correlation of residuals is, and the interval is over all of it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from operator import mul
from statistics import NormalDist, fmean
from typing import TypeAlias

from apps.economics.changes import WEEK

HIGH = 0.95
MEMORIES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.96, 0.98)
"""What a day's noise may keep of the day before. Noise that swings back (below 0) is taken for none: that is rather too wide."""
CELLS = (
    (MEMORIES[1] - MEMORIES[0]) / 2,
    *((after - before) / 2 for before, after in zip(MEMORIES, MEMORIES[2:], strict=False)),
    (MEMORIES[-1] - MEMORIES[-2]) / 2,
)
"""How much of all memories each of them stands for."""
LEAST_VARIANCE = 1e-20
"""Of y: a series without any noise has this."""
SINGULAR, LEAST_PIVOT = 1e-11, 1e-9
BEYOND_DOUBT = 1e9
"""A value of Student's t beyond which all of it lies, to all digits."""
FEWEST_LIKE = 2
"""Days of each weekday before the step, for the week to be told from the trend."""
Matrix: TypeAlias = list[list[float]]


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """A day (its ordinal) and what was seen on it."""

    day: int
    value: float


@dataclass(frozen=True, slots=True)
class StepEffect:
    """The effect `d` with the ends of its 90 % interval and its standard error; the trend `b` a day with its own.

    `memory` is what a day's noise keeps of the day before, `noise` the standard deviation of what is new in it.
    """

    effect: float
    low: float
    high: float
    error: float
    slope: float
    slope_error: float
    memory: float
    noise: float

    @property
    def is_told(self) -> bool:
        """Whether no effect lies outside of the interval."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class _Fit:
    memory: float
    effect: float
    error: float
    slope: float
    slope_error: float
    noise: float
    likelihood: float


def step_effect(
    points: Sequence[SeriesPoint],
    first: int,
    *,
    memory: float | None = None,
    weekly: bool = True,
    over: int = 1,
    other_step: tuple[int, int] | None = None,
) -> StepEffect:
    """The step from day `first` on; `memory` where it is known, else all MEMORIES as likely as the series makes them.

    `weekly` False: the points are no days of a week. `over`: of how many days the step is, evenly; 1 is one at once.
    `other_step`: another that there may be, which is fitted with it: its day, and of how many it is. Refuses ValueError of fewer
    than four points, or none on a side.
    """
    before = sum(point.day < first for point in points)
    if not 0 < before < len(points) or len(points) <= 3:
        raise ValueError("a step has points before and since, four at least")
    rows = _design(points, first, is_weekly=weekly and _has_weeks(points, first))
    if over > 1:
        for point, row in zip(points, rows, strict=True):
            row[-2] = _step_share(point.day, first, over)
    if other_step is not None:
        rows = [
            [_step_share(point.day, *other_step), *row]
            for point, row in zip(points, rows, strict=True)
        ]
    return _fitted(points, rows, memory)


def mean_effect(points: Sequence[SeriesPoint], first: int) -> StepEffect:
    """How far the points since `first` lie from the trend of before on the mean, where theirs is another: segmented regression.

    In units of the series. There are four points at least, and some on both sides.
    """
    rows = _design(points, first, is_weekly=_has_weeks(points, first))
    return _fitted(points, _with_bend(points, rows, first), None)


def _fitted(points: Sequence[SeriesPoint], rows: Matrix, memory: float | None) -> StepEffect:
    """The effect of the last column but one, for a memory or all of them."""
    freedom = max(1, len(rows) - len(rows[0]) + 1)
    sums = _Products.of(points, rows)
    memories = MEMORIES if memory is None else (memory,)
    fits = [_fit(sums, candidate, freedom) for candidate in memories]
    best = max(fit.likelihood for fit in fits)
    sizes = CELLS if memory is None else (1.0,)
    weights = [size * exp(fit.likelihood - best) for fit, size in zip(fits, sizes, strict=True)]
    return _mixture(fits, weights, freedom)


def step_error(days: Sequence[int], first: int, *, memory: float, noise: float) -> float:
    """The standard error that the effect will have once these days are there, for a memory and what is new in a day."""
    points = [SeriesPoint(day, 0.0) for day in days]
    rows = _design(points, first, is_weekly=_has_weeks(points, first))
    lower = _cholesky(_Products.of(points, rows).whitened(memory))
    return noise / max(lower[-2][-2], LEAST_PIVOT)


def bend_of(points: Sequence[SeriesPoint], *, memory: float, noise: float) -> tuple[float, float]:
    """How much a parabola bends a series beside its trend, and the standard error for such noise: the whole of it at the ends."""
    rows = _design(points, points[-1].day, is_weekly=_has_weeks(points, points[-1].day))
    place = len(rows[0]) - 2
    for row in rows:
        row[place] = 4 * row[place - 1] ** 2
    lower = _cholesky(_Products.of(points, rows).whitened(memory))
    by_bend = lower[place][place]
    return (lower[-1][place] / by_bend, noise / by_bend) if by_bend else (0.0, inf)


def _with_bend(points: Sequence[SeriesPoint], rows: Matrix, first: int) -> Matrix:
    """The rows with what the trend since is beside the one before: around the middle of the days since, so that the step is their mean."""
    since = [point.day for point in points if point.day >= first]
    middle, reach = fmean(since), max(1, since[-1] - since[0])
    return [
        [(point.day - middle) / reach if point.day >= first else 0.0, *row]
        for point, row in zip(points, rows, strict=True)
    ]


def _step_share(day: int, first: int, over: int) -> float:
    """How much of a step has come on a day that begins on the first and takes so many."""
    return min(1.0, max(0, day - first + 1) / over)


def _has_weeks(points: Sequence[SeriesPoint], first: int) -> bool:
    """Whether the days before have each weekday that there is, often enough."""
    old = Counter(point.day % WEEK for point in points if point.day < first)
    return len(old) > 1 and all(
        old[place] >= FEWEST_LIKE for place in {point.day % WEEK for point in points}
    )


def _design(points: Sequence[SeriesPoint], first: int, *, is_weekly: bool) -> Matrix:
    """A row a point: the weekdays but one, 1, the trend, the step, and last the value."""
    middle, reach = fmean(point.day for point in points), max(1, points[-1].day - points[0].day)
    places = sorted({point.day % WEEK for point in points})[1:] if is_weekly else []
    centre = fmean(point.value for point in points)
    return [
        [
            *(float(point.day % WEEK == place) for place in places),
            1.0,
            (point.day - middle) / reach,
            float(point.day >= first),
            point.value - centre,
        ]
        for point in points
    ]


@dataclass(frozen=True, slots=True)
class _Products:
    """Sums of products of the rows, by how many days lie between two: of them any memory's are made at once."""

    first: Matrix
    gaps: dict[int, tuple[int, Matrix, Matrix, Matrix]]
    reach: int

    @classmethod
    def of(cls, points: Sequence[SeriesPoint], rows: Matrix) -> "_Products":
        """In the order of the days."""
        by_gap: dict[int, list[int]] = {}
        for place in range(1, len(rows)):
            by_gap.setdefault(points[place].day - points[place - 1].day, []).append(place)
        gaps = {}
        for gap, places in by_gap.items():
            now = list(zip(*(rows[place] for place in places), strict=True))
            was = list(zip(*(rows[place - 1] for place in places), strict=True))
            between = _products(now, was)
            both = [
                [between[row][column] + between[column][row] for column in range(len(between))]
                for row in range(len(between))
            ]
            gaps[gap] = (len(places), _products(now, now), both, _products(was, was))
        first = [[value] for value in rows[0]]
        return cls(_products(first, first), gaps, max(1, points[-1].day - points[0].day))

    def whitened(self, memory: float) -> Matrix:
        """Products of the rows once what each remembers of the one before is taken off, in units of what is new in a day."""
        size = len(self.first)
        products = [[(1 - memory**2) * value for value in row] for row in self.first]
        for gap, (_, now, both, was) in self.gaps.items():
            decay, weight = memory**gap, self.weight(memory, gap)
            for row in range(size):
                for column in range(row + 1):
                    products[row][column] += weight * (
                        now[row][column] - decay * both[row][column] + decay**2 * was[row][column]
                    )
        return products

    @staticmethod
    def weight(memory: float, gap: int) -> float:
        """Return the ratio of what is new in one day to what is new after so many."""
        return (1 - memory**2) / (1 - memory ** (2 * gap))

    def weighed(self, memory: float) -> float:
        """Half of the logarithm of the weights of all rows together."""
        of_gaps = sum(
            count * log(self.weight(memory, gap)) for gap, (count, *_) in self.gaps.items()
        )
        return (log(1 - memory**2) + of_gaps) / 2


@dataclass(frozen=True, slots=True)
class StepDesign:
    """The rows of a step beside its trend and weekdays (the step last but one, the value last), and sums of their products."""

    rows: Matrix
    sums: _Products

    @classmethod
    def of(cls, points: Sequence[SeriesPoint], first: int) -> "StepDesign":
        """Of the step from day `first` on."""
        rows = _design(points, first, is_weekly=_has_weeks(points, first))
        return cls(rows, _Products.of(points, rows))

    def fitted(self, memory: float) -> tuple[Matrix, float]:
        """The lower triangle of the whitened rows' products, and half of the logarithm of what they were weighed with."""
        return _cholesky(self.sums.whitened(memory)), self.sums.weighed(memory)


def _zeros(size: int) -> Matrix:
    return [[0.0] * size for _ in range(size)]


def _products(left: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> Matrix:
    """Of each column of the one with each of the other."""
    return [[sum(map(mul, one, other)) for other in right] for one in left]


def _cholesky(of: Matrix) -> Matrix:
    """The lower triangle whose square it is; a direction that the others already have is left at 0."""
    size = len(of)
    lower = _zeros(size)
    for row in range(size):
        for column in range(row + 1):
            remainder = of[row][column] - sum(
                lower[row][place] * lower[column][place] for place in range(column)
            )
            if row == column:
                lower[row][row] = (
                    sqrt(remainder) if remainder > SINGULAR * max(of[row][row], 1e-300) else 0.0
                )
            elif lower[column][column]:
                lower[row][column] = remainder / lower[column][column]
    return lower


def _fit(sums: _Products, memory: float, freedom: int) -> _Fit:
    """By least squares of the whitened rows. The last of a Cholesky's rows has the values, the one before it the step."""
    lower = _cholesky(sums.whitened(memory))
    step, trend = len(lower) - 2, len(lower) - 3
    residual = max(lower[-1][-1] ** 2, LEAST_VARIANCE * freedom)
    noise = sqrt(residual / freedom)
    by_step, by_trend = (max(lower[place][place], LEAST_PIVOT) for place in (step, trend))
    effect, leans = lower[-1][step] / by_step, lower[step][trend] / by_step
    slope = (lower[-1][trend] - lower[step][trend] * effect) / by_trend
    log_determinant = sum(
        log(lower[place][place]) for place in range(step + 1) if lower[place][place]
    )
    return _Fit(
        memory=memory,
        effect=effect,
        error=noise / by_step,
        slope=slope / sums.reach,
        slope_error=noise * sqrt(1 + leans**2) / by_trend / sums.reach,
        noise=noise,
        likelihood=sums.weighed(memory) - log_determinant - freedom / 2 * log(residual),
    )


def _mixture(fits: Sequence[_Fit], weights: Sequence[float], freedom: int) -> StepEffect:
    """The fits together, each as likely as it is: means, and the 5th and 95th percentile of their Student's t."""
    total = sum(weights)
    shares = [(fit, weight / total) for fit, weight in zip(fits, weights, strict=True)]

    def mean(values: Iterable[float]) -> float:
        return sum(share * value for (_, share), value in zip(shares, values, strict=True))

    effect = mean(fit.effect for fit in fits)
    return StepEffect(
        effect=effect,
        low=_percentile(shares, freedom, 1 - HIGH),
        high=_percentile(shares, freedom, HIGH),
        error=sqrt(mean(fit.error**2 + (fit.effect - effect) ** 2 for fit in fits)),
        slope=mean(fit.slope for fit in fits),
        slope_error=sqrt(mean(fit.slope_error**2 for fit in fits)),
        memory=mean(fit.memory for fit in fits),
        noise=mean(fit.noise for fit in fits),
    )


def _percentile(shares: Sequence[tuple[_Fit, float]], freedom: int, level: float) -> float:
    """By halving, between what the likely ones of the fits say of it."""
    quantile = NormalDist().inv_cdf(HIGH)
    far = quantile + (quantile**3 + quantile) / (4 * freedom) + 1
    likely = [(fit, share) for fit, share in shares if share > 1e-6]
    low = min(fit.effect - far * fit.error for fit, _ in likely)
    high = max(fit.effect + far * fit.error for fit, _ in likely)
    for _ in range(60):
        middle = (low + high) / 2
        below = sum(
            share * _student((middle - fit.effect) / fit.error, freedom) for fit, share in likely
        )
        if below < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student(value: float, freedom: int) -> float:
    """The share of Student's t below a value, by Wallace's approximation (1959)."""
    value = max(-BEYOND_DOUBT, min(value, BEYOND_DOUBT))
    root = sqrt(freedom * log(1 + value**2 / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return NormalDist().cdf(root if value > 0 else -root)
