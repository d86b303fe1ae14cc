"""How much of its time a GPU worked: from NVML's own sample buffer, else from what it says now."""

from __future__ import annotations

import time
from typing import Any

import pynvml

from runrate_agent.nvml.calls import Calls

MICROSECONDS = 1_000_000
# The buffer holds some 16 seconds; asked twice as often, nothing is lost.
POLLED_EVERY = 5
TRIES = 2
LONGEST_GAP_US = 5 * MICROSECONDS


class Work:
    """The share of the span since the last `taken` in which a kernel was resident."""

    def __init__(self) -> None:
        self._ticks = 0
        self._misses = 0
        self._has_buffer: bool | None = None
        # What the buffer holds of the time before the first look is nobody's.
        self._last_us = now_us()
        self._busy = 0.0
        self._sampled = 0.0

    def tick(self, calls: Calls, handle: Any, seconds: float) -> None:
        """Each second: the buffer every few of them, else the last reading stands for the second."""
        self._ticks += 1
        if self._has_buffer is None or (self._has_buffer and self._ticks % POLLED_EVERY == 0):
            self._poll(calls, handle)
        if self._has_buffer:
            return
        rates = calls.ask(pynvml.nvmlDeviceGetUtilizationRates, handle)
        if rates is not None and rates.gpu <= 100:
            self._busy += rates.gpu / 100 * seconds
            self._sampled += seconds

    def taken(self, calls: Calls, handle: Any) -> tuple[float, float] | None:
        """(share of the time, seconds it is known for), and a new span begins; None: unknown."""
        if self._has_buffer:
            self._poll(calls, handle)
        busy, sampled = self._busy, self._sampled
        self._busy = self._sampled = 0.0
        return None if sampled <= 0 else (min(1.0, busy / sampled), sampled)

    def clock_set(self) -> None:
        """Samples bear the wall clock: one that was set back must not hide those to come."""
        self._last_us = now_us()
        self._busy = self._sampled = 0.0

    def _poll(self, calls: Calls, handle: Any) -> None:
        since_us = self._last_us if self._has_buffer else 0
        found = calls.ask(
            pynvml.nvmlDeviceGetSamples, handle, pynvml.NVML_GPU_UTILIZATION_SAMPLES, since_us
        )
        if found is None:
            # Not supported, or nothing new: a GPU that never had anything has no buffer.
            self._misses += 1
            if self._has_buffer is None and self._misses >= TRIES:
                self._has_buffer = False
            return
        self._has_buffer = True
        latest_us = now_us() + MICROSECONDS
        for sample in found[1]:
            if sample.timeStamp <= latest_us:
                self._add(int(sample.timeStamp), float(sample.sampleValue.uiVal))

    def _add(self, at_us: int, per_cent: float) -> None:
        """A sample stands for the time since the one before it."""
        since, self._last_us = self._last_us, max(self._last_us, at_us)
        if not 0 < at_us - since <= LONGEST_GAP_US or per_cent > 100:
            return
        seconds = (at_us - since) / MICROSECONDS
        self._busy += per_cent / 100 * seconds
        self._sampled += seconds


def now_us() -> int:
    """The wall clock, as NVML stamps its samples."""
    return time.time_ns() // 1000
