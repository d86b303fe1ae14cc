"""How much a node may name: GPUs, slices, holders of a GPU's hour, new names in a day (decision 0230).

What goes beyond is not stored, and is one counted incident of the node until a person decides. Of a
node that stays below, as every honest one does, this process's memory alone is asked.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from apps.economics.hours import HOUR_MS, from_epoch_ms
from apps.fleet.actions import TrustMatter, raise_trust_incident
from apps.fleet.queries import (
    AgentFact,
    NodeCeilings,
    TrustKind,
    ceilings_of_nodes,
    uuids_on_record,
)
from apps.telemetry.actions.interning import new_holders
from apps.telemetry.actions.windows import JudgedWindows
from apps.telemetry.actions.wire import DeviceIn, Wire

BELIEVED_MS = 60_000
"""What a person approved is noticed by this process within this time; an incident counts as often."""
DAY_MS = 24 * HOUR_MS
MOST_HOURS_KEPT = 4
WAITS = "more than this node may have: waits for a person"


@dataclass(slots=True)
class _NodeMemory:
    """What a node's agents named lately: `waiting` are devices beyond its ceilings."""

    ceilings: NodeCeilings | None = None
    asked_ms: int = 0
    waiting: frozenset[str] = frozenset()
    hours: dict[int, dict[str, set[str]]] = field(default_factory=dict)
    day: int = 0
    names: int = 0
    raised_ms: dict[str, int] = field(default_factory=dict)


_nodes: dict[int, _NodeMemory] = {}


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    _nodes.clear()


@dataclass(frozen=True, slots=True)
class NodeSays:
    """A batch with what of it is sound, whose it is and when it came."""

    batch: Wire
    judgement: JudgedWindows
    agent: AgentFact
    at_ms: int

    def memory(self) -> _NodeMemory:
        """What its node named before."""
        memory = _nodes.setdefault(self.agent.node_id, _NodeMemory())
        if self.at_ms - memory.asked_ms > BELIEVED_MS:
            memory.ceilings, memory.waiting, memory.asked_ms = None, frozenset(), self.at_ms
        if memory.day != self.at_ms // DAY_MS:
            memory.day, memory.names = self.at_ms // DAY_MS, 0
        return memory

    def ceilings(self) -> NodeCeilings:
        """What its node may have, asked once a minute where it matters at all."""
        memory = self.memory()
        if memory.ceilings is None:
            memory.ceilings = ceilings_of_nodes([self.agent.node_id])[self.agent.node_id]
        return memory.ceilings

    def without_devices(self, uuids: Collection[str]) -> "NodeSays":
        """Without these devices and their windows."""
        left = tuple(
            None if device is None or device.uuid in uuids else device
            for device in self.batch.devices
        )
        gone = [place for place, device in enumerate(left) if device is None]
        refused = np.isin(self.judgement.pieces.device, gone)
        judgement = self.judgement.without(refused, "device", WAITS)
        return replace(self, batch=replace(self.batch, devices=left), judgement=judgement)


def within_ceilings(says: NodeSays) -> NodeSays:
    """Without the windows of devices that wait, and of holders and names beyond the ceilings."""
    waiting = says.memory().waiting
    if waiting:
        says = says.without_devices(waiting)
    return _without_names(_without_holders(says))


def within_device_ceilings(told: Sequence[NodeSays]) -> list[NodeSays]:
    """Each without devices beyond what its machine can have; those on record stay.

    Asked where lists of devices are about to be registered: of all of them at once.
    """
    node_ids = {says.agent.node_id for says in told}
    ceilings = ceilings_of_nodes(node_ids)
    for says in told:
        says.memory().ceilings = ceilings[says.agent.node_id]
    names = {
        name
        for says in told
        for device in says.batch.devices
        if device is not None
        for name in (device.uuid, _gpu_of(device))
    }
    known = uuids_on_record(node_ids, names)
    return [_within_device_ceilings(says, known[says.agent.node_id]) for says in told]


def _within_device_ceilings(says: NodeSays, known: Collection[str]) -> NodeSays:
    devices = [device for device in says.batch.devices if device is not None]
    ceilings, memory = says.ceilings(), says.memory()
    gpus = list(dict.fromkeys(map(_gpu_of, devices)))
    beyond = set(_beyond(gpus, known, ceilings.most_gpus()))
    if beyond:
        _raise(
            says,
            TrustMatter(
                TrustKind.DEVICES,
                f"{len(beyond)} GPUs wait, as {min(beyond)}",
                ceiling=ceilings.most_gpus(),
                reported=len(gpus),
            ),
        )
    waiting = {device.uuid for device in devices if _gpu_of(device) in beyond}
    waiting |= _slices_beyond(says, devices, known)
    new = [uuid for device in devices if (uuid := device.uuid) not in {*known, *waiting}]
    waiting |= set(_counted_names(says, new))
    if not waiting:
        return says
    memory.waiting = frozenset(waiting)
    return says.without_devices(waiting)


