"""Batches as an agent gzips them, made before the clock runs; only the sending time is put in late."""

import json
import random
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GPUS = 8
MINUTE_MS = 60_000
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
MOMENT_DIGITS = 13


@dataclass(frozen=True, slots=True)
class Prepared:
    """A gzip body up to its last field, the moment of sending; the rest is a stored block."""

    head: bytes
    checksum: int
    text_length: int

    def body(self, sent_at_ms: int) -> bytes:
        """The whole body; costs microseconds, so that the generator leaves the cores alone."""
        tail = b'"sent_at_ms":%13d}' % sent_at_ms
        size = len(tail)
        return b"".join(
            (
                self.head,
                struct.pack("<BHH", 1, size, size ^ 0xFFFF),
                tail,
                struct.pack("<II", zlib.crc32(tail, self.checksum), self.text_length + size),
            )
        )


@dataclass(frozen=True, slots=True)
class Series:
    """The batches of one node: eight GPUs under one job, a window a minute."""

    node: int
    boot: int
    starts_at_ms: int
    minutes: int

    def batch(self, sequence: int, draw: random.Random) -> Prepared:
        """The batch of `minutes` minutes after those of the batches before it."""
        first = self.starts_at_ms + sequence * self.minutes * MINUTE_MS
        count = self.minutes * GPUS
        payload = {
            "format": 1,
            "boot": self.boot,
            "sequence": sequence,
            "agent": {"version": "0.1.0", "source": "nvml"},
            "devices": [_device(self.node, index) for index in range(GPUS)],
            "holders": ["", f"slurm/atlas/{self.node}"],
            "windows": _windows(first, count, draw),
        }
        text = json.dumps(payload, separators=(",", ":")).encode()[:-1] + b","
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
        head = deflate.compress(text) + deflate.flush(zlib.Z_FULL_FLUSH)
        return Prepared(GZIP_HEAD + head, zlib.crc32(text), len(text))


def batches(series: Sequence[Series], first: int, count: int) -> Iterator[tuple[int, Prepared]]:
    """`count` batches of every node from sequence `first`, taking turns; with the node's place."""
    draw = random.Random(first)  # noqa: S311 - a load to measure with, not a secret
    for sequence in range(first, first + count):
        for place, each in enumerate(series):
            yield place, each.batch(sequence, draw)


def uuid_of(node: int, index: int) -> str:
    """Of the length that NVML prints."""
    return f"GPU-{node:08x}-0000-4000-8000-{index:012x}"


def _device(node: int, index: int) -> dict[str, object]:
    return {
        "uuid": uuid_of(node, index),
        "model": "NVIDIA H100 80GB HBM3",
        "index": index,
        "kind": "gpu",
        "parent": None,
        "profile": None,
        "compute_slices": None,
        "memory_slices": None,
        "replicas": None,
    }


def _windows(first_ms: int, count: int, draw: random.Random) -> dict[str, list[object]]:
    held = [1 if draw.random() < 0.9 else 0 for _ in range(GPUS)]
    device = [row % GPUS for row in range(count)]
    return {
        "device": list(device),
        "holder": [held[each] for each in device],
        "starts_at_ms": [first_ms + row // GPUS * MINUTE_MS for row in range(count)],
        "seconds": [60] * count,
        "observed_seconds": [60] * count,
        "worked_seconds": [round(draw.uniform(0, 60), 2) for _ in range(count)],
        "sm_ratio": [round(draw.random(), 3) for _ in range(count)],
        "tensor_ratio": [round(draw.random(), 3) for _ in range(count)],
        "dram_ratio": [round(draw.random(), 3) for _ in range(count)],
        "energy_joules": [round(draw.uniform(4_000, 42_000), 1) for _ in range(count)],
        "memory_used_bytes": [draw.randrange(1 << 30, 80 << 30, 1 << 16) for _ in range(count)],
    }
