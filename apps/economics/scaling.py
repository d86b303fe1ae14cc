"""The gain of twice the GPUs: the universal scalability law, fitted on a workload's own runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, sqrt

FEWEST_SIZES = 3
FURTHEST = 2
"""No answer beyond so many times the largest number of GPUs that was seen."""
RESAMPLES = 100
TAIL = 0.05


class TooFewRuns(ValueError):
    """Fewer than three different numbers of GPUs: any curve would fit."""


class BeyondObservedScale(ValueError):
    """A question far beyond the largest run says nothing but what was assumed."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """The work of a run of so many GPUs in a unit of time."""

    gpus: int
    rate: float


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """X(n) = λn ÷ (1 + σ(n − 1) + κn(n − 1)): contention σ and coherence κ (Gunther's USL)."""

    speed: float
    contention: float
    coherence: float
    largest: int

    def rate(self, gpus: float) -> float:
        """Work in a unit of time. Refuses BeyondObservedScale."""
        if gpus > FURTHEST * self.largest:
            raise BeyondObservedScale(
                f"{gpus:g} GPUs are over twice the largest run seen, {self.largest}"
            )
        waits = self.contention * (gpus - 1) + self.coherence * gpus * (gpus - 1)
        return self.speed * gpus / (1 + waits)

    def speed_up(self, gpus: float, more: float) -> float:
        """How many times as fast `more` GPUs are. Refuses BeyondObservedScale."""
        return self.rate(more) / self.rate(gpus)

    def cost_multiplier(self, gpus: float, more: float) -> float:
        """How many times as dear the same work is then. Refuses BeyondObservedScale."""
        return more / gpus / self.speed_up(gpus, more)

    @property
    def peak(self) -> float:
        """Beyond so many GPUs it becomes slower; infinite where nothing says so."""
        return sqrt(max(0.0, 1 - self.contention) / self.coherence) if self.coherence else inf


def fit(runs: Sequence[Throughput]) -> ScalingLaw:
    """By non-negative least squares on n/X = a + b(n − 1) + cn(n − 1), weighted by X/n.

    Refuses TooFewRuns. A run without throughput says nothing and is left out.
    """
    useful = [run for run in runs if run.rate > 0 and run.gpus > 0]
    if len({run.gpus for run in useful}) < FEWEST_SIZES:
        raise TooFewRuns(
            f"runs on {FEWEST_SIZES} different numbers of GPUs are needed, "
            f"there are {len({run.gpus for run in useful})}"
        )
    rows, wanted = [], []
    for run in useful:
        weight = run.rate / run.gpus
        terms = (1.0, run.gpus - 1.0, run.gpus * (run.gpus - 1.0))
        rows.append([weight * term for term in terms])
        wanted.append(1.0)
    a, b, c = _non_negative(rows, wanted)
    return ScalingLaw(1 / a, b / a, c / a, max(run.gpus for run in useful))


def resampled(runs: Sequence[Throughput]) -> list[ScalingLaw]:
    """Laws of runs drawn anew from these, each as often as chance has it: how sure a fit is.

    The chance is a fixed sequence: the same runs always have the same laws. Draws of fewer than
    three sizes are left out, and no law at all is given where every other draw is the runs
    themselves: then there is nothing to tell a range by.
    """
    useful = sorted(
        (run for run in runs if run.rate > 0 and run.gpus > 0),
        key=lambda run: (run.gpus, run.rate),
    )
    if len(useful) <= FEWEST_SIZES:
        return []
    largest = max(run.gpus for run in useful)
    chance = _drawn_numbers(len(useful))
    draws = [[useful[next(chance)] for _ in useful] for _ in range(RESAMPLES)]
    return [
        replace(fit(draw), largest=largest)
        for draw in draws
        if len({run.gpus for run in draw}) >= FEWEST_SIZES
    ]


def middle_of(values: Sequence[float]) -> tuple[float, float] | None:
    """Between what nine of ten of these lie; None of none."""
    if not values:
        return None
    ordered, cut = sorted(values), int(TAIL * len(values))
    return ordered[cut], ordered[-1 - cut]


def _drawn_numbers(below: int) -> Iterator[int]:
    """Whole numbers from 0 that are as good as drawn (Knuth's linear congruence, upper bits)."""
    state = 1
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        yield (state >> 33) % below


def _non_negative(rows: Sequence[Sequence[float]], wanted: Sequence[float]) -> Sequence[float]:
    """The best of the least squares over every subset of columns that has no negative part.

    The first column is in each: without it there is no law. With three columns that is exact.
    """
    columns = range(1, len(rows[0]))
    best: tuple[float, list[float]] = (inf, [])
    for count in range(len(columns) + 1):
        for others in combinations(columns, count):
            chosen = (0, *others)
            solution = _least_squares([[row[k] for k in chosen] for row in rows], wanted)
            if solution is None or min(solution) < 0 or solution[0] <= 0:
                continue
            full = [0.0] * len(rows[0])
            for place, value in zip(chosen, solution, strict=True):
                full[place] = value
            missed = sum(
                (sum(x * y for x, y in zip(row, full, strict=True)) - target) ** 2
                for row, target in zip(rows, wanted, strict=True)
            )
            best = min(best, (missed, full))
    return best[1]


def _least_squares(rows: Sequence[Sequence[float]], wanted: Sequence[float]) -> list[float] | None:
    """By the normal equations, their columns brought to one length; None where they have no answer."""
    size = len(rows[0])
    lengths = [sqrt(sum(row[k] ** 2 for row in rows)) for k in range(size)]
    scaled = [[x / length for x, length in zip(row, lengths, strict=True)] for row in rows]
    table = [
        [sum(row[i] * row[j] for row in scaled) for j in range(size)]
        + [sum(row[i] * target for row, target in zip(scaled, wanted, strict=True))]
        for i in range(size)
    ]
    answer = _solve_equations(table)
    return answer and [x / length for x, length in zip(answer, lengths, strict=True)]


def _solve_equations(table: list[list[float]]) -> list[float] | None:
    size = len(table)
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(table[row][i]))
        table[i], table[pivot] = table[pivot], table[i]
        if abs(table[i][i]) < 1e-13:
            return None
        for j in range(size):
            if j != i:
                factor = table[j][i] / table[i][i]
                table[j] = [x - factor * y for x, y in zip(table[j], table[i], strict=True)]
    return [table[i][size] / table[i][i] for i in range(size)]
