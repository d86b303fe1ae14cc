"""GPU performance monitoring, on Hopper and newer: means between two samples of a GPU or slice."""

from __future__ import annotations

from typing import Any

import pynvml

from runrate_agent.nvml.calls import Calls

GRAPHICS, SM, TENSOR, DRAM = 1, 2, 5, 10
PCIE_SENT, PCIE_RECEIVED = 20, 21
NVLINK_RECEIVED, NVLINK_SENT = 60, 61
METRICS = (
    GRAPHICS,
    SM,
    TENSOR,
    DRAM,
    PCIE_SENT,
    PCIE_RECEIVED,
    NVLINK_RECEIVED,
    NVLINK_SENT,
)
# NVML refuses two samples that are closer together.
SHORTEST_SECONDS = 0.1


def is_supported(calls: Calls, handle: Any) -> bool:
    """Whether this GPU has it at all."""
    found = calls.ask(pynvml.nvmlGpmQueryDeviceSupport, handle)
    return bool(found is not None and found.isSupportedDevice)


# 19 kB: one is enough for all GPUs, which are read one after the other.
_ASKED = pynvml.c_nvmlGpmMetricsGet_t()
_ASKED.version = pynvml.NVML_GPM_METRICS_GET_VERSION


class Gpm:
    """Two samples of a GPU, or of one of its instances, that take turns."""

    def __init__(self, calls: Calls, handle: Any, instance: int | None = None) -> None:
        self._calls, self._handle, self._instance = calls, handle, instance
        self._before = calls.ask(pynvml.nvmlGpmSampleAlloc)
        self._now = calls.ask(pynvml.nvmlGpmSampleAlloc)
        self._taken_at: float | None = None

    def read(self, at_seconds: float) -> dict[int, float]:
        """By metric id, the means since the last reading; per cent or MiB a second."""
        if self._before is None or self._now is None:
            return {}
        if self._taken_at is not None and at_seconds - self._taken_at < SHORTEST_SECONDS:
            return {}
        if not self._sample():
            self._taken_at = None
            return {}
        is_first, self._taken_at = self._taken_at is None, at_seconds
        self._before, self._now = self._now, self._before
        return {} if is_first else self._means()

    def close(self) -> None:
        """Give the samples back."""
        for sample in (self._before, self._now):
            if sample is not None:
                self._calls.ask(pynvml.nvmlGpmSampleFree, sample)

    def _sample(self) -> bool:
        calls, into = self._calls, self._now
        if self._instance is None:
            return calls.ask(pynvml.nvmlGpmSampleGet, self._handle, into) is not None
        taken = calls.ask(pynvml.nvmlGpmMigSampleGet, self._handle, self._instance, into)
        return taken is not None

    def _means(self) -> dict[int, float]:
        # After the swap `_before` is the newer sample.
        asked = _ASKED
        asked.numMetrics = len(METRICS)
        asked.sample1, asked.sample2 = self._now, self._before
        for place, metric in enumerate(METRICS):
            asked.metrics[place].metricId = metric
        if self._calls.ask(pynvml.nvmlGpmMetricsGet, asked) is None:
            return {}
        return {
            metric: float(asked.metrics[place].value)
            for place, metric in enumerate(METRICS)
            if asked.metrics[place].nvmlReturn == pynvml.NVML_SUCCESS
            and asked.metrics[place].value == asked.metrics[place].value
        }
