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
    """Return the energy drawn by each holder's part of the GPUs; the parts of one GPU sum to what it drew.

    Time without a meter counts with the mean power of the time that has one. Without any meter
    nobody has a weight: the caller names what counts instead.
    """
    metered = [drawn_share for drawn_share in drawn if drawn_share.millijoules is not None]
    metered_ms = sum(drawn_share.milliseconds for drawn_share in metered)
    all_ms = sum(drawn_share.milliseconds for drawn_share in drawn)
    metered_millijoules = sum(drawn_share.millijoules or 0 for drawn_share in metered)
    energy_by_holder: dict[int, int] = {}
    for share in drawn if metered_ms else ():
        amount = share.millijoules
        if amount is None:
            amount = metered_millijoules * share.milliseconds // metered_ms
        keys = sorted(share.weights)
        parts = largest_remainder(amount, [share.weights[key] for key in keys])
        for key, part in zip(keys, parts, strict=True):
            energy_by_holder[key] = energy_by_holder.get(key, 0) + part
    return EnergyWeights(energy_by_holder, metered_ms, all_ms - metered_ms)
