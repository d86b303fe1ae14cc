"""What changed a number: the parts add up to its change exactly (LMDI, Ang 2005; of a period's cost Bennet 1920)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log, log1p


class FactorsDiffer(ValueError):
    """The two moments do not have the same factors, or one of them is not above 0."""


def logarithmic_mean(a: float, b: float) -> float:
    """(a − b) ÷ ln(a/b); a where both are the same."""
    if a == b:
        return a
    # Of two that differ in their last digits alone the quotient's logarithm has no digit left.
    is_near = abs(a - b) < b / 2
    return (a - b) / (log1p((a - b) / b) if is_near else log(a / b))


def effects(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What each factor moved the product by; they sum to its change. Refuses FactorsDiffer."""
    if set(before) != set(after) or min((*before.values(), *after.values()), default=0) <= 0:
        raise FactorsDiffer("each factor is needed at both moments, above 0")
    was, now = _product_of(before), _product_of(after)
    mean = logarithmic_mean(now, was)
    return {name: mean * (log(after[name]) - log(before[name])) for name in before}


def _product_of(factors: Mapping[str, float]) -> float:
    product = 1.0 if factors else 0.0
    for factor in factors.values():
        product *= factor
    return product


@dataclass(frozen=True, slots=True)
class CapacityCost:
    """What time on one kind of capacity cost by its rates, before commitments; in micro-units.

    `useful_milliseconds` is the time of which it is not known that nothing worked: active, or
    unobserved.
    """

    rated_micros: int
    milliseconds: int
    useful_milliseconds: int


NO_CAPACITY = CapacityCost(0, 0, 0)


@dataclass(frozen=True, slots=True)
class PeriodCost:
    """A period's cost: capacity by cell, what commitments made of it, and all else.

    `commitment_micros` is what is paid for the capacity less what it cost by its rates, with what
    commitments cost unused and upfront.
    """

    capacity: Mapping[Hashable, CapacityCost]
    commitment_micros: int
    other_micros: int

    @property
    def micros(self) -> int:
        """All of it."""
        rated = sum(cell.rated_micros for cell in self.capacity.values())
        return rated + self.commitment_micros + self.other_micros


CAUSES = ("price", "capacity", "use", "mix", "commitments", "other")


@dataclass(frozen=True, slots=True)
class _RateMove:
    """Two periods of a cell: time paid for and its rate in each, and what was charged without any time."""

    times: tuple[int, int]
    rates: tuple[Fraction, Fraction]
    without_time: int


def cost_variance(before: PeriodCost, after: PeriodCost) -> dict[str, int]:
    """What each of CAUSES moved the cost by, in whole micro-units; they sum to its change exactly.

    price: the rates, each over the mean of both periods' time. The rest of what the cells moved by is their time at the
    mean of both periods' rates (Bennet 1920): of it, more or less time in all at the mean rate is capacity, as far as the
    useful time moved with it, and use beyond that; and which cells it is on is mix. So capacity that stood has neither,
    whatever the work on it did.
    """
    moves = [
        _rate_move(before.capacity.get(key, NO_CAPACITY), after.capacity.get(key, NO_CAPACITY))
        for key in before.capacity.keys() | after.capacity.keys()
    ]
    price = sum((_price_effect(move) for move in moves), Fraction())
    quantity = sum((_step(move.times) * _mean(move.rates) for move in moves), Fraction())
    paid = sum((_mean(move.times) for move in moves), Fraction())
    spent = sum((_mean(move.times) * _mean(move.rates) for move in moves), Fraction())
    rate = spent / paid if paid else Fraction()
    wanted, unused = _time_moves(before, after)
    moved = {
        "price": price,
        "capacity": wanted * rate,
        "use": unused * rate,
        "mix": quantity - (wanted + unused) * rate,
    }
    causes = {cause: round(effect) for cause, effect in moved.items()}
    largest = max(moved, key=lambda cause: abs(causes[cause]))
    # What rounding to whole micro-units leaves over goes where it shows least.
    change = sum(cell.rated_micros for cell in after.capacity.values()) - sum(
        cell.rated_micros for cell in before.capacity.values()
    )
    causes[largest] += change - sum(causes.values())
    causes["commitments"] = after.commitment_micros - before.commitment_micros
    causes["other"] = after.other_micros - before.other_micros
    return causes


def _rate_move(was: CapacityCost, now: CapacityCost) -> _RateMove:
    """A period without time goes by the rate of the other: a cell that came or went has no price effect."""
    rates = [
        Fraction(cell.rated_micros, cell.milliseconds) if cell.milliseconds else None
        for cell in (was, now)
    ]
    known = [rate for rate in rates if rate is not None] or [Fraction()]
    first, last = (
        known[place] if rate is None else rate for place, rate in ((0, rates[0]), (-1, rates[1]))
    )
    left = [0 if cell.milliseconds else cell.rated_micros for cell in (was, now)]
    return _RateMove((was.milliseconds, now.milliseconds), (first, last), left[1] - left[0])


def _price_effect(move: _RateMove) -> Fraction:
    return _step(move.rates) * _mean(move.times) + move.without_time


def _step(pair: tuple[int, int] | tuple[Fraction, Fraction]) -> Fraction:
    return Fraction(pair[1] - pair[0])


def _mean(pair: tuple[int, int] | tuple[Fraction, Fraction]) -> Fraction:
    return Fraction(pair[0] + pair[1]) / 2


def _time_moves(before: PeriodCost, after: PeriodCost) -> tuple[Fraction, Fraction]:
    """By how much the time paid for moved with the useful time, at the use of before, and by how much beyond that."""
    (paid_before, useful_before), (paid_after, useful_after) = (
        (
            sum(cell.milliseconds for cell in period.capacity.values()),
            sum(cell.useful_milliseconds for cell in period.capacity.values()),
        )
        for period in (before, after)
    )
    moved = Fraction(paid_after - paid_before)
    if not paid_before:
        return (moved, Fraction()) if useful_after else (Fraction(), moved)
    needed = (
        Fraction(useful_after * paid_before, useful_before)
        if useful_before
        else Fraction(paid_before)
    )
    none = Fraction()
    wanted = max(min(needed - paid_before, max(moved, none)), min(moved, none))
    return wanted, moved - wanted
