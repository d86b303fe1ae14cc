"""One amount on several bases, split so that each basis sums and each part keeps their order."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.economics.split import largest_remainder


class Amounts(NamedTuple):
    """Micro-units on each basis; None where the basis is unknown, which is not 0."""

    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None


class BilledCosts(NamedTuple):
    """Whole units of one kind on each basis; None where one is not known."""

    listed: int | None
    contracted: int | None
    effective: int | None
    billed: int | None


UNKNOWN = Amounts(None, None, None)
_Parts = Sequence[int | None]


def split_bases(amounts: Amounts, weights: Sequence[int]) -> list[Amounts]:
    """Split by largest remainder: effective first, then each step up to the next basis.

    Every basis sums exactly, and where effective ≤ contracted ≤ list, each part keeps that.
    Refuses NothingToSplitBy.
    """
    effective = _one_step(None, None, amounts.effective_micros, weights)
    contracted = _one_step(amounts.effective_micros, effective, amounts.contracted_micros, weights)
    if amounts.contracted_micros is None:
        listed = _one_step(amounts.effective_micros, effective, amounts.list_micros, weights)
    else:
        listed = _one_step(amounts.contracted_micros, contracted, amounts.list_micros, weights)
    return list(map(Amounts, listed, contracted, effective))


def added(first: Amounts, second: Amounts) -> Amounts:
    """The sum of what is known on each basis."""
    return Amounts(*map(_add_known, first, second))


def negated(amounts: Amounts) -> Amounts:
    """Return the amounts with the opposite sign."""
    return Amounts(*(None if micros is None else -micros for micros in amounts))


def _one_step(
    below: int | None, parts_below: _Parts | None, amount: int | None, weights: Sequence[int]
) -> _Parts:
    """Parts of `amount`: those of the basis below plus a split of the difference."""
    if amount is None:
        return [None] * len(weights)
    if below is None or parts_below is None:
        return largest_remainder(amount, weights)
    if amount == below:
        return parts_below
    steps = largest_remainder(amount - below, weights)
    return list(map(_add_known, parts_below, steps))


def _add_known(sofar: int | None, more: int | None) -> int | None:
    if sofar is None or more is None:
        return more if sofar is None else sofar
    return sofar + more
