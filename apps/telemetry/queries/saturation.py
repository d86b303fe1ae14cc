"""How near to their limits nodes were in chosen hours, by their own counters."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import connection

SEEN_BEFORE = timedelta(days=30)
"""What a node was ever seen to move is looked for so far back."""

Named = TypeVar("Named", bound=Hashable)
NodeHours = Collection[tuple[int, datetime]]

# Where two sources told of one hour, the better counts alone. A flow is measured against the most
# that the same node was seen to move within one window. What is asked of has a number, its `place`.
SATURATION = """
WITH asked AS (
    SELECT DISTINCT * FROM unnest(%(places)s::int4[], %(nodes)s::int8[], %(hours)s::timestamptz[])
        AS asked (place, node_id, hour)
),
span AS (
    SELECT place, min(hour) - %(before)s AS since, max(hour) AS until FROM asked GROUP BY place
),
told AS (
    SELECT DISTINCT ON (asked.place, hours.node_id, hours.hour) asked.place, hours.*
    FROM telemetry_nodehour AS hours JOIN asked USING (node_id, hour)
    WHERE hours.hour >= %(from)s AND hours.hour <= %(to)s AND hours.observed_seconds > 0
    ORDER BY asked.place, hours.node_id, hours.hour, hours.source
),
most AS (
    SELECT place, node_id, max(fabric_peak) AS fabric, max(network_peak) AS network,
           max(disk_peak) AS disk
    FROM (SELECT DISTINCT place, node_id FROM asked) AS nodes
    JOIN span USING (place) JOIN telemetry_nodehour AS hours USING (node_id)
    WHERE hours.hour >= %(since)s AND hours.hour <= %(to)s
      AND hours.hour >= span.since AND hours.hour <= span.until
    GROUP BY place, node_id
)
SELECT told.place, count(*),
       sum(told.fabric_bytes) / nullif(sum(told.observed_seconds) FILTER (
           WHERE told.fabric_bytes IS NOT NULL), 0),
       sum(told.fabric_bytes) / nullif(sum(most.fabric * told.observed_seconds) FILTER (
           WHERE told.fabric_bytes IS NOT NULL), 0),
       sum(told.network_bytes) / nullif(sum(told.observed_seconds) FILTER (
           WHERE told.network_bytes IS NOT NULL), 0),
       sum(told.network_bytes) / nullif(sum(most.network * told.observed_seconds) FILTER (
           WHERE told.network_bytes IS NOT NULL), 0),
       sum(moved.bytes) / nullif(sum(told.observed_seconds) FILTER (
           WHERE moved.bytes IS NOT NULL), 0),
       sum(moved.bytes) / nullif(sum(most.disk * told.observed_seconds) FILTER (
           WHERE moved.bytes IS NOT NULL), 0),
       sum(told.cpu_stalled_seconds) / nullif(sum(told.observed_seconds) FILTER (
           WHERE told.cpu_stalled_seconds IS NOT NULL), 0),
       sum(told.io_stalled_seconds) / nullif(sum(told.observed_seconds) FILTER (
           WHERE told.io_stalled_seconds IS NOT NULL), 0),
       sum(told.memory_stalled_seconds) / nullif(sum(told.observed_seconds) FILTER (
           WHERE told.memory_stalled_seconds IS NOT NULL), 0)
FROM told LEFT JOIN most USING (place, node_id)
CROSS JOIN LATERAL (SELECT told.disk_read_bytes + told.disk_written_bytes) AS moved (bytes)
GROUP BY told.place
"""


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """The bytes that a node moved in a second, in the mean, and that as a part of the most it ever moved."""

    bytes_per_second: float
    of_most_ratio: float


@dataclass(frozen=True, slots=True)
class Saturation:
    """Of `node_hours` that were told of; None is what none of them told.

    A stall is the part of the time in which some task of the node waited for that resource.
    """

    node_hours: int
    fabric: DeviceFlow | None
    network: DeviceFlow | None
    disk: DeviceFlow | None
    cpu_stalled_ratio: float | None
    io_stalled_ratio: float | None
    memory_stalled_ratio: float | None


def saturation(hours_by_name: Mapping[Named, NodeHours]) -> dict[Named, Saturation]:
    """Of each of these nodes in these hours, together; what nothing was told of is left out."""
    names = list(hours_by_name)
    rows = [
        (place, node_id, hour)
        for place, name in enumerate(names)
        for node_id, hour in hours_by_name[name]
    ]
    if not rows:
        return {}
    places, nodes, hours = map(list, zip(*rows, strict=True))
    first, last = min(hours), max(hours)
    span = {"from": first, "to": last, "since": first - SEEN_BEFORE, "before": SEEN_BEFORE}
    with connection.cursor() as cursor:
        cursor.execute(SATURATION, {"places": places, "nodes": nodes, "hours": hours, **span})
        return {names[place]: _saturation_of(*figures) for place, *figures in cursor}


def _saturation_of(node_hours: int, *ratios: float | None) -> Saturation:
    fabric, fabric_of, network, network_of, disk, disk_of, cpu, io, memory = ratios
    return Saturation(
        node_hours=node_hours,
        fabric=_flow_of_most(fabric, fabric_of),
        network=_flow_of_most(network, network_of),
        disk=_flow_of_most(disk, disk_of),
        cpu_stalled_ratio=cpu,
        io_stalled_ratio=io,
        memory_stalled_ratio=memory,
    )


def _flow_of_most(rate: float | None, of_most: float | None) -> DeviceFlow | None:
    return None if rate is None or of_most is None else DeviceFlow(rate, of_most)
