"""The machine's own NVIDIA driver: the agent reads what nvidia-smi reads; what calls cost is kept.

Skipped where there is none. With $RUNRATE_GPU_FIGURES the figures are written there as JSON.
"""

import json
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import pynvml
import pytest

from runrate_agent.nvml.source import NvmlSource

CALLS = 50
SLOW_SECONDS = 0.02


def _gpus() -> int:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        return int(pynvml.nvmlDeviceGetCount())
    finally:
        pynvml.nvmlShutdown()


pytestmark = [
    pytest.mark.skipif(_gpus() == 0, reason="no NVIDIA GPU with a driver is in this machine"),
]


@pytest.fixture(scope="module")
def frame():
    source = NvmlSource(2.0, start_seconds=60.0)
    found, last = [], time.monotonic() + 90
    while len(found) < 2:
        assert time.monotonic() < last, source.state
        told = source.frame()
        if told is not None and told.readings:
            found.append(told)
    source.close()
    return found[-1]


def test_the_agent_reads_what_nvidia_smi_reads(frame):
    if shutil.which("nvidia-smi") is None:
        pytest.skip("no NVIDIA GPU tool nvidia-smi beside the driver")
    asked = "uuid,name,temperature.gpu,memory.used"
    told = subprocess.run(
        ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    rows = {row[0]: row for row in (line.split(", ") for line in told.splitlines())}
    whole = {each.uuid: each for each in frame.devices if not each.is_slice}

    assert {uuid: each.model for uuid, each in whole.items()} == {
        uuid: row[1] for uuid, row in rows.items()
    }
    for reading in (each for each in frame.readings if each.uuid in whole):
        row = rows[reading.uuid]
        if row[2].isdigit() and reading.temperature_celsius is not None:
            assert abs(reading.temperature_celsius - int(row[2])) <= 10
        if row[3].isdigit() and reading.memory_used_bytes is not None:
            assert abs(reading.memory_used_bytes - (int(row[3]) << 20)) <= 2 << 30


def test_no_reading_is_out_of_bounds(frame):
    for each in frame.readings:
        assert 0 < each.covered_seconds <= 2.2
        for ratio in (each.graphics_ratio, each.sm_ratio, each.tensor_ratio, each.dram_ratio):
            assert ratio is None or 0 <= ratio <= 1
        assert each.worked_seconds is None or 0 <= each.worked_seconds <= each.covered_seconds
        watts = None if each.energy_joules is None else each.energy_joules / each.covered_seconds
        assert watts is None or 0 < watts < 2_000


def test_no_call_of_each_second_takes_long_and_what_they_cost_is_written_down():
    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        calls = {
            "running_processes": lambda: pynvml.nvmlDeviceGetComputeRunningProcesses_v3(handle),
            "clock_reasons": lambda: pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle),
            "utilization": lambda: pynvml.nvmlDeviceGetUtilizationRates(handle),
            "energy": lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle),
            "memory": lambda: pynvml.nvmlDeviceGetMemoryInfo(handle),
            "process_utilization": lambda: pynvml.nvmlDeviceGetProcessUtilization(handle, 0),
        }
        figures = {name: _cost(call) for name, call in calls.items()}
        about = {
            "driver": pynvml.nvmlSystemGetDriverVersion(),
            "gpu": pynvml.nvmlDeviceGetName(handle),
        }
    finally:
        pynvml.nvmlShutdown()

    if os.environ.get("RUNRATE_GPU_FIGURES"):
        path = Path(os.environ["RUNRATE_GPU_FIGURES"])
        path.write_text(json.dumps({**about, "calls": figures}, indent=2) + "\n")
    for name in ("running_processes", "clock_reasons"):
        if figures[name] is not None:
            assert figures[name]["p50_us"] < SLOW_SECONDS * 1e6, (name, figures[name])


def _cost(call):
    """Microseconds of a call and of computing in it; None where the GPU has no such thing."""
    walls, began = [], time.thread_time()
    for _ in range(CALLS):
        at = time.perf_counter()
        try:
            call()
        except pynvml.NVMLError as refused:
            if refused.value != pynvml.NVML_ERROR_NOT_FOUND:
                return None
        walls.append((time.perf_counter() - at) * 1e6)
    cpu = (time.thread_time() - began) / CALLS * 1e6
    return {
        "p50_us": round(statistics.median(walls), 1),
        "p99_us": round(sorted(walls)[int(CALLS * 0.99) - 1], 1),
        "cpu_us": round(cpu, 1),
    }
