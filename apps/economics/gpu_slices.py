"""The part of a GPU that a MIG slice is, where a scheduler names it by its type."""

import re
from fractions import Fraction

from apps.economics.gpu_catalogue import CATALOGUE, SLICE_NAME, candidate_models
from apps.economics.shares import mig_share

LOOKS_LIKE_A_PART = re.compile(
    r"(?<![a-z])(?:mig|mps|vgpu|grid|shard|slice|fraction)s?(?![a-z])"
    r"|\dg[ ._-]?\d+"
    r"|-\d+[abcq]$",
    re.IGNORECASE,
)
"""Words for what shares a GPU, a profile of MIG or one of vGPU (`a100-10c`)."""


def slice_share(name: str) -> Fraction | None:
    """Return the part of a GPU that a MIG slice counts as, named as a scheduler types it.

    `a100_1g.10gb` is 1/7: the larger of the slice's parts of compute and memory, as of one that
    NVML shows (`mig_share`). Where models of that name differ in memory it is the part of compute. 1
    for a GPU; None for a slice whose part is not known, and for a name that no model has and that
    looks like a part of one (`vgpu_10c`).
    """
    slice_match = SLICE_NAME.search(name)
    if slice_match is None:
        is_part = not candidate_models(name) and LOOKS_LIKE_A_PART.search(name)
        return None if is_part else Fraction(1)
    model_name = SLICE_NAME.sub(" ", name).strip().removeprefix("mig:")
    geometries = [
        model.mig
        for model in (candidate_models(model_name) if model_name else CATALOGUE)
        if model.mig
    ]
    profile_name = f"{slice_match['compute']}g.{slice_match['gigabytes']}gb"
    shares = {
        mig_share(
            profile.compute_slices,
            profile.memory_slices,
            of_compute=geometry.compute_slices,
            of_memory=geometry.memory_slices,
        )
        for geometry in geometries
        if (profile := geometry.profile(profile_name)) is not None
    }
    if len(shares) != 1:
        compute_slices = int(slice_match["compute"])
        shares = {
            part
            for geometry in geometries
            if geometry.profile(profile_name) is not None
            and (part := geometry.compute_part(compute_slices)) is not None
        }
    return shares.pop() if len(shares) == 1 else None
