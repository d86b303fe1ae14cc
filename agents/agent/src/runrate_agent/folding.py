"""Frames folded into windows of the wall clock: who had which device, and what it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from runrate_agent.batch import Batch, Columns, DeviceRecord, Stamp
from runrate_agent.compat import SLOTS
from runrate_agent.frames import DeviceReading, Frame
from runrate_agent.whose import Holders

NOBODY = ""
MEANS = (
    "graphics_ratio",
    "sm_ratio",
    "tensor_ratio",
    "dram_ratio",
    "temperature_celsius",
    "sm_clock_mhz",
)
SUMS = (
    "energy_joules", "power_capped_seconds", "thermal_seconds", "hardware_slowed_seconds",
    "pcie_bytes", "nvlink_bytes", "ecc_corrected", "ecc_uncorrected",
)  # fmt: skip
EVIDENCE = (
    "temperature_celsius", "sm_clock_mhz", "graphics_ratio", "power_capped_seconds",
    "thermal_seconds", "hardware_slowed_seconds", "pcie_bytes", "nvlink_bytes", "ecc_corrected",
    "ecc_uncorrected",
)  # fmt: skip
"""What of a device goes into reports instead of windows: it explains and moves no money."""


@dataclass(**SLOTS)
class _Of:
    """One device over one window."""

    observed: float = 0.0
    covered: float = 0.0
    worked: float | None = None
    sums: dict[str, float] = field(default_factory=dict)
    means: dict[str, list[float]] = field(default_factory=dict)
    memory: int | None = None
    held: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, **SLOTS)
class Window:
    """A closed window: rows for a batch, and rows of evidence for a report."""

    starts_at_ms: int
    seconds: int
    devices: Sequence[DeviceRecord]
    rows: Sequence[tuple[str, str, dict[str, float | int | None]]]
    evidence: Sequence[tuple[str, dict[str, float | None]]]


class Folding:
    """Adds frames up. Frames lie within windows: their spans divide a window's length."""

    def __init__(self, seconds: int, holders: Holders) -> None:
        self._length_ms = seconds * 1000
        self._holders = holders
        self._starts_at_ms: int | None = None
        self._ended_at_ms: int | None = None
        self._of: dict[str, _Of] = {}
        self._devices: Sequence[DeviceRecord] = ()

    def add(self, frame: Frame) -> list[Window]:
        """Take a frame in; the windows that it ends: the one before it, and its own at its end."""
        if not frame.devices and not frame.readings:
            return []
        starts_at_ms = self._window_of(frame)
        closed = [self.flush()] if self._starts_at_ms not in (None, starts_at_ms) else []
        self._starts_at_ms, self._devices = starts_at_ms, frame.devices
        for reading in frame.readings:
            self._add(reading)
        if frame.at_ms >= starts_at_ms + self._length_ms:
            # Nothing more comes: whoever is killed from now on loses nothing of it.
            closed.append(self.flush())
            self._ended_at_ms = starts_at_ms
        return [each for each in closed if each is not None]

    def _window_of(self, frame: Frame) -> int:
        """By the frame's middle: its end may come a moment late. A window that ended is not begun
        again."""
        covered = max((each.covered_seconds for each in frame.readings), default=0.0)
        middle = frame.at_ms - max(1, int(covered * 500))
        starts_at_ms = middle // self._length_ms * self._length_ms
        return starts_at_ms + (self._length_ms if starts_at_ms == self._ended_at_ms else 0)

    def flush(self) -> Window | None:
        """The window as far as it has come."""
        starts_at_ms, of = self._starts_at_ms, self._of
        self._starts_at_ms, self._of = None, {}
        if starts_at_ms is None or not of:
            return None
        return Window(
            starts_at_ms,
            self._length_ms // 1000,
            self._devices,
            [
                row
                for uuid, each in of.items()
                for row in _rows(uuid, each, self._length_ms // 1000)
            ],
            [(uuid, _evidence(each)) for uuid, each in of.items()],
        )

    def _add(self, reading: DeviceReading) -> None:
        of = self._of.setdefault(reading.uuid, _Of())
        covered = reading.covered_seconds
        of.covered += covered
        if reading.worked_seconds is not None:
            of.observed += covered
            of.worked = (of.worked or 0.0) + min(reading.worked_seconds, covered)
        for name in SUMS:
            value = getattr(reading, name)
            if value is not None:
                of.sums[name] = of.sums.get(name, 0.0) + value
        for name in MEANS:
            value = getattr(reading, name)
            if value is not None:
                weighted = of.means.setdefault(name, [0.0, 0.0])
                weighted[0] += value * covered
                weighted[1] += covered
        if reading.memory_used_bytes is not None:
            of.memory = max(of.memory or 0, reading.memory_used_bytes)
        self._hold(of, reading)

    def _hold(self, of: _Of, reading: DeviceReading) -> None:
        granted = {held.key for held in self._holders.of_device(reading.uuid)}
        seen = {key for key, _ in reading.holders or ()}
        is_blind = reading.processes is None and reading.holders is None
        for key, share in reading.holders or ():
            self._add_share(of, key, share, reading.covered_seconds)
        for process in reading.processes or ():
            held_by = self._holders.of_process(process.pid)
            if held_by is None:
                is_blind = is_blind or process.sm_ratio != 0
                continue
            seen.add(held_by.key)
            self._add_share(of, held_by.key, process.sm_ratio, reading.covered_seconds)
        # Work that is nobody's may be that of whoever was granted the device and showed none.
        is_blind = is_blind and reading.worked_seconds != 0
        for key in granted - seen:
            self._add_share(of, key, None if is_blind else 0.0, reading.covered_seconds)

    @staticmethod
    def _add_share(of: _Of, key: str, share: float | None, covered: float) -> None:
        """One unknown part makes a holder's whole unknown."""
        known = of.held.setdefault(key, 0.0)
        of.held[key] = None if share is None or known is None else known + share * covered


def batch_of(windows: Iterable[Window], stamp: Stamp) -> Batch:
    """Closed windows as one batch; devices are those of the last window."""
    ordered = list(windows)
    devices = {record.uuid: record for window in ordered for record in window.devices}
    places = {uuid: place for place, uuid in enumerate(devices)}
    holders: dict[str, int] = {NOBODY: 0}
    columns = Columns()
    for window in ordered:
        for uuid, key, values in window.rows:
            if uuid not in places:
                continue
            columns.device.append(places[uuid])
            columns.holder.append(holders.setdefault(key, len(holders)))
            columns.starts_at_ms.append(window.starts_at_ms)
            columns.seconds.append(window.seconds)
            for name in MEASURED:
                getattr(columns, name).append(values.get(name))
    return Batch(stamp, list(devices.values()), list(holders), columns)


MEASURED = tuple(
    each.name for each in fields(Columns)
    if each.name not in ("device", "holder", "starts_at_ms", "seconds")
)  # fmt: skip


def readings_of(windows: Iterable[Window]) -> tuple[list[str], Mapping[str, list[float | None]]]:
    """The evidence of closed windows as a report has it: UUIDs, and columns that point into them."""
    places: dict[str, int] = {}
    columns: dict[str, list[float | None]] = {
        name: [] for name in ("device", "starts_at_ms", "seconds", "observed_seconds", *EVIDENCE)
    }
    for window in windows:
        for uuid, values in window.evidence:
            columns["device"].append(places.setdefault(uuid, len(places)))
            columns["starts_at_ms"].append(window.starts_at_ms)
            columns["seconds"].append(window.seconds)
            for name in ("observed_seconds", *EVIDENCE):
                columns[name].append(values.get(name))
    told = {name: column for name, column in columns.items() if any(v is not None for v in column)}
    return list(places), told


def _rows(
    uuid: str, of: _Of, seconds: int
) -> Iterator[tuple[str, str, dict[str, float | int | None]]]:
    """With at most one holder the device's own reading is the row; with several each has one."""
    own: dict[str, float | int | None] = {
        "observed_seconds": _seconds(of.observed if of.worked is not None else of.covered, seconds),
        "worked_seconds": None if of.worked is None else _seconds(of.worked, seconds),
        "sm_ratio": _mean(of, "sm_ratio"),
        "tensor_ratio": _mean(of, "tensor_ratio"),
        "dram_ratio": _mean(of, "dram_ratio"),
        "energy_joules": _rounded(of.sums.get("energy_joules")),
        "memory_used_bytes": of.memory,
    }
    if len(of.held) <= 1:
        yield uuid, next(iter(of.held), NOBODY), own
        return
    yield uuid, NOBODY, own
    for key, worked in of.held.items():
        share = None if worked is None else _seconds(min(worked, of.observed or worked), seconds)
        yield uuid, key, {"observed_seconds": own["observed_seconds"], "worked_seconds": share}


def _evidence(of: _Of) -> dict[str, float | None]:
    told: dict[str, float | None] = {"observed_seconds": _rounded(of.covered)}
    for name in EVIDENCE:
        told[name] = _mean(of, name) if name in MEANS else _rounded(of.sums.get(name))
    return told


def _mean(of: _Of, name: str) -> float | None:
    weighted = of.means.get(name)
    return None if weighted is None or not weighted[1] else round(weighted[0] / weighted[1], 4)


def _seconds(value: float, most: int) -> float:
    return round(min(value, float(most)), 3)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
