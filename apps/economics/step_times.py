"""The slow ranks of a run, and what waiting for them costs: every step ends with its slowest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from apps.economics.deviations import robust_deviation

WINDOW_STEPS = 50
OFTEN = 0.6
FAR = 3.5


@dataclass(frozen=True, slots=True)
class Slowness:
    """`factor`: all steps' slowest ÷ all steps' median times; `wasted` is the share lost to it."""

    factor: float
    wasted: float


def slowness(steps: Sequence[Sequence[float]]) -> Slowness | None:
    """S = Σ max ÷ Σ median over the steps' times of their ranks; waste 1 − 1/S. None of no steps."""
    useful = [step for step in steps if step]
    usual = sum(median(step) for step in useful)
    if not usual:
        return None
    factor = sum(max(step) for step in useful) / usual
    return Slowness(factor, 1 - 1 / factor)


def stragglers(steps: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Ranks that are slow in 60 % or more of the windows of 50 steps, with that share.

    Slow in a window: a robust z of its median time over 3.5 among the ranks'. Windows in which
    ranks do not differ at all say nothing.
    """
    windows = [steps[k : k + WINDOW_STEPS] for k in range(0, len(steps), WINDOW_STEPS)]
    slow: dict[int, int] = {}
    for window in windows:
        times: dict[int, list[float]] = {}
        for step in window:
            for rank, seconds in step.items():
                times.setdefault(rank, []).append(seconds)
        medians = {rank: median(time) for rank, time in times.items()}
        for rank in _far_above(medians):
            slow[rank] = slow.get(rank, 0) + 1
    shares = {rank: count / len(windows) for rank, count in slow.items()}
    return {rank: share for rank, share in sorted(shares.items()) if share >= OFTEN}


def robust_z(value: float, among: Sequence[float]) -> float | None:
    """(value − median) ÷ robust deviation; None where the others do not differ."""
    middle = median(among)
    spread = robust_deviation(among, middle)
    return (value - middle) / spread if spread else None


def _far_above(medians: Mapping[int, float]) -> list[int]:
    ranks = []
    for rank, value in medians.items():
        z = robust_z(value, list(medians.values()))
        if z is not None and z > FAR:
            ranks.append(rank)
    return ranks
