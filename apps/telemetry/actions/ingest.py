"""Storing a batch: read, judged window by window, copied, and its hours marked; at most once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import sql

from apps.economics.hours import HOUR_MS
from apps.fleet.queries import AgentFact
from apps.marks.actions import Mark, marking
from apps.marks.queries import Pass
from apps.telemetry.actions.claims import Devices, undisputed
from apps.telemetry.actions.copying import EPOCH_MS, Values, binary_copies
from apps.telemetry.actions.interning import device_ids, holder_ids, registered_device_ids
from apps.telemetry.actions.partitions import ensure_days
from apps.telemetry.actions.remarks import Remark, counting
from apps.telemetry.actions.storing import Script, run_once
from apps.telemetry.actions.tolerant import tolerant_wire
from apps.telemetry.actions.windows import Judged, Pieces, judged
from apps.telemetry.actions.wire import (
    DRAM,
    ENERGY,
    MEMORY,
    OBSERVED,
    SM,
    TENSOR,
    WORKED,
    DeviceIn,
    Wire,
    wire,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SOURCE_RANK = {"nvml": 1, "dcgm": 2, "simulated": 3}
"""Where two agents saw one device-second, the lower counts."""

KINDS = (
    ("starts_at", ">i8"),
    ("boot", ">i8"),
    ("memory_used_bytes", ">i8"),
    ("device_id", ">i4"),
    ("holder_id", ">i4"),
    ("agent_id", ">i4"),
    ("length_ms", ">i4"),
    ("observed_seconds", ">f4"),
    ("worked_seconds", ">f4"),
    ("sm_ratio", ">f4"),
    ("tensor_ratio", ">f4"),
    ("dram_ratio", ">f4"),
    ("energy_joules", ">f4"),
    ("source", ">i2"),
    ("flags", ">i2"),
)
NULLABLE = (
    "memory_used_bytes",
    "worked_seconds",
    "sm_ratio",
    "tensor_ratio",
    "dram_ratio",
    "energy_joules",
)
COPY = f"COPY telemetry_window ({', '.join(name for name, _ in KINDS)}) FROM STDIN (FORMAT BINARY)"
ENTRY = (
    "INSERT INTO telemetry_batch (agent_id, boot, sequence, received_at, accepted, remarks)"
    " VALUES ({agent:d}, {boot:d}, {sequence:d}, '{at}', {accepted:d}, {remarks})"
    " ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch; the same for every delivery of it but for `duplicate`."""

    accepted: int
    duplicate: bool
    remarks: Sequence[Remark]
    version: str = ""
    offset_ms: int = 0


def ingest(*, body: bytes, agent: AgentFact, at: datetime) -> Receipt:
    """Store the sound windows of a batch, once, however often it comes.

    Refuses BatchUnreadable and BatchTooLarge. A window that is not sound costs no other window:
    it is remarked on, by its index in the batch.
    """
    batch = wire(body) or tolerant_wire(body)
    judgement = judged(batch, int(at.timestamp() * 1000))
    found = _with_devices(batch, judgement, agent, at)
    if found is None:
        return _earlier_receipt(batch, agent)
    judgement, devices = found
    rows = _rows(batch, judgement.pieces, agent, devices)
    hours = _hours(judgement.pieces)
    ensure_days({hour.date() for hour in hours})
    after = []
    if hours:
        after.append(marking(Mark(Pass.USAGE, agent.node_id, hour) for hour in hours))
    if judgement.remarks:
        after.append(counting(agent_id=agent.agent_id, remarks=judgement.remarks, at=at))
    if not run_once(Script(_entry(batch, judgement, agent, at), COPY, rows, after)):
        return _earlier_receipt(batch, agent)
    return Receipt(
        accepted=judgement.accepted,
        duplicate=False,
        remarks=judgement.remarks,
        version=batch.version,
        offset_ms=judgement.offset_ms,
    )


