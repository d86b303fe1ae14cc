"""A telemetry batch: columns of windows, as the bytes that go over the wire."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from runrate_agent.compat import SLOTS

FORMAT = 1
WINDOW_SECONDS = 60
# A batch of this size is some 250 kB of JSON: far below the server's 5 MB, large enough to be cheap.
MAX_WINDOWS = 4_000


@dataclass(frozen=True, **SLOTS)
class DeviceRecord:
    """A GPU or MIG slice as a batch names it; the last five are for slices and sharing only."""

    uuid: str
    model: str
    index: int
    parent: str | None = None
    profile: str | None = None
    compute_slices: int | None = None
    memory_slices: int | None = None
    replicas: int | None = None

    @property
    def is_slice(self) -> bool:
        return self.parent is not None


@dataclass(frozen=True, **SLOTS)
class Stamp:
    """Which agent process made a batch, and where in its sequence the batch stands.

    `node` is the machine's name where that is sure; the server holds it against the token's.
    """

    boot_ms: int
    sequence: int
    version: str
    source: str
    node: str = ""

    def agent(self) -> dict[str, str]:
        """What sent it, as bodies name it."""
        told = {"version": self.version, "source": self.source}
        return {**told, "node": self.node} if self.node else told


@dataclass(**SLOTS)
class Columns:
    """Windows, column by column; a None is an unknown, never a zero."""

    device: list[int] = field(default_factory=list)
    holder: list[int] = field(default_factory=list)
    starts_at_ms: list[int] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    observed_seconds: list[float | None] = field(default_factory=list)
    worked_seconds: list[float | None] = field(default_factory=list)
    sm_ratio: list[float | None] = field(default_factory=list)
    tensor_ratio: list[float | None] = field(default_factory=list)
    dram_ratio: list[float | None] = field(default_factory=list)
    energy_joules: list[float | None] = field(default_factory=list)
    memory_used_bytes: list[int | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.device)


_REQUIRED = ("device", "holder", "starts_at_ms", "seconds", "worked_seconds")


@dataclass(frozen=True, **SLOTS)
class Batch:
    """What one node saw over some time; windows point into `devices` and `holders`."""

    stamp: Stamp
    devices: Sequence[DeviceRecord]
    holders: Sequence[str]
    windows: Columns

    def encoded(self, *, sent_at_ms: int) -> bytes:
        """The JSON body, gzipped; the same batch sent at the same moment is the same bytes."""
        text = json.dumps(self.payload(sent_at_ms=sent_at_ms), separators=(",", ":"))
        # Level 1: these columns repeat so much that higher levels cost time and save little.
        return gzip.compress(text.encode(), compresslevel=1, mtime=0)

    def payload(self, *, sent_at_ms: int) -> dict[str, object]:
        return {
            "format": FORMAT,
            "boot": self.stamp.boot_ms,
            "sequence": self.stamp.sequence,
            "sent_at_ms": sent_at_ms,
            "agent": self.stamp.agent(),
            "devices": [_device(each) for each in self.devices],
            "holders": list(self.holders),
            "windows": _windows(self.windows),
        }


def _device(record: DeviceRecord) -> dict[str, object]:
    return {
        "uuid": record.uuid,
        "model": record.model,
        "index": record.index,
        "kind": "mig" if record.is_slice else "gpu",
        "parent": record.parent,
        "profile": record.profile,
        "compute_slices": record.compute_slices,
        "memory_slices": record.memory_slices,
        "replicas": record.replicas,
    }


def _windows(columns: Columns) -> dict[str, object]:
    named: dict[str, list[object]] = {
        each.name: getattr(columns, each.name) for each in fields(columns)
    }
    return {
        name: values
        for name, values in named.items()
        if name in _REQUIRED or any(value is not None for value in values)
    }
