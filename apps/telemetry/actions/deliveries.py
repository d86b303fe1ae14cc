"""Batches on their way: judged, told from those that came before, the GPUs of new nodes registered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.db import connection

from apps.fleet.queries import AgentFact
from apps.telemetry.actions.attempts import capture_exception
from apps.telemetry.actions.ceilings import NodeDelivery, within_ceilings, within_device_ceilings
from apps.telemetry.actions.claims import Devices, NodeWindows, undisputed
from apps.telemetry.actions.interning import NewDevices, device_ids, registered_device_ids
from apps.telemetry.actions.partial_batches import tolerant_wire
from apps.telemetry.actions.window_errors import Remark
from apps.telemetry.actions.windows import JudgedWindows, Pieces, judged
from apps.telemetry.actions.wire import DeviceIn, NodeOfAnotherToken, Wire, wire

STORED = """
SELECT agent_id, boot, sequence FROM telemetry_batch
JOIN unnest(%s::int4[], %s::int8[], %s::int8[]) AS asked (agent_id, boot, sequence)
    USING (agent_id, boot, sequence)
"""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of a batch; the same for every delivery of it but for `duplicate`."""

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
class JudgedBatch:
    """A delivery that could be read, and which of its windows are sound."""

    delivery: BatchDelivery
    batch: Wire
    judgement: JudgedWindows

    @property
    def agent(self) -> AgentFact:
        """The agent that the batch is of."""
        return self.delivery.agent

    @property
    def key(self) -> tuple[int, int, int]:
        """The key that a batch is known by."""
        return self.agent.agent_id, self.batch.boot, self.batch.sequence

    def says(self) -> NodeDelivery:
        """Return the batch as ceilings look at it."""
        at_ms = int(self.delivery.at.timestamp() * 1000)
        return NodeDelivery(self.batch, self.judgement, self.agent, at_ms)

    def windows(self) -> NodeWindows:
        """Return what the batch's node says of its devices."""
        return NodeWindows(self.agent.node_id, self.batch.devices, self.judgement)

    def placed(self) -> "JudgedBatch | PlacedBatch":
        """With the id of each device, where this process knows them all."""
        devices, first_seen_ms = _readable_devices(self.batch.devices, self.judgement.pieces)
        at_ms = int(self.delivery.at.timestamp() * 1000)
        ids = device_ids(
            agent=self.agent, devices=devices, first_seen_ms=first_seen_ms, at_ms=at_ms
        )
        return self if ids is None else PlacedBatch(self, self.windows(), ids)


@dataclass(frozen=True, slots=True)
class PlacedBatch:
    """The remainder of a delivery to store, and the id of each of its devices."""

    judged: JudgedBatch
    windows: NodeWindows
    ids: Sequence[int]


def refuse_another_node(named: str, agent: AgentFact) -> None:
    """Refuses NodeOfAnotherToken where a machine says it is not the node of its token."""
    if named and not agent.is_node(named):
        raise NodeOfAnotherToken(named, agent.node_name)


def judged_batch(delivery: BatchDelivery) -> JudgedBatch:
    """Return what a delivery says; refuses BatchUnreadable, BatchTooLarge and NodeOfAnotherToken."""
    batch = wire(delivery.body) or tolerant_wire(delivery.body)
    refuse_another_node(batch.agent.node, delivery.agent)
    return JudgedBatch(delivery, batch, judged(batch, int(delivery.at.timestamp() * 1000)))


def bound_batches(batches: Sequence[JudgedBatch]) -> list[JudgedBatch]:
    """Return each batch without what goes beyond the ceilings of its node."""
    return _left_of(batches, within_ceilings([batch.says() for batch in batches]))