def _with_devices(
    batch: Wire, judgement: Judged, agent: AgentFact, at: datetime
) -> tuple[Judged, NDArray[np.int32]] | None:
    """What is left to store and the id of each device; None where the batch was stored before.

    That is asked before anything is registered: an old batch delivered again must not bring back
    devices that are gone.
    """
    devices, seen = _named(batch.devices, judgement.pieces)
    at_ms = int(at.timestamp() * 1000)
    ids = device_ids(agent=agent, devices=devices, first_seen_ms=seen, at_ms=at_ms)
    if ids is not None:
        return judgement, _by_place(batch.devices, ids)
    if _is_stored(batch, agent):
        return None
    judgement, left = undisputed(judgement=judgement, devices=batch.devices, node_id=agent.node_id)
    devices, seen = _named(left, judgement.pieces)
    if devices:
        ids = registered_device_ids(agent=agent, devices=devices, first_seen_ms=seen, at=at)
    return judgement, _by_place(left, ids or [])


def _named(devices: Devices, pieces: Pieces) -> tuple[list[DeviceIn], list[int]]:
    """The devices that could be read, and when each was first seen."""
    first_seen_ms = pieces.first_seen_ms(len(devices)).tolist()
    named = [(device, ms) for device, ms in zip(devices, first_seen_ms, strict=True) if device]
    return [device for device, _ in named], [ms for _, ms in named]


def _by_place(devices: Devices, ids: Sequence[int]) -> NDArray[np.int32]:
    given = iter(ids)
    return np.array([next(given) if device else 0 for device in devices], np.int32)


def _rows(batch: Wire, pieces: Pieces, agent: AgentFact, devices: NDArray[np.int32]) -> list[bytes]:
    known = holder_ids(keys=[key for key in batch.holders if key is not None])
    holders = np.array([0 if key is None else known[key] for key in batch.holders], np.int32)
    columns: dict[str, Values] = {
        "starts_at": (pieces.starts_at_ms - EPOCH_MS) * 1000,
        "boot": batch.boot,
        "memory_used_bytes": pieces.cells[MEMORY],
        "device_id": devices[pieces.device],
        "holder_id": holders[pieces.holder],
        "agent_id": agent.agent_id,
        "length_ms": pieces.length_ms,
        "observed_seconds": pieces.cells[OBSERVED],
        "worked_seconds": pieces.cells[WORKED],
        "sm_ratio": pieces.cells[SM],
        "tensor_ratio": pieces.cells[TENSOR],
        "dram_ratio": pieces.cells[DRAM],
        "energy_joules": pieces.cells[ENERGY],
        "source": SOURCE_RANK[agent.source],
        "flags": pieces.flags,
    }
    return binary_copies(KINDS, columns, NULLABLE, len(pieces.device))


def _hours(pieces: Pieces) -> list[datetime]:
    hours = set((pieces.starts_at_ms // HOUR_MS).tolist())
    return [EPOCH + timedelta(hours=hour) for hour in sorted(hours)]


def _is_stored(batch: Wire, agent: AgentFact) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM telemetry_batch WHERE agent_id = %s AND boot = %s AND sequence = %s",
            [agent.agent_id, batch.boot, batch.sequence],
        )
        return cursor.fetchone() is not None


def _entry(batch: Wire, judgement: Judged, agent: AgentFact, at: datetime) -> str:
    """The statement that enters the batch; an identical one on its way is waited for."""
    said = msgspec.json.encode(judgement.remarks).decode() if judgement.remarks else None
    remarks = "NULL" if said is None else sql.Literal(said).as_string()
    return ENTRY.format(
        agent=agent.agent_id,
        boot=batch.boot,
        sequence=batch.sequence,
        at=at.isoformat(),
        accepted=judgement.accepted,
        remarks=remarks,
    )


def _earlier_receipt(batch: Wire, agent: AgentFact) -> Receipt:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT accepted, remarks::text FROM telemetry_batch"
            " WHERE agent_id = %s AND boot = %s AND sequence = %s",
            [agent.agent_id, batch.boot, batch.sequence],
        )
        accepted, remarks = cursor.fetchone()
    said = msgspec.json.decode(remarks or "[]", type=tuple[Remark, ...])
    return Receipt(accepted=accepted, duplicate=True, remarks=said, version=batch.version)
