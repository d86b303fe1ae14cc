"""The process that asks NVML: `python -m runrate_agent.nvml.child SPAN`; a line of JSON a second.

It has no other work, so that a call that hangs takes nothing else with it: whoever reads its lines
kills it. Lines are {"tick": …} each second and {"frame": …} at the end of each span of SPAN seconds
of the wall clock; {"gone": state, "code": …} is the last one.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import time
from dataclasses import fields
from typing import Any

import pynvml

from runrate_agent.frames import DeviceReading, ProcessReading
from runrate_agent.nvml.calls import Calls, DeviceLost, DriverGone
from runrate_agent.nvml.node import Node, bus_ids, gpu_instances, minors

TICK_SECONDS = 1.0
CLOCK_STEP_SECONDS = 0.5
PR_SET_PDEATHSIG = 1
STATE_OF = {
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver_mismatch",
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "driver_missing",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "driver_missing",
    pynvml.NVML_ERROR_NO_PERMISSION: "driver_refuses",
}
READING = tuple(
    each.name for each in fields(DeviceReading) if each.name not in ("processes", "holders")
)


def main(span_seconds: float) -> int:
    """Ask until the driver is gone or nobody reads any more."""
    _die_with_parent()
    calls = Calls()
    try:
        calls.ask(pynvml.nvmlInit)
        if calls.code != pynvml.NVML_SUCCESS:
            raise DriverGone(calls.code)
        _run(calls, span_seconds)
    except (DriverGone, DeviceLost) as gone:
        _say({"gone": STATE_OF.get(gone.code, "driver_unresponsive"), "code": gone.code})
        return 3
    except BrokenPipeError:
        return 0
    return 0


def _die_with_parent() -> None:
    """A pipe that nobody reads ends a child that writes; one that hangs in a call never does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _run(calls: Calls, span_seconds: float) -> None:
    driver = calls.ask(pynvml.nvmlSystemGetDriverVersion) or ""
    node = Node(calls)
    began, steady = time.time(), time.monotonic()
    node.start(int(began * 1000), time.monotonic())
    gc.collect()
    gc.freeze()
    last, since, ends = began, began, _span_end(began, span_seconds)
    _say({"tick": [], "driver": driver})
    while True:
        # A clock that was set back meanwhile must not make it a long sleep.
        time.sleep(min(TICK_SECONDS, max(0.0, min(last + TICK_SECONDS, ends) - time.time())))
        now, steady_before, steady = time.time(), steady, time.monotonic()
        if abs((now - last) - (steady - steady_before)) > CLOCK_STEP_SECONDS:
            # The wall clock was set: the span begins anew.
            since, ends, last = now, _span_end(now, span_seconds), now
            node.clock_set(int(now * 1000), steady)
            _say({"tick": []})
            continue
        _say({"tick": node.tick(int(now * 1000), now - last)})
        last = now
        if now >= ends:
            frame = _frame(node, (since, now), calls)
            _say({"frame": frame})
            since, ends = now, _span_end(now, span_seconds)


def _frame(node: Node, span: tuple[float, float], calls: Calls) -> dict[str, Any]:
    since, now = span
    span_us = int(since * 1_000_000), int(now * 1_000_000)
    at_seconds = time.monotonic()
    records, readings, events = node.taken(at_seconds, span_us, now - since)
    gpus = list(node.gpus.values())
    return {
        "at_ms": int(now * 1000),
        "monotonic": at_seconds,
        "devices": [_slots(each) for each in records],
        "readings": [_reading(each) for each in readings],
        "events": [_slots(each) for each in events],
        "minors": minors(gpus),
        "bus_ids": bus_ids(gpus),
        "gpu_instances": gpu_instances(gpus),
        "calls": calls.count,
        "cpu_seconds": sum(os.times()[:2]),
    }


def _reading(reading: DeviceReading) -> dict[str, Any]:
    """Without what is unknown; numbers as short as they mean something."""
    told = {name: _short(getattr(reading, name)) for name in READING}
    kept = {name: value for name, value in told.items() if value is not None}
    if reading.processes is not None:
        kept["processes"] = [_process(each) for each in reading.processes]
    return kept


def _process(each: ProcessReading) -> list[Any]:
    return [each.pid, _short(each.sm_ratio), each.memory_bytes]


def _short(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _slots(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _span_end(now: float, span_seconds: float) -> float:
    """The next full span of the wall clock."""
    return (now // span_seconds + 1) * span_seconds


def _say(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told, separators=(",", ":")) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        status = main(float(sys.argv[1]))
    except KeyboardInterrupt:
        status = 0
    # NVML may be stuck in another thread's call: leave without asking it anything more.
    os._exit(status)
