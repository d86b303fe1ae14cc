"""Resources of their nodes that were used up while GPUs waited, by the nodes' own counters."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.economics.run_time import Bucket
from apps.ledger.queries.windows import Window
from apps.show.amounts import per_cent
from apps.show.counts import short_count
from apps.telemetry.queries.saturation import DeviceFlow, Saturation, saturation
from apps.workloads.queries.run_nodes import nodes_while

FULL = 0.8
"""A flow of four fifths of the most that the node was ever seen to move is at its limit."""
STALLED = {"cpu": 0.4, "io": 0.25, "memory": 0.1}
"""Parts of the time in which some task waited; a busy node's CPU always makes some task wait."""
LEAST_BYTES_PER_SECOND = {"fabric": 1e9, "network": 1e8, "disk": 1e8}
"""Below it a steady trickle would look like a limit."""


class Resource(StrEnum):
    """A resource of a node that was used up while its GPUs waited."""

    STORAGE = "storage"
    NETWORK = "network"
    FABRIC = "fabric"
    CPU = "CPU"
    MEMORY = "memory"


# What GPUs may wait for in each bucket; of other buckets the counters say nothing.
MAY_CAUSE: dict[Bucket, tuple[Resource, ...]] = {
    Bucket.DATA_WAIT: (Resource.STORAGE, Resource.CPU, Resource.NETWORK, Resource.MEMORY),
    Bucket.COMMUNICATION: (Resource.FABRIC, Resource.NETWORK),
    Bucket.CHECKPOINT: (Resource.STORAGE, Resource.NETWORK),
}


@dataclass(frozen=True, slots=True)
class SaturatedResource:
    """A resource that the node's own counters show saturated while GPUs waited, with the evidence."""

    resource: Resource
    ratio: float
    words: str


def causes_of(
    thresholds: Mapping[Bucket, float], run_ids: Collection[int], window: Window | None
) -> dict[Bucket, tuple[SaturatedResource, ...]]:
    """Return what was saturated in the hours of which each bucket had its threshold or more, the worst first.

    A bucket is left out where counters could say nothing of it, or no node of these hours told any.
    """
    share_by_bucket = {bucket: share for bucket, share in thresholds.items() if bucket in MAY_CAUSE}
    span = (None, None) if window is None else (window.starts_at, window.ends_at)
    saturations = saturation(nodes_while(share_by_bucket, run_ids, span))
    return {bucket: _causes_of_wait(bucket, of_nodes) for bucket, of_nodes in saturations.items()}


def _causes_of_wait(bucket: Bucket, node_saturation: Saturation) -> tuple[SaturatedResource, ...]:
    candidates = [_cause_of_wait(resource, node_saturation) for resource in MAY_CAUSE[bucket]]
    causes = [cause for cause in candidates if cause is not None]
    return tuple(sorted(causes, key=lambda cause: -cause.ratio))


def _cause_of_wait(resource: Resource, node_saturation: Saturation) -> SaturatedResource | None:
    if resource is Resource.STORAGE:
        return _stalled_cause(resource, "io", node_saturation.io_stalled_ratio) or _flow_cause(
            resource, "disk", node_saturation.disk
        )
    if resource is Resource.CPU:
        return _stalled_cause(resource, "cpu", node_saturation.cpu_stalled_ratio)
    if resource is Resource.MEMORY:
        return _stalled_cause(resource, "memory", node_saturation.memory_stalled_ratio)
    if resource is Resource.FABRIC:
        return _flow_cause(resource, "fabric", node_saturation.fabric)
    return _flow_cause(resource, "network", node_saturation.network)


def _stalled_cause(resource: Resource, name: str, ratio: float | None) -> SaturatedResource | None:
    if ratio is None or ratio < STALLED[name]:
        return None
    waited = {"cpu": "a CPU", "io": "disks", "memory": "memory"}[name]
    words = (
        f"{resource}: in {per_cent(ratio)} of that time some task of the node waited for {waited}"
    )
    return SaturatedResource(resource, ratio, words)


def _flow_cause(resource: Resource, name: str, flow: DeviceFlow | None) -> SaturatedResource | None:
    if flow is None or flow.of_most_ratio < FULL:
        return None
    if flow.bytes_per_second < LEAST_BYTES_PER_SECOND[name]:
        return None
    words = (
        f"{resource}: each node moved {short_count(flow.bytes_per_second)}B/s, "
        f"{per_cent(min(1.0, flow.of_most_ratio))} of the most it was ever seen to"
    )
    return SaturatedResource(resource, flow.of_most_ratio, words)
