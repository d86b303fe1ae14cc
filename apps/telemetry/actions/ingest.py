"""Storing a batch: read, judged window by window, copied, and its hours marked; at most once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

import msgspec
import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import sql

from apps.economics.hours import HOUR_MS
from apps.fleet.queries import AgentFact
from apps.logs.changes import field_of, logged_each
from apps.marks.actions import Mark
from apps.marks.queries import Pass
from apps.telemetry.actions.claims import Devices, undisputed
from apps.telemetry.actions.copying import EPOCH_MS, Values, binary_copies
from apps.telemetry.actions.interning import device_ids, holder_ids, registered_device_ids
from apps.telemetry.actions.partitions import ensure_days
from apps.telemetry.actions.remarks import Remark, counting
from apps.telemetry.actions.storing import Outcome, Script, run_each
from apps.telemetry.actions.tolerant import tolerant_wire
from apps.telemetry.actions.windows import JudgedWindows, Pieces, judged
from apps.telemetry.actions.wire import (
    DRAM,
    ENERGY,
    MEMORY,
    OBSERVED,
    SM,
    TENSOR,
    WORKED,
    DeviceIn,
    NodeOfAnotherToken,
    Wire,
    wire,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Result = TypeVar("Result")

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
    " VALUES {rows} ON CONFLICT DO NOTHING"
)
ENTRY_ROW = "({agent:d}, {boot:d}, {sequence:d}, '{at}', {accepted:d}, {remarks})"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch; the same for every delivery of it but for `duplicate`."""

    accepted: int
    duplicate: bool
    remarks: Sequence[Remark]
    version: str = ""
    offset_ms: int = 0


@dataclass(frozen=True, slots=True)
class BatchDelivery:
    """The JSON text of a batch, the agent whose it is, when it came, and by which request."""

    body: bytes
    agent: AgentFact
    at: datetime
    request_id: str = ""

    @property
    def actor(self) -> str:
        """Who delivers it, as lines of the log say it."""
        return f"agent:{self.agent.agent_id}"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A delivery that is judged, and what is to be done in the database."""

    delivery: BatchDelivery
    batch: Wire
    judgement: JudgedWindows
    script: Script

    def receipt(self, *, is_new: bool) -> Receipt:
        """What became of it; where it had been there before, what became of it then."""
        if not is_new:
            return _earlier_receipt(self.batch, self.delivery.agent)
        return Receipt(
            accepted=self.judgement.accepted,
            duplicate=False,
            remarks=self.judgement.remarks,
            version=self.batch.agent.version,
            offset_ms=self.judgement.offset_ms,
        )


@logged_each("ingest", count=field_of("accepted"))
def ingest_each(deliveries: Sequence[BatchDelivery]) -> list[Receipt | Exception]:
    """Store the sound windows of each batch, once, however often it comes.

    In the order of the deliveries: a receipt, or BatchUnreadable, BatchTooLarge or whatever else
    befell it; nobody's delivery depends on another's. A window that is not sound costs no other
    window: it is remarked on, by its index in the batch.
    """
    prepared = [attempted(partial(_prepared, delivery)) for delivery in deliveries]
    outcomes = iter(run_each([each.script for each in prepared if isinstance(each, _Prepared)]))
    return [
        _receipt(each, next(outcomes)) if isinstance(each, _Prepared) else each for each in prepared
    ]


def attempted(work: Callable[[], Result]) -> Result | Exception:
    """What `work` comes to, or what it raised: the others that came with it go on."""
    try:
        return work()
    except Exception as trouble:  # noqa: BLE001  # it is raised, or answered, where it belongs
        return trouble


def refuse_another_node(named: str, agent: AgentFact) -> None:
    """Refuses NodeOfAnotherToken where a machine says it is not the node of its token."""
    if named and not agent.is_node(named):
        raise NodeOfAnotherToken(named, agent.node_name)


def _receipt(prepared: _Prepared, outcome: Outcome) -> Receipt | Exception:
    if isinstance(outcome, Exception):
        return outcome
    return attempted(partial(prepared.receipt, is_new=outcome))


def _prepared(delivery: BatchDelivery) -> _Prepared | Receipt:
    """What is to be stored, its devices, holders and partitions there; a receipt if it was before."""
    agent, at = delivery.agent, delivery.at
    batch = wire(delivery.body) or tolerant_wire(delivery.body)
    refuse_another_node(batch.agent.node, agent)
    judgement = judged(batch, int(at.timestamp() * 1000))
    found = _with_devices(batch, judgement, agent, at)
    if found is None:
        return _earlier_receipt(batch, agent)
    judgement, devices = found
    rows = _rows(batch, judgement.pieces, agent, devices)
    hours = _hours(judgement.pieces)
    ensure_days({hour.date() for hour in hours})
    after = []
    if judgement.remarks:
        after.append(counting(agent_id=agent.agent_id, remarks=judgement.remarks, at=at))
    script = Script(
        entry=ENTRY,
        entries=[_entry_row(batch, judgement, agent, at)],
        copy=COPY,
        rows=rows,
        windows=len(judgement.pieces.window),
        marks=[Mark(Pass.USAGE, agent.node_id, hour) for hour in hours],
        after=after,
    )
    return _Prepared(delivery, batch, judgement, script)


def _with_devices(
    batch: Wire, judgement: JudgedWindows, agent: AgentFact, at: datetime
) -> tuple[JudgedWindows, NDArray[np.int32]] | None:
    """What is left to store and the id of each device; None where the batch was stored before.

    That is asked before anything is registered: an old batch delivered again must not bring back
    devices that are gone.
    """
    devices, seen = _readable_devices(batch.devices, judgement.pieces)
    at_ms = int(at.timestamp() * 1000)
    ids = device_ids(agent=agent, devices=devices, first_seen_ms=seen, at_ms=at_ms)
    if ids is not None:
        return judgement, _by_place(batch.devices, ids)
    if _is_stored(batch, agent):
        return None
    judgement, left = undisputed(judgement=judgement, devices=batch.devices, node_id=agent.node_id)
    devices, seen = _readable_devices(left, judgement.pieces)
    if devices:
        ids = registered_device_ids(agent=agent, devices=devices, first_seen_ms=seen, at=at)
    return judgement, _by_place(left, ids or [])


def _readable_devices(devices: Devices, pieces: Pieces) -> tuple[list[DeviceIn], list[int]]:
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


def _entry_row(batch: Wire, judgement: JudgedWindows, agent: AgentFact, at: datetime) -> str:
    """The row that enters the batch; an identical one on its way is waited for."""
    said = msgspec.json.encode(judgement.remarks).decode() if judgement.remarks else None
    remarks = "NULL" if said is None else sql.Literal(said).as_string()
    return ENTRY_ROW.format(
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
    return Receipt(accepted=accepted, duplicate=True, remarks=said, version=batch.agent.version)
