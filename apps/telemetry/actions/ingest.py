"""Storing batches: each placed, copied, and its hours marked; at most once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
from django.db import Error
from numpy.typing import NDArray
from psycopg import sql
from psycopg.errors import CheckViolation

from apps.economics.hours import HOUR_MS
from apps.logs.changes import field_of, logged_batch
from apps.marks.actions import Mark
from apps.marks.queries import Pass
from apps.telemetry.actions.attempts import attempted_together, capture_exception
from apps.telemetry.actions.claims import Devices
from apps.telemetry.actions.copying import EPOCH_MS, Values, binary_copies
from apps.telemetry.actions.deliveries import (
    BatchDelivery,
    JudgedBatch,
    PlacedBatch,
    Receipt,
    bound_batches,
    earlier_receipt,
    judged_batch,
    next_turn,
    register_batches,
)
from apps.telemetry.actions.interning import holder_ids
from apps.telemetry.actions.partitions import ensure_days, forget
from apps.telemetry.actions.storing import Outcome, Script, run_scripts
from apps.telemetry.actions.window_errors import counting
from apps.telemetry.actions.windows import JudgedWindows, Pieces
from apps.telemetry.actions.wire import DRAM, ENERGY, MEMORY, OBSERVED, SM, TENSOR, WORKED

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Given = TypeVar("Given")

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
class _Prepared:
    """A delivery, and what is to be done for it in the database."""

    placed: PlacedBatch
    script: Script

    def receipt(self, *, is_new: bool) -> Receipt:
        """Return the receipt of a batch; where it had been there before, the receipt of then."""
        judged, judgement = self.placed.judged, self.placed.windows.judgement
        if not is_new:
            return earlier_receipt(judged)
        return Receipt(
            accepted=judgement.accepted,
            duplicate=False,
            remarks=judgement.remarks,
            version=judged.batch.agent.version,
            offset_ms=judgement.offset_ms,
        )


@logged_batch("ingest", count=field_of("accepted"))
def ingest_batches(deliveries: Sequence[BatchDelivery]) -> list[Receipt | Exception]:
    """Store the sound windows of each batch, once, however often it comes.

    In the order of the deliveries: a receipt, or BatchUnreadable, BatchTooLarge or whatever else
    befell it; nobody's delivery depends on another's. A window that is not sound costs no other
    window: it is remarked on, by its index in the batch.
    """
    read = [capture_exception(partial(judged_batch, delivery)) for delivery in deliveries]
    left = dict(enumerate(_advanced(JudgedBatch, bound_batches, read)))
    receipts: dict[int, Receipt | Exception] = {}
    while left:
        turn = next_turn(left)
        receipts |= zip(turn, _store_batches(list(turn.values())), strict=True)
        left = {place: batch for place, batch in left.items() if place not in turn}
    return [receipts[place] for place in range(len(deliveries))]


def _store_batches(
    turn: Sequence[JudgedBatch | PlacedBatch | Exception],
) -> list[Receipt | Exception]:
    registered = _advanced(JudgedBatch, register_batches, turn)
    prepared = _advanced(PlacedBatch, _prepare_scripts, registered)
    outcomes = iter(
        _run_scripts_with_retry(
            [entry.script for entry in prepared if isinstance(entry, _Prepared)]
        )
    )
    return [
        _receipt(entry, next(outcomes)) if isinstance(entry, _Prepared) else entry
        for entry in prepared
    ]


def _run_scripts_with_retry(scripts: Sequence[Script]) -> list[Outcome]:
    """`run_scripts`, once more for those whose day another process dropped behind this one's back."""
    outcomes = run_scripts(scripts)
    lost = [place for place, outcome in enumerate(outcomes) if _lacks_partition(outcome)]
    if lost:
        forget()
        ensure_days({mark.hour.date() for place in lost for mark in scripts[place].marks})
        for place, outcome in zip(
            lost, run_scripts([scripts[place] for place in lost]), strict=True
        ):
            outcomes[place] = outcome
    return outcomes


def _lacks_partition(outcome: Outcome) -> bool:
    return isinstance(outcome, Error) and isinstance(outcome.__cause__, CheckViolation)


def _receipt(prepared: _Prepared, outcome: Outcome) -> Receipt | Exception:
    if isinstance(outcome, Exception):
        return outcome
    return capture_exception(partial(prepared.receipt, is_new=outcome))


def _advanced(
    kind: type[Given], work: Callable[[Sequence[Given]], Sequence[Any]], items: Sequence[Any]
) -> list[Any]:
    """`work` in place of each item of this kind; the others have come to their answer already."""
    done = iter(attempted_together(work, [item for item in items if isinstance(item, kind)]))
    return [next(done) if isinstance(item, kind) else item for item in items]


def _prepare_scripts(placed: Sequence[PlacedBatch]) -> list[_Prepared]:
    """The script of each, its holders and partitions there."""
    keys = {key for batch in placed for key in batch.judged.batch.holders if key is not None}
    holders = holder_ids(keys=keys)
    return [_Prepared(batch, _script(batch, holders)) for batch in placed]


def _script(placed: PlacedBatch, holders: Mapping[str, int]) -> Script:
    delivery, judgement = placed.judged.delivery, placed.windows.judgement
    agent, at = delivery.agent, delivery.at
    hours = _hours(judgement.pieces)
    ensure_days({hour.date() for hour in hours})
    after = []
    if judgement.remarks:
        after.append(counting(agent_id=agent.agent_id, remarks=judgement.remarks, at=at))
    return Script(
        entry=ENTRY,
        entries=[_entry_row(placed.judged, judgement)],
        copy=COPY,
        rows=_rows(placed, holders),
        windows=len(judgement.pieces.window),
        marks=[Mark(Pass.USAGE, agent.node_id, hour) for hour in hours],
        after=after,
    )


def _by_place(devices: Devices, ids: Sequence[int]) -> NDArray[np.int32]:
    remaining_ids = iter(ids)
    return np.array([next(remaining_ids) if device else 0 for device in devices], np.int32)


def _rows(placed: PlacedBatch, ids_by_key: Mapping[str, int]) -> list[bytes]:
    batch, agent = placed.judged.batch, placed.judged.agent
    pieces = placed.windows.judgement.pieces
    devices = _by_place(placed.windows.devices, placed.ids)
    holders = np.array([0 if key is None else ids_by_key[key] for key in batch.holders], np.int32)
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


def _entry_row(judged: JudgedBatch, judgement: JudgedWindows) -> str:
    """The row that enters the batch; an identical one on its way is waited for."""
    encoded = msgspec.json.encode(judgement.remarks).decode() if judgement.remarks else None
    remarks = "NULL" if encoded is None else sql.Literal(encoded).as_string()
    agent_id, boot, sequence = judged.key
    return ENTRY_ROW.format(
        agent=agent_id,
        boot=boot,
        sequence=sequence,
        at=judged.delivery.at.isoformat(),
        accepted=judgement.accepted,
        remarks=remarks,
    )
