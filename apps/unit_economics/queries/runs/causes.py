"""What of their nodes was used up while GPUs waited, by the nodes' own counters."""

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
    """What of a node was used up while its GPUs waited."""

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
    """What was saturated in the hours of which each bucket had its threshold or more, the worst first.

    A bucket is left out where counters could say nothing of it, or no node of these hours told any.
    """
    asked = {bucket: share for bucket, share in thresholds.items() if bucket in MAY_CAUSE}
    span = (None, None) if window is None else (window.starts_at, window.ends_at)
    seen = saturation(nodes_while(asked, run_ids, span))
    return {bucket: _causes_of_wait(bucket, of_nodes) for bucket, of_nodes in seen.items()}


def _causes_of_wait(bucket: Bucket, seen: Saturation) -> tuple[SaturatedResource, ...]:
    found = [_cause_of_wait(resource, seen) for resource in MAY_CAUSE[bucket]]
    known = [cause for cause in found if cause is not None]
    return tuple(sorted(known, key=lambda each: -each.ratio))


def _cause_of_wait(resource: Resource, seen: Saturation) -> SaturatedResource | None:
    if resource is Resource.STORAGE:
        return _stalled_cause(resource, "io", seen.io_stalled_ratio) or _flow_cause(
            resource, "disk", seen.disk
        )
    if resource is Resource.CPU:
        return _stalled_cause(resource, "cpu", seen.cpu_stalled_ratio)
    if resource is Resource.MEMORY:
        return _stalled_cause(resource, "memory", seen.memory_stalled_ratio)
    if resource is Resource.FABRIC:
        return _flow_cause(resource, "fabric", seen.fabric)
    return _flow_cause(resource, "network", seen.network)


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
