"""What a source saw in one tick: the shape that NVML and dcgm-exporter share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS

Phase = Literal["began", "ended", "point"]


@dataclass(frozen=True, **SLOTS)
class ProcessReading:
    """A process on a device; `sm_ratio` is its share of the device's time, None where unknown."""

    pid: int
    sm_ratio: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, **SLOTS)
class DeviceReading:
    """A device over the time since its last reading; a None is what it cannot tell.

    Seconds, joules and bytes are what was added in that time, ratios and the rest its means.
    """

    uuid: str
    covered_seconds: float
    worked_seconds: float | None = None
    graphics_ratio: float | None = None
    sm_ratio: float | None = None
    tensor_ratio: float | None = None
    dram_ratio: float | None = None
    energy_joules: float | None = None
    memory_used_bytes: int | None = None
    temperature_celsius: float | None = None
    sm_clock_mhz: float | None = None
    power_capped_seconds: float | None = None
    thermal_seconds: float | None = None
    hardware_slowed_seconds: float | None = None
    pcie_bytes: float | None = None
    nvlink_bytes: float | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    processes: Sequence[ProcessReading] | None = None
    # Who has it, where the source itself says so, each with its share of the time or None.
    holders: Sequence[tuple[str, float | None]] | None = None


@dataclass(frozen=True, **SLOTS)
class Event:
    """Something that happened to the node or one of its devices; `code` is an XID or the like.

    `ends_at_ms` is when the node goes, where a notice says so.
    """

    at_ms: int
    kind: str
    phase: Phase = "point"
    device: str | None = None
    code: int | None = None
    detail: str = ""
    ends_at_ms: int | None = None


@dataclass(frozen=True, **SLOTS)
class Frame:
    """One tick: the devices there are now, what those did that could be read, what happened.

    `at_ms` is the wall clock at its end, `monotonic_seconds` the clock that never steps.
    """

    at_ms: int
    monotonic_seconds: float
    devices: Sequence[DeviceRecord]
    readings: Sequence[DeviceReading]
    events: Sequence[Event] = ()
    # A device's number, PCI bus id and a slice's GPU instance, by uuid, for sources of holders that
    # count otherwise.
    minors: dict[str, int] | None = None
    bus_ids: dict[str, str] | None = None
    gpu_instances: dict[str, int] | None = None
    # The pods that a source itself names on a device, by namespace and name.
    pods: dict[str, Sequence[tuple[str, str]]] | None = None


class Source(Protocol):
    """What measures. `frame` waits for the next tick, at most until its deadline, and never raises:
    what went wrong is in `state` (see reports) and in events."""

    name: str
    state: str
    driver: str
    calls: int

    def frame(self) -> Frame | None: ...

    def let_go(self, seconds: float) -> None: ...

    def close(self) -> None: ...
