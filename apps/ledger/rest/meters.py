"""GPU utilization of held time, by REST."""

from typing import Any

from rest_framework import serializers

from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR_MS

DIGITS = 6


class MetersOut(serializers.Serializer[Any]):
    """Readings of GPU meters in the time that jobs held; null where none reported.

    Activity is of the time its meter reported, `sm_coverage_ratio` how much of the held time that is.
    Links are of one GPU, both directions.
    """

    held_gpu_hours = serializers.FloatField()
    active_ratio = serializers.FloatField(
        allow_null=True, help_text="of the held time that was observed, with a kernel resident"
    )
    sm_active_ratio = serializers.FloatField(allow_null=True)
    tensor_active_ratio = serializers.FloatField(allow_null=True)
    dram_active_ratio = serializers.FloatField(allow_null=True)
    nvlink_bytes_per_second = serializers.FloatField(allow_null=True)
    pcie_bytes_per_second = serializers.FloatField(allow_null=True)
    sm_coverage_ratio = serializers.FloatField(allow_null=True)


COLUMNS = tuple(str(name) for name in MetersOut().fields)
RATIOS = COLUMNS[1:]


def meters_answer(meters: GpuMeters | None) -> dict[str, Any] | None:
    """As it is answered; None where no GPU time is known to have been held."""
    if meters is None or not meters.gpu_milliseconds:
        return None
    serialized: dict[str, Any] = {
        "held_gpu_hours": round(meters.gpu_milliseconds / HOUR_MS, DIGITS)
    }
    for name in RATIOS:
        value = getattr(meters, name)
        serialized[name] = None if value is None else round(value, DIGITS)
    return serialized


EXAMPLE = {
    "held_gpu_hours": 3.0,
    "active_ratio": 0.62,
    "sm_active_ratio": 0.4,
    "tensor_active_ratio": 0.21,
    "dram_active_ratio": 0.33,
    "nvlink_bytes_per_second": 41000000000.0,
    "pcie_bytes_per_second": 310000000.0,
    "sm_coverage_ratio": 0.85,
}
