"""The causes of a number's change: the parts add up exactly (LMDI, Ang 2005; of a period's cost by price, volume and mix)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import log, log1p
from typing import NamedTuple


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
    """Return the effect of each factor on the product; they sum to its change. Refuses FactorsDiffer."""
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


class CapacityCell(NamedTuple):
    """Capacity that has one rate. Time of different `unit`s (gpu, core) is never added up.

    `machine` is its GPU model, or its type where it has no GPU; `terms` how and where it is bought.
    """

    unit: str
    machine: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CapacityCost:
    """The cost of time on one kind of capacity by its rates, before commitments; in micro-units.

    `useful_milliseconds` is the time of which it is not known that nothing worked: active, or
    unobserved.
    """

    rated_micros: int
    milliseconds: int
    useful_milliseconds: int

    def plus(self, other: "CapacityCost") -> "CapacityCost":
        """With the time and the cost of another."""
        return CapacityCost(
            self.rated_micros + other.rated_micros,
            self.milliseconds + other.milliseconds,
            self.useful_milliseconds + other.useful_milliseconds,
        )


NO_CAPACITY = CapacityCost(0, 0, 0)


@dataclass(frozen=True, slots=True)
class PeriodCost:
    """A period's cost: capacity by cell, what commitments made of it, and all else.

    `commitment_micros` is what is paid for the capacity less what it cost by its rates, with what
    commitments cost unused and upfront.
    """

    capacity: Mapping[CapacityCell, CapacityCost]
    commitment_micros: int
    other_micros: int

    @property
    def rated_micros(self) -> int:
        """The cost of the capacity by its rates."""
        return sum(cell.rated_micros for cell in self.capacity.values())

    @property
    def micros(self) -> int:
        """All of it."""
        return self.rated_micros + self.commitment_micros + self.other_micros

    def times_of(self, unit: str) -> tuple[int, int]:
        """Milliseconds of a unit that were paid for, and the useful ones of them."""
        cells = [cell for key, cell in self.capacity.items() if key.unit == unit]
        return (
            sum(cell.milliseconds for cell in cells),
            sum(cell.useful_milliseconds for cell in cells),
        )


CAUSES = ("price", "capacity", "use", "mix", "commitments", "other")


class _Step(NamedTuple):
    """By how much the time paid for moved, in milliseconds, and what that came to at the rates of before."""

    time: Fraction
    micros: Fraction


def cost_variance(before: PeriodCost, after: PeriodCost) -> dict[str, int]:
    """Return the effect of each of CAUSES on the cost, in whole micro-units; they sum to its change exactly.

    price: each cell's step of its rate over the hours of after. The rest is each cell's step of hours at its rate of
    before, GPUs and cores apart. mix: hours that went from some cells to others, first between cells of a machine, then
    between machines, at the difference of their rates. What hours there are more or less in all is capacity, at the rate of
    the cells that they came to or went from, as far as the useful hours moved with them, and use beyond that.
    """
    keys = sorted(before.capacity.keys() | after.capacity.keys())
    priced, steps = Fraction(), {}
    for key in keys:
        was, now = before.capacity.get(key, NO_CAPACITY), after.capacity.get(key, NO_CAPACITY)
        price, steps[key] = _rate_and_time_moves(was, now)
        priced += price
    moved = dict.fromkeys(("price", "capacity", "use", "mix"), Fraction()) | {"price": priced}
    for unit in dict.fromkeys(key.unit for key in keys):
        net, mix = _net_of_machines([(key, steps[key]) for key in keys if key.unit == unit])
        wanted = _wanted_part(before.times_of(unit), after.times_of(unit))
        moved["capacity"] += net.micros * wanted
        moved["use"] += net.micros * (1 - wanted)
        moved["mix"] += mix
    causes = {cause: round(effect) for cause, effect in moved.items()}
    largest = max(moved, key=lambda cause: abs(causes[cause]))
    # What rounding to whole micro-units leaves over goes where it shows least.
    causes[largest] += after.rated_micros - before.rated_micros - sum(causes.values())
    causes["commitments"] = after.commitment_micros - before.commitment_micros
    causes["other"] = after.other_micros - before.other_micros
    return causes


def _rate_and_time_moves(was: CapacityCost, now: CapacityCost) -> tuple[Fraction, _Step]:
    """A cell that came goes by its own rate, so that it has no price effect; what was charged without any time is price."""
    time = Fraction(now.milliseconds - was.milliseconds)
    timed = was if was.milliseconds else now
    rate = Fraction(timed.rated_micros, timed.milliseconds) if timed.milliseconds else Fraction()
    at_rate = time * rate
    return now.rated_micros - was.rated_micros - at_rate, _Step(time, at_rate)


def _net_of_machines(steps: Iterable[tuple[CapacityCell, _Step]]) -> tuple[_Step, Fraction]:
    """Return what is left of the steps of a unit without shifts within and between machines, and what these came to."""
    by_machine = [
        _netted([step for _, step in group])
        for _, group in groupby(steps, key=lambda pair: pair[0].machine)
    ]
    net, between = _netted([net for net, _ in by_machine])
    return net, between + sum(mix for _, mix in by_machine)


def _netted(steps: Collection[_Step]) -> tuple[_Step, Fraction]:
    """The time that there is more or less in all, and what it came to that the rest was shifted from less to more."""
    more, less = (
        _Step(
            sum((step.time for step in side), Fraction()),
            sum((step.micros for step in side), Fraction()),
        )
        for side in (
            [step for step in steps if step.time > 0],
            [step for step in steps if step.time < 0],
        )
    )
    time, larger = more.time + less.time, max(more, less, key=lambda step: abs(step.time))
    micros = larger.micros * time / larger.time if larger.time else Fraction()
    return _Step(time, micros), more.micros + less.micros - micros


def _wanted_part(before: tuple[int, int], after: tuple[int, int]) -> Fraction:
    """Of the step of the time paid for: as much as the useful time calls for at the use of before, and never more than all."""
    (paid_before, useful_before), (paid_after, useful_after) = before, after
    moved = paid_after - paid_before
    if not moved or not paid_before:
        return Fraction(bool(useful_after))
    needed = (
        Fraction(useful_after * paid_before, useful_before)
        if useful_before
        else Fraction(paid_before)
    )
    return max(Fraction(), min(Fraction(1), (needed - paid_before) / moved))