def _slices_beyond(says: NodeSays, devices: Sequence[DeviceIn], known: Collection[str]) -> set[str]:
    models = {device.uuid: device.model for device in devices}
    slices: dict[str, list[str]] = {}
    for device in devices:
        if device.parent:
            slices.setdefault(device.parent, []).append(device.uuid)
    beyond: set[str] = set()
    for gpu, uuids in slices.items():
        most = says.ceilings().most_slices(models.get(gpu) or models[uuids[0]])
        extra = _beyond(uuids, known, most)
        if extra:
            beyond |= set(extra)
            _raise(
                says,
                TrustMatter(
                    TrustKind.SLICES,
                    f"{len(extra)} slices of {gpu} wait",
                    ceiling=most,
                    reported=len(uuids),
                ),
            )
    return beyond


def _without_names(says: NodeSays) -> NodeSays:
    """Without the windows of new holders beyond the names that a node may bring in a day."""
    new = new_holders(says.batch.holders)
    beyond = set(_counted_names(says, new)) if new else ()
    if not beyond:
        return says
    places = [place for place, key in enumerate(says.batch.holders) if key in beyond]
    return _without_holder_windows(says, np.isin(says.judgement.pieces.holder, places), beyond)


def _counted_names(says: NodeSays, new: Sequence[str]) -> Sequence[str]:
    """Count new names of the day; those beyond the ceiling."""
    memory = says.memory()
    if memory.names + len(new) <= settings.MOST_NEW_NAMES:
        memory.names += len(new)
        return ()
    most = says.ceilings().most_names()
    room = max(0, most - memory.names)
    memory.names += min(room, len(new))
    beyond = new[room:]
    if beyond:
        _raise(
            says,
            TrustMatter(
                TrustKind.NAMES,
                f"{len(beyond)} new names wait, as {beyond[0]}",
                ceiling=most,
                reported=memory.names + len(beyond),
            ),
        )
    return beyond


def _without_holders(says: NodeSays) -> NodeSays:
    """Without the windows of holders beyond those that a device can have in an hour."""
    pieces, holders = says.judgement.pieces, says.batch.holders
    if not pieces.device.size:
        return says
    hours = pieces.starts_at_ms // HOUR_MS
    devices, first = len(says.batch.devices), int(hours.min())
    codes = ((hours - first) * devices + pieces.device) * len(holders) + pieces.holder
    memory = says.memory()
    refused = []
    for code in np.unique(codes).tolist():
        place, holder = divmod(code, len(holders))
        hour, device = divmod(place, devices)
        key, named = holders[holder], says.batch.devices[device]
        if not key or named is None:
            continue
        seen = _holders_seen(memory, first + hour).setdefault(named.uuid, set())
        if not _has_room(says, seen, key):
            refused.append(code)
    return _without_codes(says, codes, refused) if refused else says


def _has_room(says: NodeSays, seen: set[str], key: str) -> bool:
    """Whether a device's hour can have this holder too; it is then one of them."""
    if key in seen:
        return True
    if len(seen) >= settings.MOST_HOLDERS_PER_GPU and len(seen) >= says.ceilings().most_holders():
        return False
    seen.add(key)
    return True


def _without_codes(says: NodeSays, codes: NDArray[np.int64], refused: Sequence[int]) -> NodeSays:
    pieces, holders = says.judgement.pieces, says.batch.holders
    gone = np.isin(codes, refused)
    by_device: dict[int, int] = {}
    for code in refused:
        device = code // len(holders)
        by_device[device] = by_device.get(device, 0) + 1
    most = says.ceilings().most_holders()
    _raise(
        says,
        TrustMatter(
            TrustKind.HOLDERS,
            f"{len(refused)} holders wait, as {holders[refused[0] % len(holders)]}",
            ceiling=most,
            reported=most + max(by_device.values()),
        ),
    )
    used = set(np.unique(pieces.holder[~gone]).tolist())
    unused = {key for place, key in enumerate(holders) if key and place not in used}
    return _without_holder_windows(says, gone, unused)


def _without_holder_windows(
    says: NodeSays, gone: NDArray[np.bool_], unused: Collection[str]
) -> NodeSays:
    """Without these pieces, and without the names that are left without any."""
    left = tuple(None if key in unused else key for key in says.batch.holders)
    judgement = says.judgement.without(gone, "holder", WAITS)
    return replace(says, batch=replace(says.batch, holders=left), judgement=judgement)


def _holders_seen(memory: _NodeMemory, hour: int) -> dict[str, set[str]]:
    seen = memory.hours.get(hour)
    if seen is None:
        while len(memory.hours) >= MOST_HOURS_KEPT:
            memory.hours.pop(next(iter(memory.hours)))
        seen = memory.hours[hour] = {}
    return seen


def _raise(says: NodeSays, matter: TrustMatter) -> None:
    """Count the matter on the node's incident, once a minute: a flood is one incident."""
    memory = says.memory()
    if says.at_ms - memory.raised_ms.get(matter.kind, 0) < BELIEVED_MS:
        return
    memory.raised_ms[matter.kind] = says.at_ms
    of_node = replace(matter, node_id=says.agent.node_id)
    raise_trust_incident(matter=of_node, at=from_epoch_ms(says.at_ms))


def _gpu_of(device: DeviceIn) -> str:
    return device.parent or device.uuid


def _beyond(names: Iterable[str], known: Collection[str], most: int) -> list[str]:
    """Those that no room is left for, what is on record having it first."""
    return sorted(names, key=lambda name: name not in known)[most:]
