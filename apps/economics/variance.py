"""What changed a number: the parts add up to its change exactly (LMDI, Ang 2005)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
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


CAUSES = ("price", "volume", "mix", "efficiency", "commitments", "other")


def cost_variance(before: PeriodCost, after: PeriodCost) -> dict[str, int]:
    """What each of CAUSES moved the cost by, in whole micro-units; they sum to its change exactly.

    volume: useful time, of all cells. mix: its shares of the cells, with cells that came or went.
    efficiency: time paid for each useful one. price: the rates per time. By LMDI (Ang 2005).
    """
    useful_before = sum(cell.useful_milliseconds for cell in before.capacity.values())
    useful_after = sum(cell.useful_milliseconds for cell in after.capacity.values())
    moved = dict.fromkeys(CAUSES[:4], 0.0)
    for key in before.capacity.keys() | after.capacity.keys():
        was = before.capacity.get(key, NO_CAPACITY)
        now = after.capacity.get(key, NO_CAPACITY)
        for cause, effect in _cell_effects(was, now, useful_before, useful_after).items():
            moved[cause] += effect
    causes = {cause: round(effect) for cause, effect in moved.items()}
    causes["commitments"] = after.commitment_micros - before.commitment_micros
    causes["other"] = after.other_micros - before.other_micros
    largest = max(CAUSES[:4], key=lambda cause: abs(causes[cause]))
    # What rounding to whole micro-units leaves over goes where it shows least.
    causes[largest] += after.micros - before.micros - sum(causes.values())
    return causes


def _cell_effects(
    was: CapacityCost, now: CapacityCost, useful_before: int, useful_after: int
) -> dict[str, float]:
    """The effects on one cell, which sum to its change."""
    change = float(now.rated_micros - was.rated_micros)
    if NO_CAPACITY in (was, now):
        there = was if now == NO_CAPACITY else now
        if not there.useful_milliseconds:
            return {"efficiency": change}
        return {"mix" if useful_before and useful_after else "volume": change}
    if min(was.rated_micros, now.rated_micros, was.milliseconds, now.milliseconds) <= 0:
        return {"price": change}
    if min(was.useful_milliseconds, now.useful_milliseconds) <= 0:
        return effects(
            {"efficiency": was.milliseconds, "price": was.rated_micros / was.milliseconds},
            {"efficiency": now.milliseconds, "price": now.rated_micros / now.milliseconds},
        )
    return effects(_cell_factors(was, useful_before), _cell_factors(now, useful_after))


def _cell_factors(cell: CapacityCost, useful_milliseconds: int) -> dict[str, float]:
    """Their product is what the cell cost."""
    return {
        "volume": useful_milliseconds,
        "mix": cell.useful_milliseconds / useful_milliseconds,
        "efficiency": cell.milliseconds / cell.useful_milliseconds,
        "price": cell.rated_micros / cell.milliseconds,
    }
