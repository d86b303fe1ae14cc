"""Bytes over fabric, network and disks, and time stalled for cpu, io and memory, since last asked.

Read from /proc and /sys of `root` (a container mounts the host's elsewhere). What is not there is
unknown, not zero: a kernel without pressure files, a node without InfiniBand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

# An InfiniBand port counts in words of four bytes, one for each lane.
BYTES_PER_WORD = 4
SECTOR_BYTES = 512
WHOLE_DISK = re.compile(r"(sd[a-z]+|vd[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+)")
VIRTUAL_NETS = (
    "lo",
    "docker",
    "veth",
    "br-",
    "cni",
    "flannel",
    "cali",
    "tap",
    "tun",
    "virbr",
    "dummy",
)
FABRIC_ERRORS = (
    "symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
    "port_xmit_discards", "local_link_integrity_errors", "excessive_buffer_overrun_errors",
)  # fmt: skip
STALLS = {
    "cpu": "cpu_stalled_seconds",
    "io": "io_stalled_seconds",
    "memory": "memory_stalled_seconds",
}


class NodeCounters:
    """What was added since the last reading, by name; the first reading only starts."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._fabrics = root / "sys/class/infiniband"
        self._nets = root / "proc/net/dev"
        self._disk_file = root / "proc/diskstats"
        self._pressures = {name: root / "proc/pressure" / name for name in STALLS}
        self._last: dict[str, float] = {}

    def read(self) -> dict[str, float]:
        """The growth of each counter that is there and did not begin anew."""
        now = dict(self._sums())
        grown = {
            name: round(value - self._last[name], 3)
            for name, value in now.items()
            if name in self._last and value >= self._last[name]
        }
        self._last = now
        return grown

    @property
    def names(self) -> tuple[str, ...]:
        """The counters that were there at the last reading."""
        return tuple(self._last)

    def _sums(self) -> Iterator[tuple[str, float]]:
        yield from self._fabric()
        yield from self._network()
        yield from self._disks()
        for resource, name in STALLS.items():
            stalled = self._stalled(resource)
            if stalled is not None:
                yield name, stalled

    def _fabric(self) -> Iterator[tuple[str, float]]:
        ports = list(self._fabrics.glob("*/ports/*/counters"))
        if not ports:
            return
        words = [
            _number(port / name) for port in ports for name in ("port_xmit_data", "port_rcv_data")
        ]
        known = [each for each in words if each is not None]
        if known:
            yield "fabric_bytes", sum(known) * BYTES_PER_WORD
        errors = [_number(port / name) for port in ports for name in FABRIC_ERRORS]
        wrong = [each for each in errors if each is not None]
        if wrong:
            yield "fabric_errors", sum(wrong)

    def _network(self) -> Iterator[tuple[str, float]]:
        lines = _text(self._nets).splitlines()[2:]
        moved, wrong, is_any = 0, 0, False
        for line in lines:
            name, _, numbers = line.partition(":")
            values = numbers.split()
            if len(values) < 16 or name.strip().startswith(VIRTUAL_NETS):
                continue
            is_any = True
            moved += int(values[0]) + int(values[8])
            wrong += sum(int(values[place]) for place in (2, 3, 10, 11))
        if is_any:
            yield "network_bytes", moved
            yield "network_errors", wrong

    def _disks(self) -> Iterator[tuple[str, float]]:
        read = written = 0
        is_any = False
        for line in _text(self._disk_file).splitlines():
            values = line.split()
            if len(values) < 10 or not WHOLE_DISK.fullmatch(values[2]):
                continue
            is_any = True
            read += int(values[5])
            written += int(values[9])
        if is_any:
            yield "disk_read_bytes", read * SECTOR_BYTES
            yield "disk_written_bytes", written * SECTOR_BYTES

    def _stalled(self, resource: str) -> float | None:
        """Seconds in which some task waited, as the kernel has counted since it started."""
        for line in _text(self._pressures[resource]).splitlines():
            found = re.match(r"some .*total=(\d+)", line)
            if found:
                return int(found[1]) / 1_000_000
        return None


def columns_of(
    readings: list[tuple[int, int, Mapping[str, float]]],
) -> dict[str, list[float | None]]:
    """(start, seconds, growth) of each window as the columns of a report."""
    names = list(dict.fromkeys(name for _, _, grown in readings for name in grown))
    columns: dict[str, list[float | None]] = {
        "starts_at_ms": [starts for starts, _, _ in readings],
        "seconds": [seconds for _, seconds, _ in readings],
    }
    return columns | {name: [grown.get(name) for _, _, grown in readings] for name in names}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _number(path: Path) -> float | None:
    text = _text(path).strip()
    return float(text) if text.isdigit() else None
