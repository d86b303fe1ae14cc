"""GPUs that are cut into MIG slices: what of them stands is no room for a job of whole GPUs."""

from collections import defaultdict
from collections.abc import Mapping

from apps.accounts.queries.reading import once
from apps.economics.gpu_catalogue import gpu_model
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.slice_use import SliceUse, slice_use
from apps.placement.queries.moves.work import MoveSpan


@once
def slice_uses(span: MoveSpan) -> tuple[SliceUse, ...]:
    """Every size of slices of every pool. One statement."""
    return tuple(slice_use(span.window.starts_at, span.window.ends_at))


def part_of_gpu(use: SliceUse, pool: PoolFact | None) -> float | None:
    """Return the part of a GPU that a slice is; None where it is not known how the model can be cut."""
    model = gpu_model(pool.gpu_model) if pool else None
    if model is None or model.mig is None:
        return None
    return use.compute_slices / model.mig.compute_slices


def unheld_slice_gpus(use: SliceUse, part: float, span: MoveSpan) -> float:
    """GPUs of slices of this size that no job held, on average."""
    return (use.hours - use.held_hours) * part / span.hours


@once
def unheld_slice_gpus_by_pool(span: MoveSpan) -> Mapping[int, float]:
    """By pool: GPUs of slices of any size that no job held, on average."""
    pools_by_id, gpus_by_pool = pools(), defaultdict[int, float](float)
    for use in slice_uses(span):
        part = part_of_gpu(use, pools_by_id.get(use.pool_id))
        if part is not None:
            gpus_by_pool[use.pool_id] += unheld_slice_gpus(use, part, span)
    return dict(gpus_by_pool)
