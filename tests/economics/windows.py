"""Short words for windows: seconds in, quarter-seconds out."""

from collections.abc import Iterable, Mapping
from math import nan

import numpy as np

from apps.economics.usage import UsageRow, WindowColumns, usage_of_hour

DEFAULTS = {
    "device_id": 1,
    "holder_id": 0,
    "start_ms": 0,
    "length_ms": 60_000,
    "source": 1,
    "boot": 1,
    "agent_id": 1,
    "observed_seconds": nan,
    "worked_seconds": 0.0,
    "sm_ratio": nan,
    "tensor_ratio": nan,
    "dram_ratio": nan,
    "energy_joules": nan,
}
WHOLE_NUMBERS = ("device_id", "holder_id", "start_ms", "length_ms", "source", "boot", "agent_id")


def window(**given: float) -> Mapping[str, float]:
    """The first minute of device 1, idle, seen throughout, unless told otherwise."""
    return DEFAULTS | given


def columns(windows: Iterable[Mapping[str, float]]) -> WindowColumns:
    """Windows side by side."""
    rows = list(windows)
    return WindowColumns(
        **{
            name: np.array(
                [row[name] for row in rows],
                dtype=np.int64 if name in WHOLE_NUMBERS else np.float64,
            )
            for name in DEFAULTS
        }
    )


def usage(*windows: Mapping[str, float]) -> list[UsageRow]:
    """Usage rows of these windows."""
    return usage_of_hour(columns(windows))


def told(row: UsageRow) -> tuple[int, int, dict[int, tuple[int, int]]]:
    """Device, holder, and observed and worked quarter-seconds of each minute that has any."""
    seen = {
        minute: (observed, worked)
        for minute, (observed, worked) in enumerate(zip(row.observed, row.worked, strict=True))
        if observed or worked
    }
    return row.device_id, row.holder_id, seen
