"""What part of a GPU a MIG slice is that a scheduler names by its type."""

from fractions import Fraction

from apps.economics.gpu_catalogue import CATALOGUE, SLICE_NAME, candidate_models
from apps.economics.shares import mig_share


def slice_share(name: str) -> Fraction | None:
    """Return the part of a GPU that a MIG slice counts as, named as a scheduler types it.

    `a100_1g.10gb` is 1/7: the larger of the slice's parts of compute and memory, as of one that
    NVML shows (`mig_share`). Where models of that name differ in memory it is the part of compute. 1
    for what is no slice; None for a slice whose part is not known.
    """
    found = SLICE_NAME.search(name)
    if found is None:
        return Fraction(1)
    rest = SLICE_NAME.sub(" ", name).strip()
    geometries = [
        model.mig for model in (candidate_models(rest) if rest else CATALOGUE) if model.mig
    ]
    profile_name = found[0].casefold().lstrip(" _-").removeprefix("mig").lstrip(" _-")
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
        compute_slices = int(found["compute"])
        shares = {
            part
            for geometry in geometries
            if geometry.profile(profile_name) is not None
            and (part := geometry.compute_part(compute_slices)) is not None
        }
    return shares.pop() if len(shares) == 1 else None
