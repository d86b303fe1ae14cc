"""Evidence that explains the hours of devices and nodes: heat, clocks, throttling, links, stalls."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

# Where two sources told of one hour, the better counts alone: together they would count twice.
DEVICES = """
SELECT DISTINCT ON (device_id, hour) device_id, hour, observed_seconds,
       temperature_sum / nullif(temperature_seconds, 0), temperature_peak,
       clock_sum / nullif(clock_seconds, 0), graphics_sum / nullif(graphics_seconds, 0),
       power_capped_seconds, thermal_seconds, hardware_slowed_seconds,
       pcie_bytes, nvlink_bytes, ecc_corrected, ecc_uncorrected
FROM telemetry_devicehour
WHERE hour >= %s AND hour < %s AND device_id = ANY(%s) ORDER BY device_id, hour, source
"""
NODES = """
SELECT DISTINCT ON (hour) hour, observed_seconds, fabric_bytes, fabric_peak, fabric_errors,
       network_bytes, network_peak, network_errors, disk_read_bytes, disk_written_bytes, disk_peak,
       cpu_stalled_seconds, io_stalled_seconds, memory_stalled_seconds
FROM telemetry_nodehour
WHERE hour >= %s AND hour < %s AND node_id = %s ORDER BY hour, source
"""


@dataclass(frozen=True, slots=True)
class DeviceEvidence:
    """An hour of a device; None is what it never told. Bytes, seconds and errors are sums."""

    device_id: int
    hour: datetime
    observed_seconds: float
    temperature_celsius: float | None
    temperature_peak_celsius: float | None
    sm_clock_mhz: float | None
    graphics_ratio: float | None
    power_capped_seconds: float | None
    thermal_seconds: float | None
    hardware_slowed_seconds: float | None
    pcie_bytes: float | None
    nvlink_bytes: float | None
    ecc_corrected: float | None
    ecc_uncorrected: float | None


@dataclass(frozen=True, slots=True)
class NodeHourEvidence:
    """An hour of a node; None is what it never told. A peak is the most per second of a window."""

    hour: datetime
    observed_seconds: float
    fabric_bytes: float | None
    fabric_peak_bytes_per_second: float | None
    fabric_errors: float | None
    network_bytes: float | None
    network_peak_bytes_per_second: float | None
    network_errors: float | None
    disk_read_bytes: float | None
    disk_written_bytes: float | None
    disk_peak_bytes_per_second: float | None
    cpu_stalled_seconds: float | None
    io_stalled_seconds: float | None
    memory_stalled_seconds: float | None


def device_evidence(
    device_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[DeviceEvidence]:
    """The hours of `[starts_at, ends_at)` that were reported, by device and hour."""
    with connection.cursor() as cursor:
        cursor.execute(DEVICES, [starts_at, ends_at, list(device_ids)])
        return [DeviceEvidence(*row) for row in cursor.fetchall()]


def node_hours(node_id: int, starts_at: datetime, ends_at: datetime) -> list[NodeHourEvidence]:
    """The hours of `[starts_at, ends_at)` that were reported, in order."""
    with connection.cursor() as cursor:
        cursor.execute(NODES, [starts_at, ends_at, node_id])
        return [NodeHourEvidence(*row) for row in cursor.fetchall()]
