"""How much memory was used on GPUs, and how much they worked, while somebody held them: from windows, as long as they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

# Of an hour by holder, then of the GPU: its own reading (holder 0), without one its holders together,
# which is no less than they used at once. Then of all hours of a place.
SEEN = """
WITH asked AS (
    SELECT * FROM unnest(%(places)s::int4[], %(devices)s::int4[], %(since)s::timestamptz[],
                         %(until)s::timestamptz[]) AS asked (place, device_id, since, until)
), told AS (
    SELECT asked.place, seen.device_id, seen.holder_id, date_trunc('hour', seen.starts_at, 'UTC') AS hour,
           max(seen.memory_used_bytes) AS memory,
           sum(seen.observed_seconds::float8) FILTER (WHERE seen.memory_used_bytes IS NOT NULL) AS seconds,
           sum(seen.worked_seconds::float8) AS worked,
           sum(seen.observed_seconds::float8) FILTER (WHERE seen.worked_seconds IS NOT NULL) AS watched
    FROM asked JOIN telemetry_window AS seen ON seen.device_id = asked.device_id
         AND seen.starts_at >= asked.since AND seen.starts_at < asked.until
    WHERE seen.starts_at >= %(first)s AND seen.starts_at < %(last)s
    GROUP BY 1, 2, 3, 4
), hours AS (
    SELECT place, device_id, hour,
           coalesce(max(memory) FILTER (WHERE holder_id = 0), sum(memory)) AS memory,
           coalesce(max(seconds) FILTER (WHERE holder_id = 0), max(seconds)) AS seconds,
           coalesce(max(worked / nullif(watched, 0)) FILTER (WHERE holder_id = 0),
                    sum(worked) / nullif(max(watched), 0)) AS worked
    FROM told GROUP BY 1, 2, 3
)
SELECT place, max(memory)::int8,
       coalesce(sum(least(3600, seconds)) FILTER (WHERE seconds IS NOT NULL), 0)::float8,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY least(1, worked))
           FILTER (WHERE worked IS NOT NULL)
FROM hours GROUP BY place
"""


@dataclass(frozen=True, slots=True)
class HeldDevice:
    """A GPU that `place` (whoever is asked about) held in `[starts_at, ends_at)`."""

    place: int
    device_id: int
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The most bytes used on one GPU, the GPU-seconds in which memory was seen, and the part of an hour worked.

    `worked_ratio` is the 95th percentile of GPUs' hours. None: nothing told it.
    """

    memory_bytes: int | None
    seen_seconds: float
    worked_ratio: float | None


def gpu_use(devices: Sequence[HeldDevice]) -> dict[int, GpuUse]:
    """By place, of all its GPUs together; no entry: no window of them is kept. One statement."""
    if not devices:
        return {}
    params: dict[str, Any] = {
        "places": [device.place for device in devices],
        "devices": [device.device_id for device in devices],
        "since": [device.starts_at for device in devices],
        "until": [device.ends_at for device in devices],
        "first": min(device.starts_at for device in devices),
        "last": max(device.ends_at for device in devices),
    }
    with connection.cursor() as cursor:
        cursor.execute(SEEN, params)
        return {place: GpuUse(*figures) for place, *figures in cursor.fetchall()}
