"""On which other days a series stepped too, or instead of on a known day: every day of them tried, by generalised least squares.

Where the noise remembers, a step shows on its own day alone: one that is looked for two days off is not seen, however large.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from operator import mul
from typing import NamedTuple

from apps.economics.step_effect import (
    CELLS,
    LEAST_VARIANCE,
    MEMORIES,
    SINGULAR,
    SeriesPoint,
    StepDesign,
)


class SeenStep(NamedTuple):
    """A step and its standard error, in units of the series."""

    effect: float
    error: float


@dataclass(frozen=True, slots=True)
class DateStep:
    """The step on another day: `beside` the one of the known day, and `alone`, in its place.

    `gain` is twice the logarithm of how much likelier the days are with it in the place of the known day's; below 0: less.
    """

    day: int
    beside: SeenStep
    alone: SeenStep
    gain: float


class _DayFit(NamedTuple):
    """Of one memory: `likelihood` is the restricted one with both steps, `in_place` the one of the other day's step alone."""

    beside: SeenStep
    alone: SeenStep
    likelihood: float
    in_place: float


def date_steps(
    points: Sequence[SeriesPoint], first: int, days: Sequence[int]
) -> tuple[DateStep, ...]:
    """The step on each of these days (of the points', other than `first`), fitted with the one since `first`, and without it.

    As `step_effect` with `beside`, with the memories weighed alike, but for all days at once: what a day adds to the fit
    without it is taken from sums over the days since (Frisch and Waugh 1933). Days on which no step can be told from the rest
    are left out.
    """
    design, wanted = StepDesign.of(points, first), set(days)
    places = [place for place, point in enumerate(points) if place and point.day in wanted]
    tried = [_fits(design, points, memory, places) for memory in MEMORIES]
    best_in_place = max(in_place for in_place, _ in tried)
    steps = []
    for place in places:
        fits = [of_memory[place] for _, of_memory in tried if place in of_memory]
        if len(fits) == len(MEMORIES):
            best = max(fits, key=lambda fit: fit.in_place)
            gain = 2 * (best.in_place - best_in_place)
            steps.append(DateStep(points[place].day, _mixed(fits), best.alone, gain))
    return tuple(steps)


def _mixed(fits: Sequence[_DayFit]) -> SeenStep:
    """The step beside the other by all memories together, each as likely as it is."""
    best = max(fit.likelihood for fit in fits)
    weights = [size * exp(fit.likelihood - best) for fit, size in zip(fits, CELLS, strict=True)]
    shares = [weight / sum(weights) for weight in weights]
    seen_steps = [(share, *fit.beside) for share, fit in zip(shares, fits, strict=True)]
    effect = sum(share * of_one for share, of_one, _ in seen_steps)
    spread = sum(share * (error**2 + (of_one - effect) ** 2) for share, of_one, error in seen_steps)
    return SeenStep(effect, sqrt(spread))


def _fits(
    design: StepDesign, points: Sequence[SeriesPoint], memory: float, places: Sequence[int]
) -> tuple[float, Mapping[int, _DayFit]]:
    """How likely the days are with the known day's step, and a fit for each place where another can be told."""
    lower, weights = design.fitted(memory)
    step, values, count = len(lower) - 2, lower[-1], len(points)
    freedom = max(1, count - len(lower))
    least = LEAST_VARIANCE * freedom
    restricted = weights - sum(
        log(row[place]) for place, row in enumerate(lower[:-1]) if row[place]
    )

    def in_place(square_sum: float) -> float:
        return weights - count / 2 * log(max(square_sum, least))

    fits = {}
    for place, (products, square) in _products_from(design, points, memory, places).items():
        parts: list[float] = []
        for row in range(step + 1):
            left = products[row] - sum(map(mul, lower[row], parts))
            parts.append(left / lower[row][row] if lower[row][row] else 0.0)
        own_square = square - sum(part**2 for part in parts)
        if own_square <= SINGULAR * square:
            continue
        shared = products[-1] - sum(map(mul, values, parts))
        remainder = max(values[-1] ** 2 - shared**2 / own_square, least)
        all_own, all_shared = own_square + parts[step] ** 2, shared + parts[step] * values[step]
        without = max(values[-1] ** 2 + values[step] ** 2 - all_shared**2 / all_own, least)
        fits[place] = _DayFit(
            SeenStep(shared / own_square, sqrt(remainder / freedom / own_square)),
            SeenStep(all_shared / all_own, sqrt(without / (freedom + 1) / all_own)),
            restricted - log(own_square) / 2 - freedom / 2 * log(remainder),
            in_place(without),
        )
    return in_place(values[-1] ** 2), fits


def _products_from(
    design: StepDesign, points: Sequence[SeriesPoint], memory: float, places: Sequence[int]
) -> dict[int, tuple[list[float], float]]:
    """Of a step at each place with every column of the rows, and with itself, once both are whitened: sums from the end."""
    rows, wanted, products_by_place = design.rows, set(places), {}
    sums, square = [0.0] * len(rows[0]), 0.0
    for place in range(len(rows) - 1, 0, -1):
        gap = points[place].day - points[place - 1].day
        memory_left, weight = memory**gap, design.sums.weight(memory, gap)
        fresh = [
            weight * (now - memory_left * was)
            for now, was in zip(rows[place], rows[place - 1], strict=True)
        ]
        if place in wanted:
            products = [one + other for one, other in zip(sums, fresh, strict=True)]
            products_by_place[place] = (products, square + weight)
        stays = 1 - memory_left
        sums = [one + stays * other for one, other in zip(sums, fresh, strict=True)]
        square += weight * stays**2
    return products_by_place
