"""By what a shared cost goes to those who were there: energy where meters told it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apps.economics.split import largest_remainder

METHODS: Mapping[str, str] = {
    "by_cost": "by direct cost",
    "by_unit_time": "by GPU time",
    "even": "evenly",
    "by_active_time": "by active GPU time",
    "by_energy": "by energy",
    "weighted": "by stated weights of teams",
}
"""Each way to share, in words that follow on "spread"."""
BILL_METHODS = tuple(method for method in METHODS if method != "weighted")
"""Those by which a rule shares rows of bills: the ones that need nothing but the hour."""


class DrawnShare(NamedTuple):
    """A GPU's time in an hour, the millijoules that it drew (None: no meter), and for whom.

    `weights` are by the key of a holder, at least one of them above 0.
    """

    milliseconds: int
    millijoules: int | None
    weights: Mapping[int, int]


class EnergyWeights(NamedTuple):
    """Millijoules by holder, and how much of the GPU time a meter told, and how much none did."""

    millijoules: Mapping[int, int]
    metered_ms: int
    unmetered_ms: int


def energy_weights(drawn: Sequence[DrawnShare]) -> EnergyWeights:
    """What each holder's part of the GPUs drew; the parts of one GPU sum to what it drew.

    Time without a meter counts with the mean power of the time that has one. Without any meter
    nobody has a weight: the caller names what counts instead.
    """
    metered = [each for each in drawn if each.millijoules is not None]
    metered_ms = sum(each.milliseconds for each in metered)
    all_ms = sum(each.milliseconds for each in drawn)
    told = sum(each.millijoules or 0 for each in metered)
    found: dict[int, int] = {}
    for each in drawn if metered_ms else ():
        amount = each.millijoules
        if amount is None:
            amount = told * each.milliseconds // metered_ms
        keys = sorted(each.weights)
        parts = largest_remainder(amount, [each.weights[key] for key in keys])
        for key, part in zip(keys, parts, strict=True):
            found[key] = found.get(key, 0) + part
    return EnergyWeights(found, metered_ms, all_ms - metered_ms)
