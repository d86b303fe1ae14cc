"""MIG slices as exact parts of their GPU, by the pool's policy."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.shares import NotAShare, ShareRule, mig_share
from apps.fleet import queries as fleet


def slice_share(
    device: fleet.DeviceFact, siblings: Sequence[fleet.DeviceFact], policy: fleet.PolicyFact | None
) -> Fraction:
    """A slice's part of its GPU; of a geometry nobody knows, an even part among those beside it.

    Slices that together are more than their GPU are scaled to it by the split, moment by moment.
    """
    share = _slice_share(device, siblings, policy)
    if share is not None:
        return share
    neighbours = [
        other
        for other in siblings
        if other.parent_id == device.parent_id
        and other.lived_from < device.lived_to
        and other.lived_to > device.lived_from
    ]
    return Fraction(1, len(neighbours))


def _slice_share(
    device: fleet.DeviceFact, siblings: Sequence[fleet.DeviceFact], policy: fleet.PolicyFact | None
) -> Fraction | None:
    parent = next((other.model for other in siblings if other.id == device.parent_id), "")
    if device.compute_slices is None or device.memory_slices is None:
        return None
    rule = policy.rule if policy else ShareRule.LARGEST
    return _geometry_share(
        parent or device.model, device.compute_slices, device.memory_slices, ShareRule(rule)
    )


@lru_cache(maxsize=1024)
def _geometry_share(name: str, compute: int, memory: int, rule: ShareRule) -> Fraction | None:
    """A geometry's part of a model; None where either is not known."""
    model = gpu_model(name)
    if model is None or model.mig is None:
        return None
    try:
        return mig_share(
            compute,
            memory,
            of_compute=model.mig.compute_slices,
            of_memory=model.mig.memory_slices,
            rule=rule,
        )
    except NotAShare:
        return None
