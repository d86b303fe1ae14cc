"""How hard GPUs worked in some hours, whoever held them: by GPU, or by node."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal

from django.db import connection
from psycopg import sql

from apps.economics.gpu_meters import GpuMeters

# A device's own reading is one of its rows, and only it has meters. Where two sources told of its
# links the better counts.
METERS = """
WITH told AS (
    SELECT usage.device_id, usage.hour, max(usage.sm_seconds) AS sm,
           max(usage.sm_observed_seconds) AS sm_observed, max(usage.tensor_seconds) AS tensor,
           max(usage.tensor_observed_seconds) AS tensor_observed, max(usage.dram_seconds) AS dram,
           max(usage.dram_observed_seconds) AS dram_observed
    FROM telemetry_usagehour AS usage
    WHERE usage.hour >= %(from)s AND usage.hour < %(to)s AND usage.device_id IN (
        SELECT id FROM fleet_device_fact AS device WHERE {chosen})
    GROUP BY usage.device_id, usage.hour
), linked AS (
    SELECT DISTINCT ON (device_id, hour) device_id, hour, nvlink_bytes AS nvlink,
           pcie_bytes AS pcie, observed_seconds AS seconds
    FROM telemetry_devicehour
    WHERE hour >= %(from)s AND hour < %(to)s AND device_id IN (SELECT device_id FROM told)
      AND (nvlink_bytes IS NOT NULL OR pcie_bytes IS NOT NULL)
    ORDER BY device_id, hour, source
)
SELECT {key}, sum(sm), sum(sm_observed), sum(tensor), sum(tensor_observed), sum(dram),
       sum(dram_observed), sum(nvlink), sum(seconds) FILTER (WHERE nvlink IS NOT NULL),
       sum(pcie), sum(seconds) FILTER (WHERE pcie IS NOT NULL)
FROM told LEFT JOIN linked USING (device_id, hour)
JOIN fleet_device_fact AS device ON device.id = told.device_id
GROUP BY 1
"""
# Of a node its whole GPUs: slices are parts of them, and would count twice.
BY = {
    "device": (sql.SQL("device.id"), sql.SQL("device.id = ANY(%(ids)s)")),
    "node": (
        sql.SQL("device.node_id"),
        sql.SQL("device.node_id = ANY(%(ids)s) AND device.kind = 'gpu'"),
    ),
}


def meters_of(
    by: Literal["device", "node"], ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> dict[int, GpuMeters]:
    """Return what meters told in the hours of `[starts_at, ends_at)`; their GPU time is not said here."""
    key, chosen = BY[by]
    query = sql.SQL(METERS).format(key=key, chosen=chosen)
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute(
            query.as_string(connection.connection),
            {"ids": list(ids), "from": starts_at, "to": ends_at},
        )
        return {id_: GpuMeters(0, 0, 0, *sums) for id_, *sums in cursor.fetchall()}
