"""What changed a number: the parts add up to its change exactly (LMDI, Ang 2005)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, log1p


class FactorsDiffer(ValueError):
    """The two moments do not have the same factors, or one of them is not above 0."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a sum at two moments: what it was and is, and its factors by name.

    The product of the factors is the amount; a cell that was not or is not there has no factors.
    """

    before: Mapping[str, float]
    after: Mapping[str, float]


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
    was, now = _product(before), _product(after)
    mean = logarithmic_mean(now, was)
    return {name: mean * (log(after[name]) - log(before[name])) for name in before}


def change_of(cells: Mapping[str, Cell]) -> dict[str, float]:
    """What each factor moved the sum of all cells by; what came or went is *new* and *gone*.

    The parts sum to the change of the whole. Refuses FactorsDiffer.
    """
    parts: dict[str, float] = {}
    for cell in cells.values():
        if not cell.before or not cell.after:
            name, amount = (
                ("new", _product(cell.after)) if cell.after else ("gone", -_product(cell.before))
            )
            parts[name] = parts.get(name, 0.0) + amount
            continue
        for name, effect in effects(cell.before, cell.after).items():
            parts[name] = parts.get(name, 0.0) + effect
    return parts


def _product(factors: Mapping[str, float]) -> float:
    product = 1.0 if factors else 0.0
    for factor in factors.values():
        product *= factor
    return product
