"""How near to their limits nodes were in chosen hours, by their own counters."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

SEEN_BEFORE = timedelta(days=30)
"""What a node was ever seen to move is looked for so far back."""

# Where two sources told of one hour, the better counts alone. A flow is measured against the most
# that the same node was seen to move within one window.
SATURATION = """
WITH asked AS (
    SELECT DISTINCT * FROM unnest(%(nodes)s::int8[], %(hours)s::timestamptz[]) AS asked (node_id, hour)
),
told AS (
    SELECT DISTINCT ON (hours.node_id, hours.hour) hours.*
    FROM telemetry_nodehour AS hours JOIN asked USING (node_id, hour)
    WHERE hours.hour >= %(from)s AND hours.hour <= %(to)s AND hours.observed_seconds > 0
    ORDER BY hours.node_id, hours.hour, hours.source
),
most AS (
    SELECT node_id, max(fabric_peak) AS fabric, max(network_peak) AS network, max(disk_peak) AS disk
    FROM telemetry_nodehour
    WHERE node_id IN (SELECT node_id FROM asked) AND hour >= %(since)s AND hour <= %(to)s
    GROUP BY node_id
)
SELECT count(*),
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
FROM told LEFT JOIN most USING (node_id)
CROSS JOIN LATERAL (SELECT told.disk_read_bytes + told.disk_written_bytes) AS moved (bytes)
"""


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """What a node moved in a second, in the mean, and that as a part of the most it ever moved."""

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


def saturation(node_hours: Collection[tuple[int, datetime]]) -> Saturation | None:
    """Of these nodes in these hours, together; None where nothing was told of any."""
    if not node_hours:
        return None
    first, last = min(hour for _, hour in node_hours), max(hour for _, hour in node_hours)
    nodes, hours = [node_id for node_id, _ in node_hours], [hour for _, hour in node_hours]
    span = {"from": first, "to": last, "since": first - SEEN_BEFORE}
    with connection.cursor() as cursor:
        cursor.execute(SATURATION, {"nodes": nodes, "hours": hours, **span})
        count, fabric, fabric_of, network, network_of, disk, disk_of, *stalls = cursor.fetchone()
    if not count:
        return None
    cpu, io, memory = stalls
    return Saturation(
        node_hours=count,
        fabric=_flow_of_most(fabric, fabric_of),
        network=_flow_of_most(network, network_of),
        disk=_flow_of_most(disk, disk_of),
        cpu_stalled_ratio=cpu,
        io_stalled_ratio=io,
        memory_stalled_ratio=memory,
    )


def _flow_of_most(rate: float | None, of_most: float | None) -> DeviceFlow | None:
    return None if rate is None or of_most is None else DeviceFlow(rate, of_most)
