"""Time one hour of windows of 10,000 GPUs to usage rows: `python bench/usage_probe.py`."""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from apps.economics.usage import WindowColumns, usage_of_hour

DEVICES = 10_000
MINUTES = 60
OVERLAPPING = 50


def windows() -> WindowColumns:
    """A window per device and minute in random order; one device in ten has a second holder."""
    draw = np.random.default_rng(1)
    device = np.repeat(np.arange(1, DEVICES + 1), MINUTES)
    start = np.tile(np.arange(MINUTES) * 60_000, DEVICES)
    holder = device % 3
    shared = device % 10 == 0
    device = np.concatenate([device, device[shared], device[shared]])
    start = np.concatenate([start, start[shared], start[shared]])
    holder = np.concatenate([np.where(shared, 0, holder), holder[shared] + 7, holder[shared] + 8])
    again = device <= OVERLAPPING
    device = np.concatenate([device, device[again]])
    start = np.concatenate([start, start[again] + 30_000])
    holder = np.concatenate([holder, holder[again]])
    order = draw.permutation(len(device))
    device, start, holder = device[order], start[order], holder[order]
    size = len(device)
    unknown = np.full(size, np.nan)
    return WindowColumns(
        device_id=device,
        holder_id=holder,
        start_ms=start,
        length_ms=np.full(size, 60_000),
        source=np.zeros(size, dtype=np.int64),
        boot=np.ones(size, dtype=np.int64),
        agent_id=device // 8,
        observed_seconds=np.full(size, 60.0),
        worked_seconds=draw.uniform(0, 60, size),
        sm_ratio=draw.uniform(0, 1, size),
        tensor_ratio=unknown,
        dram_ratio=unknown,
        energy_joules=draw.uniform(0, 42_000, size),
    )


def main() -> None:
    """Print seconds and rows."""
    columns = windows()
    for _ in range(3):
        began = time.perf_counter()
        rows = usage_of_hour(columns)
        seconds = time.perf_counter() - began
        print(f"{len(columns.device_id)} windows, {len(rows)} rows: {seconds:.3f} s")


if __name__ == "__main__":
    main()
