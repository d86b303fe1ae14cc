"""How much a node may name: GPUs, slices, holders of a GPU's hour, new names in a day (decision 0230).

What goes beyond is not stored, and is one counted incident of the node until a person decides. What
counts is what is stored, by whichever process (decision 0244): it is read as a batch names a holder
that this process does not know of that hour. Of one that names the same as before nothing is read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from apps.telemetry.actions.gpus_beside import (
    NONE_BESIDE,
    GpusBeside,
    ListedGpus,
    gpus_beside,
)
from apps.telemetry.actions.hour_holders import DeviceAtHour, stored_holders
from apps.telemetry.actions.interning import new_holders
from apps.telemetry.actions.windows import JudgedWindows
from apps.telemetry.actions.wire import DeviceIn, Wire

BELIEVED_MS = 60_000
"""What a person approved is noticed by this process within this time; an incident counts as often."""
DAY_MS = 24 * HOUR_MS
MOST_HOURS_KEPT = 4
"""Hours of a node that stay in memory: those used last; others are read again as they come."""
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

    def holders_of(self, hour: int, uuid: str) -> set[str]:
        """The holders of a device's hour that this process knows; the hour is now the last used."""
        devices = self.hours.pop(hour, None)
        self.hours[hour] = devices = {} if devices is None else devices
        return devices.setdefault(uuid, set())

    def drop_hours(self) -> None:
        """Keep those that were used last."""
        for hour in list(self.hours)[:-MOST_HOURS_KEPT]:
            self.hours.pop(hour, None)


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

    def gpus(self) -> list[str]:
        """The UUIDs of the GPUs that its list names, or is about as it names their slices."""
        return list(dict.fromkeys(_gpu_of(device) for device in self.batch.devices if device))

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


@dataclass(frozen=True, slots=True)
class _HourNames:
    """The holders that a batch names, by device and hour.

    `codes` has a number for each piece, `names` what each number stands for: hour (since the epoch),
    device and holder; `seen` the holders of each device's hour that were named or stored before.
    """

    codes: NDArray[np.int64]
    names: Mapping[int, tuple[int, str, str]]
    seen: Mapping[tuple[int, str], set[str]]


def within_ceilings(told: Sequence[NodeSays]) -> list[NodeSays]:
    """Each without the windows of devices that wait, and of holders and names beyond the ceilings.

    What is stored of hours in which new holders are named is read for all of them at once, before
    anything is counted.
    """
    left = [_without_waiting(says) for says in told]
    named = [_hour_names(says) for says in left]
    _learn_stored_holders(left, named)
    within = [
        _without_names(_without_holders(says, names))
        for says, names in zip(left, named, strict=True)
    ]
    for says in left:
        says.memory().drop_hours()
    return within


def _without_waiting(says: NodeSays) -> NodeSays:
    waiting = says.memory().waiting
    return says.without_devices(waiting) if waiting else says


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
    beside = gpus_beside(
        [span for says in told if (span := _span_of_new_gpus(says, known[says.agent.node_id]))]
    )
    return [
        _within_device_ceilings(
            says, known[says.agent.node_id], beside.get(says.agent.node_id, NONE_BESIDE)
        )
        for says in told
    ]


def _span_of_new_gpus(says: NodeSays, known: Collection[str]) -> ListedGpus | None:
    """When a list with new GPUs has windows, and which it names; None without a new one."""
    gpus = says.gpus()
    pieces = says.judgement.pieces
    if not pieces.device.size or all(uuid in known for uuid in gpus):
        return None
    return ListedGpus(
        says.agent.node_id,
        from_epoch_ms(int(pieces.starts_at_ms.min())),
        from_epoch_ms(int((pieces.starts_at_ms + pieces.length_ms).max())),
        frozenset(gpus),
    )


def _within_device_ceilings(says: NodeSays, known: Collection[str], beside: GpusBeside) -> NodeSays:
    devices = [device for device in says.batch.devices if device is not None]
    memory = says.memory()
    beyond = _gpus_beyond(says, known, beside)
    waiting = {device.uuid for device in devices if _gpu_of(device) in beyond}
    waiting |= _slices_beyond(says, devices, known)
    new = [uuid for device in devices if (uuid := device.uuid) not in {*known, *waiting}]
    waiting |= set(_counted_names(says, new))
    if not waiting:
        return says
    memory.waiting = frozenset(waiting)
    return says.without_devices(waiting)


def _gpus_beyond(says: NodeSays, known: Collection[str], beside: GpusBeside) -> set[str]:
    """The GPUs that the node has no room for, beside those that it reports in other lists.

    Of one hour as many again are taken: a machine may be made anew with other GPUs in it.
    """
    gpus, most = says.gpus(), says.ceilings().most_gpus()
    room = min(most - beside.together, 2 * most - beside.in_an_hour)
    on_record = sum(uuid in known for uuid in gpus)
    beyond = set(_beyond(gpus, known, max(room, min(on_record, most))))
    if beyond:
        others = beside.together if room == most - beside.together else beside.in_an_hour
        _raise(
            says,
            TrustMatter(
                TrustKind.DEVICES,
                f"{len(beyond)} GPUs wait, as {min(beyond)}",
                ceiling=most,
                reported=len(gpus) + others,
            ),
        )
    return beyond


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


def _hour_names(says: NodeSays) -> _HourNames:
    pieces, holders, memory = says.judgement.pieces, says.batch.holders, says.memory()
    if not pieces.device.size:
        return _HourNames(np.zeros(0, np.int64), {}, {})
    hours = pieces.starts_at_ms // HOUR_MS
    devices, first = len(says.batch.devices), int(hours.min())
    codes = ((hours - first) * devices + pieces.device) * len(holders) + pieces.holder
    names: dict[int, tuple[int, str, str]] = {}
    for code in np.unique(codes).tolist():
        place, holder = divmod(code, len(holders))
        hour, device = divmod(place, devices)
        key, named = holders[holder], says.batch.devices[device]
        if key and named is not None:
            names[code] = first + hour, named.uuid, key
    places = dict.fromkeys((hour, uuid) for hour, uuid, _ in names.values())
    return _HourNames(codes, names, {place: memory.holders_of(*place) for place in places})


def _learn_stored_holders(told: Sequence[NodeSays], named: Sequence[_HourNames]) -> None:
    """Read what is stored of each device's hour for which a holder is named that is new to it."""
    asked: dict[DeviceAtHour, set[str]] = {}
    for says, names in zip(told, named, strict=True):
        for hour, uuid, key in names.names.values():
            seen = names.seen[hour, uuid]
            if key not in seen and _has_room(says, seen):
                asked[DeviceAtHour(says.agent.node_id, uuid, hour)] = seen
    if asked:
        for place, keys in stored_holders(list(asked)).items():
            asked[place] |= keys


def _without_holders(says: NodeSays, named: _HourNames) -> NodeSays:
    """Without the windows of holders beyond those that a device can have in an hour."""
    refused = []
    for code, (hour, uuid, key) in named.names.items():
        seen = named.seen[hour, uuid]
        if key in seen:
            continue
        if _has_room(says, seen):
            seen.add(key)
        else:
            refused.append(code)
    return _without_codes(says, named.codes, refused) if refused else says


def _has_room(says: NodeSays, seen: Collection[str]) -> bool:
    """Whether a device's hour with these holders can have another one."""
    if len(seen) < settings.MOST_HOLDERS_PER_GPU:
        return True
    return len(seen) < says.ceilings().most_holders()


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