def next_turn(
    left: Mapping[int, JudgedBatch | Exception],
) -> dict[int, JudgedBatch | PlacedBatch | Exception]:
    """Those that can be stored together, by place; `PlacedBatch` where all devices are known.

    Whose a GPU is is judged by what is stored: what registers devices waits for those before it
    that are of its node or name its GPUs, and those after it wait for it.
    """
    turn: dict[int, JudgedBatch | PlacedBatch | Exception] = {
        place: capture_exception(entry.placed) if isinstance(entry, JudgedBatch) else entry
        for place, entry in left.items()
    }
    new = {place for place, entry in turn.items() if isinstance(entry, JudgedBatch)}
    if not new:
        return turn
    named: set[int | str] = set()
    named_by_new: set[int | str] = set()
    for place, batch in left.items():
        if isinstance(batch, JudgedBatch):
            names: set[int | str] = {batch.agent.node_id, *batch.windows().uuids()}
            waits = not names.isdisjoint(named if place in new else named_by_new)
            if waits:
                del turn[place]
            if waits or place in new:
                named_by_new |= names
            named |= names
    return turn


def register_batches(new: Sequence[JudgedBatch]) -> list[PlacedBatch | Receipt]:
    """Return what is left of each batch to store; a receipt where it was stored before.

    That is asked before anything is registered: an old batch delivered again must not bring back
    devices that are gone.
    """
    stored = _stored_keys([batch.key for batch in new])
    fresh = _with_possible_devices([batch for batch in new if batch.key not in stored])
    left = undisputed([batch.windows() for batch in fresh])
    lists = [
        _new_devices(batch.delivery, windows) for batch, windows in zip(fresh, left, strict=True)
    ]
    named = [listed for listed in lists if listed.devices]
    ids = iter(registered_device_ids(named) if named else [])
    placed = {
        batch.key: PlacedBatch(batch, windows, next(ids) if listed.devices else [])
        for batch, windows, listed in zip(fresh, left, lists, strict=True)
    }
    return [placed.get(batch.key) or earlier_receipt(batch) for batch in new]


def _with_possible_devices(fresh: Sequence[JudgedBatch]) -> list[JudgedBatch]:
    """Each without devices beyond what its node's machine can have."""
    if not fresh:
        return []
    return _left_of(fresh, within_device_ceilings([batch.says() for batch in fresh]))


def _left_of(batches: Sequence[JudgedBatch], left: Sequence[NodeDelivery]) -> list[JudgedBatch]:
    return [
        JudgedBatch(batch.delivery, report.batch, report.judgement)
        for batch, report in zip(batches, left, strict=True)
    ]


def _new_devices(delivery: BatchDelivery, windows: NodeWindows) -> NewDevices:
    devices, first_seen_ms = _readable_devices(windows.devices, windows.judgement.pieces)
    return NewDevices(delivery.agent, devices, first_seen_ms, delivery.at)


def _readable_devices(devices: Devices, pieces: Pieces) -> tuple[list[DeviceIn], list[int]]:
    """The devices that could be read, and when each was first seen."""
    first_seen_ms = pieces.first_seen_ms(len(devices)).tolist()
    named = [(device, ms) for device, ms in zip(devices, first_seen_ms, strict=True) if device]
    return [device for device, _ in named], [ms for _, ms in named]


def _stored_keys(keys: Sequence[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
    """Those of the batches (agent, boot, sequence) that are stored."""
    with connection.cursor() as cursor:
        cursor.execute(STORED, [list(column) for column in zip(*keys, strict=True)])
        return set(cursor.fetchall())


def earlier_receipt(judged: JudgedBatch) -> Receipt:
    """Return the receipt of a batch that is stored."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT accepted, remarks::text FROM telemetry_batch"
            " WHERE agent_id = %s AND boot = %s AND sequence = %s",
            judged.key,
        )
        accepted, remarks = cursor.fetchone()
    earlier_remarks = msgspec.json.decode(remarks or "[]", type=tuple[Remark, ...])
    version = judged.batch.agent.version
    return Receipt(accepted=accepted, duplicate=True, remarks=earlier_remarks, version=version)
