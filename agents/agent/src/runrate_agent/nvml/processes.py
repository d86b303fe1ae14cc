"""Which processes are on a GPU, and what share of its time each took, summed over a span."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pynvml

from runrate_agent.compat import SLOTS
from runrate_agent.frames import ProcessReading
from runrate_agent.nvml.calls import Calls

NO_INSTANCE = 0xFFFFFFFF
WHOLE = (NO_INSTANCE, NO_INSTANCE)
Instance = tuple[int, int]
MICROSECONDS = 1_000_000


@dataclass(**SLOTS)
class _Seen:
    """What a process did in the span; `sm_seconds` None: nothing says."""

    instance: Instance
    sm_seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(**SLOTS)
class Processes:
    """The processes of one GPU over the span since the last `taken`."""

    seen: dict[int, _Seen] = field(default_factory=dict)
    _last_us: int = 0
    _accounted: set[int] = field(default_factory=set)
    _is_accounting: bool | None = None
    _is_listed: bool = False
    _is_old: bool = False
    _has_mps: bool = True

    def tick(self, calls: Calls, handle: Any, seconds: float, *, is_mig: bool) -> list[int]:
        """Look once; the pids that were not there before in this span."""
        running = self._with_mps(self._running(calls, handle), calls, handle)
        self._is_listed = self._is_listed or running is not None
        new = []
        for process in running or ():
            instance = (process.gpuInstanceId, process.computeInstanceId) if is_mig else WHOLE
            if process.pid not in self.seen:
                self.seen[process.pid] = _Seen(instance)
                new.append(int(process.pid))
            self.seen[process.pid].memory_bytes = process.usedGpuMemory
        if running and not is_mig:
            self._share(calls, handle, seconds)
        return new

    def accounted(self, calls: Calls, handle: Any, since_us: int, until_us: int) -> list[int]:
        """Add those that lived and died unseen in the span, as the driver's accounting has them."""
        if self._is_accounting is None:
            mode = calls.ask(pynvml.nvmlDeviceGetAccountingMode, handle)
            self._is_accounting = mode == pynvml.NVML_FEATURE_ENABLED
        if not self._is_accounting:
            return []
        pids = calls.ask(pynvml.nvmlDeviceGetAccountingPids, handle) or []
        new = [pid for pid in pids if pid not in self._accounted and pid not in self.seen]
        self._accounted = set(pids)
        return [pid for pid in new if self._account(calls, handle, pid, (since_us, until_us))]

    def clock_set(self, now_us: int) -> None:
        """As for the samples of the GPU's work."""
        self._last_us, self.seen = now_us, {}

    def taken(self, covered_seconds: float) -> Mapping[Instance, tuple[ProcessReading, ...]] | None:
        """What was seen by instance (WHOLE where there are none), and a new span begins.

        None where the driver lists no processes: nobody knows of any.
        """
        is_known, self._is_listed = self._is_listed or bool(self.seen), False
        if not is_known:
            return None
        found: dict[Instance, list[ProcessReading]] = {}
        for pid, seen in self.seen.items():
            found.setdefault(seen.instance, []).append(_reading(pid, seen, covered_seconds))
        self.seen = {}
        return {instance: tuple(readings) for instance, readings in found.items()}

    def _running(self, calls: Calls, handle: Any) -> list[Any] | None:
        """Drivers before 510 know only the second form of the call."""
        if not self._is_old:
            found = calls.ask(pynvml.nvmlDeviceGetComputeRunningProcesses_v3, handle)
            self._is_old = calls.code == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
            if not self._is_old:
                return found
        return calls.ask(pynvml.nvmlDeviceGetComputeRunningProcesses_v2, handle)

    def _with_mps(self, running: list[Any] | None, calls: Calls, handle: Any) -> list[Any] | None:
        """And the clients of a Multi-Process Service, which the driver lists apart."""
        if running is None or not self._has_mps:
            return running
        clients = calls.ask(pynvml.nvmlDeviceGetMPSComputeRunningProcesses_v3, handle)
        # A GPU or a driver that has no such list is not asked again.
        self._has_mps = clients is not None
        listed = {each.pid for each in running}
        return [*running, *(each for each in clients or () if each.pid not in listed)]

    def _share(self, calls: Calls, handle: Any, seconds: float) -> None:
        samples = calls.ask(pynvml.nvmlDeviceGetProcessUtilization, handle, self._last_us)
        if samples is None and calls.code != pynvml.NVML_ERROR_NOT_FOUND:
            return
        # Only processes that did something are sampled: no sample at all is an idle GPU.
        ratios = _ratios(samples or ())
        if samples:
            self._last_us = max(self._last_us, *(int(each.timeStamp) for each in samples))
        for pid, seen in self.seen.items():
            seen.sm_seconds = (seen.sm_seconds or 0.0) + ratios.get(pid, 0.0) * seconds

    def _account(self, calls: Calls, handle: Any, pid: int, span_us: tuple[int, int]) -> bool:
        stats = calls.ask(pynvml.nvmlDeviceGetAccountingStats, handle, pid)
        if stats is None or stats.isRunning or not span_us[0] <= stats.startTime < span_us[1]:
            return False
        lived_seconds = stats.time / 1000
        self.seen[pid] = _Seen(
            WHOLE,
            sm_seconds=lived_seconds * min(stats.gpuUtilization, 100) / 100,
            memory_bytes=stats.maxMemoryUsage,
        )
        return True


def _ratios(samples: Iterable[Any]) -> dict[int, float]:
    """Each process's mean SM share over its samples; per cent that are none are left out."""
    shares: dict[int, list[float]] = {}
    for sample in samples:
        if sample.smUtil <= 100:
            shares.setdefault(int(sample.pid), []).append(sample.smUtil / 100)
    return {pid: sum(each) / len(each) for pid, each in shares.items()}


def _reading(pid: int, seen: _Seen, covered_seconds: float) -> ProcessReading:
    ratio = None
    if seen.sm_seconds is not None and covered_seconds > 0:
        ratio = min(1.0, seen.sm_seconds / covered_seconds)
    return ProcessReading(pid=pid, sm_ratio=ratio, memory_bytes=seen.memory_bytes)
