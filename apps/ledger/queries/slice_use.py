"""MIG slices of a size: how many there were, and how much of their time a job held them."""

from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class SliceUse:
    """A pool's slices of so many compute slices: how many, their hours in service, and those in which a job held one.

    `is_unclear`: jobs held parts of their machines of which nobody knows which.
    """

    pool_id: int
    compute_slices: int
    slices: int
    hours: float
    held_hours: float
    is_unclear: bool


def slice_use(starts_at: datetime, ends_at: datetime) -> list[SliceUse]:
    """Of every pool that has any in `[starts_at, ends_at)`. One statement."""
    return [SliceUse(*row) for row in rows(SLICES, {"from": starts_at, "to": ends_at})]


SLICES: LiteralString = """
SELECT node.pool_id, device.compute_slices, count(DISTINCT device.id)::int8,
       sum(extract(epoch FROM upper(lived.span) - lower(lived.span)) / 3600)::float8,
       sum(used.hours)::float8, bool_or(used.is_unclear)
FROM fleet_device_fact AS device
JOIN fleet_node_fact AS node ON node.id = device.node_id
CROSS JOIN LATERAL (SELECT device.period * tstzrange(%(from)s, %(to)s) AS span) AS lived
CROSS JOIN LATERAL (
    SELECT coalesce(sum(extract(epoch FROM upper(held.period * lived.span) - lower(held.period * lived.span)) / 3600)
                    FILTER (WHERE device.uuid = ANY(held.device_uuids)), 0)::float8 AS hours,
           coalesce(bool_or(held.device_uuids IS NULL), false) AS is_unclear
    FROM workloads_allocation_fact AS held
    WHERE held.node_id = device.node_id AND held.period && lived.span AND held.gpus_numerator > 0
) AS used
WHERE device.kind = 'mig' AND device.compute_slices IS NOT NULL AND device.period && tstzrange(%(from)s, %(to)s)
GROUP BY 1, 2 ORDER BY 1, 2
"""
