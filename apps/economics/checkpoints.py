"""How often to save a checkpoint, and what a run takes with its failures: the exact optimum.

δ is what a checkpoint blocks, M the mean time between failures of the whole run, R the restart, D
the wait for capacity, all in one unit of time (Daly 2006, Bougeret and others 2011).
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1, log, sqrt

WORTH_SAYING = 3
"""Half or twice the best cadence costs some 5 %: nothing is said until it is three times off."""
STEPS = 50


class NotACadence(ValueError):
    """A time that is nothing or less."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run with failures: all its time, how many there are, and what of the time is paid."""

    wall: float
    failures: float
    paid: float

    def goodput(self, work: float) -> float:
        """Useful time of all of it."""
        return work / self.wall


@dataclass(frozen=True, slots=True)
class Hazard:
    """Failures in a unit of time, with the range of 95 % in which it lies."""

    rate: float | None
    low: float
    high: float


@lru_cache(maxsize=4096)
def best_cadence(write: float, mtbf: float) -> float:
    """τ* = M(1 + W₀(−e^(−1−δ/M))): useful work between two checkpoints. Refuses NotACadence."""
    _refuse_nothing(write, mtbf)
    return mtbf * (1 + _lambert_w(-exp(-1 - write / mtbf)))


def young(write: float, mtbf: float) -> float:
    """√(2δM), to check the exact one by. Refuses NotACadence."""
    _refuse_nothing(write, mtbf)
    return sqrt(2 * write * mtbf)


def with_failures(
    *, work: float, cadence: float, write: float, mtbf: float, restart: float, wait: float = 0.0
) -> Interrupted:
    """(W/τ)·e^(R/M)·(M + D)·(e^((τ+δ)/M) − 1); the wait is not paid. Refuses NotACadence."""
    _refuse_nothing(cadence, mtbf)
    failures = work / cadence * exp(restart / mtbf) * expm1((cadence + write) / mtbf)
    return Interrupted((mtbf + wait) * failures, failures, mtbf * failures)


def cadence_excess(cadence: float, write: float, mtbf: float) -> float:
    """Return which part of the time that is paid goes beyond the best cadence's; a restart is the same for both. Refuses NotACadence."""
    now, then = (
        with_failures(work=1.0, cadence=interval, write=write, mtbf=mtbf, restart=0.0).paid
        for interval in (cadence, best_cadence(write, mtbf))
    )
    return 1 - then / now


def is_worth_saying(cadence: float, best: float) -> bool:
    """Whether a cadence is off by more than three times either way."""
    return cadence > WORTH_SAYING * best or cadence * WORTH_SAYING < best


def hazard(failures: int, exposure: float) -> Hazard:
    """Failures ÷ exposure; of none only an upper bound (3 ÷ exposure) is known.

    The range is of the Gamma posterior with prior (½, 0), by Wilson and Hilferty's cube. Refuses
    NotACadence where nothing was exposed.
    """
    _refuse_nothing(exposure)
    if failures == 0:
        return Hazard(None, 0.0, 3 / exposure)
    shape = failures + 0.5
    low, high = (
        shape * (1 - 1 / (9 * shape) + z / (3 * sqrt(shape))) ** 3 / exposure for z in (-1.96, 1.96)
    )
    return Hazard(failures / exposure, low, high)


def _lambert_w(x: float) -> float:
    """W₀ on [−1/e, 0), by Halley's steps from its series at the branch point."""
    p = sqrt(max(0.0, 2 * (1 + exp(1) * x)))
    w = -1 + p - p * p / 3 if p < 1 else log(1 + x)
    for _ in range(STEPS):
        grown = w * exp(w) - x
        step = grown / (exp(w) * (w + 1) - (w + 2) * grown / (2 * w + 2)) if w > -1 else 0.0
        w -= step
        if abs(step) < 1e-15:
            break
    return w


def _refuse_nothing(*times: float) -> None:
    if min(times) <= 0:
        raise NotACadence("a time must be above 0")
