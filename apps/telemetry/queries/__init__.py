"""What the GPUs did, by hour, device and holder; and what could not be kept of it."""

from apps.telemetry.queries.holders import holder_ids, holder_keys
from apps.telemetry.queries.readings import DeviceHour, device_hours
from apps.telemetry.queries.remarks import RejectionCount, rejections_by_agent
from apps.telemetry.queries.usage import hours_of_holders, usage_of_hour, usage_rows
from apps.telemetry.queries.windows import windows_of_hour

__all__ = [
    "DeviceHour",
    "RejectionCount",
    "device_hours",
    "holder_ids",
    "holder_keys",
    "hours_of_holders",
    "rejections_by_agent",
    "usage_of_hour",
    "usage_rows",
    "windows_of_hour",
]
