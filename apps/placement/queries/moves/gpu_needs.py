"""Needs of workloads of a GPU, as seen in windows: memory, and how much of the time it worked."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from apps.economics.moves.shrinking import LEAST_COVERAGE, GpuNeed
from apps.ledger.queries.held_gpus import HeldGrant, grants_of_workloads
from apps.placement.queries.moves.work import MoveSpan, WorkCell
from apps.telemetry.queries.memory import GpuUse, HeldDevice, gpu_use

SEEN_FOR = timedelta(days=14)
"""So long windows are kept at least."""


@dataclass(frozen=True, slots=True)
class ObservedNeed:
    """A need, GPUs that a job of it held of a node at once at most, and the part of the held GPU time that was seen."""

    need: GpuNeed
    gpus: int
    coverage: float


def observed_needs(span: MoveSpan, cells: Sequence[WorkCell]) -> dict[str, ObservedNeed | str]:
    """Of each cell by its key, or why it is not known. Two statements, however many cells."""
    ends_at = span.window.ends_at
    since = ends_at - SEEN_FOR
    grants: dict[tuple[int, int], list[HeldGrant]] = defaultdict(list)
    for grant in grants_of_workloads({cell.workload.id for cell in cells}, since, ends_at):
        grants[grant.workload_id, grant.pool_id].append(grant)
    of_cells = [grants[cell.workload.id, cell.pool.id] for cell in cells]
    used = gpu_use(
        [
            HeldDevice(place, device_id, grant.starts_at, grant.ends_at)
            for place, of_cell in enumerate(of_cells)
            for grant in of_cell
            for device_id in grant.device_ids
        ]
    )
    return {
        cell.key: _need_of(of_cell, used.get(place))
        for place, (cell, of_cell) in enumerate(zip(cells, of_cells, strict=True))
    }


def _need_of(grants: Sequence[HeldGrant], use: GpuUse | None) -> ObservedNeed | str:
    if not grants:
        return "which GPUs it held is not known"
    if any(grant.gpus < 1 for grant in grants):
        return "it holds parts of GPUs already"
    if use is None or use.memory_bytes is None:
        return "how much memory it used is not known: no agent reported it of its GPUs"
    coverage = min(1.0, use.seen_seconds / sum(grant.held_seconds for grant in grants))
    if coverage < LEAST_COVERAGE:
        return f"its memory was seen in less than {LEAST_COVERAGE:.0%} of the GPU time that it held"
    if use.worked_ratio is None:
        return "how much its GPUs were active is not known"
    need = GpuNeed(use.memory_bytes, use.worked_ratio)
    return ObservedNeed(need, round(max(grant.gpus for grant in grants)), coverage)
