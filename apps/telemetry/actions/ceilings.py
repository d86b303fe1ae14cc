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
from apps.telemetry.actions.hour_holders import DeviceAtHour, stored_holders
from apps.telemetry.actions.interning import new_holders
from apps.telemetry.actions.other_gpus import (
    NONE_BESIDE,
    ListedGpus,
    OtherGpus,
    count_other_gpus,
)
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
    """The names that a node's agents gave lately: `waiting` are devices beyond its ceilings."""

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
class NodeDelivery:
    """A batch with what of it is sound, whose it is and when it came."""

    batch: Wire
    judgement: JudgedWindows
    agent: AgentFact
    at_ms: int

    def memory(self) -> _NodeMemory:
        """Return what the node named before."""
        memory = _nodes.setdefault(self.agent.node_id, _NodeMemory())
        if self.at_ms - memory.asked_ms > BELIEVED_MS:
            memory.ceilings, memory.waiting, memory.asked_ms = None, frozenset(), self.at_ms
        if memory.day != self.at_ms // DAY_MS:
            memory.day, memory.names = self.at_ms // DAY_MS, 0
        return memory

    def ceilings(self) -> NodeCeilings:
        """Return the ceilings of the node, asked once a minute where it matters at all."""
        memory = self.memory()
        if memory.ceilings is None:
            memory.ceilings = ceilings_of_nodes([self.agent.node_id])[self.agent.node_id]
        return memory.ceilings

    def gpus(self) -> list[str]:
        """The UUIDs of the GPUs that its list names, or is about as it names their slices."""
        return list(dict.fromkeys(_gpu_of(device) for device in self.batch.devices if device))

    def without_devices(self, uuids: Collection[str]) -> "NodeDelivery":
        """Without these devices and their windows."""
        left = tuple(
            None if device is None or device.uuid in uuids else device
            for device in self.batch.devices
        )
        refused_places = [place for place, device in enumerate(left) if device is None]
        refused = np.isin(self.judgement.pieces.device, refused_places)
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


def within_ceilings(reports: Sequence[NodeDelivery]) -> list[NodeDelivery]:
    """Each without the windows of devices that wait, and of holders and names beyond the ceilings.

    What is stored of hours in which new holders are named is read for all of them at once, before
    anything is counted.
    """
    left = [_without_waiting(report) for report in reports]
    named = [_hour_names(report) for report in left]
    _learn_stored_holders(left, named)
    within = [
        _without_names(_without_holders(report, names))
        for report, names in zip(left, named, strict=True)
    ]
    for report in left:
        report.memory().drop_hours()
    return within


def _without_waiting(report: NodeDelivery) -> NodeDelivery:
    waiting = report.memory().waiting
    return report.without_devices(waiting) if waiting else report


def within_device_ceilings(reports: Sequence[NodeDelivery]) -> list[NodeDelivery]:
    """Each without devices beyond what its machine can have; those on record stay.

    Asked where lists of devices are about to be registered: of all of them at once.
    """
    node_ids = {report.agent.node_id for report in reports}
    ceilings = ceilings_of_nodes(node_ids)
    for report in reports:
        report.memory().ceilings = ceilings[report.agent.node_id]
    names = {
        name
        for report in reports
        for device in report.batch.devices
        if device is not None
        for name in (device.uuid, _gpu_of(device))
    }
    uuids = uuids_on_record(node_ids, names)
    spans = (_span_of_new_gpus(report, uuids[report.agent.node_id]) for report in reports)
    other_gpus = count_other_gpus([span for span in spans if span])
    return [
        _within_device_ceilings(
            report,
            uuids[report.agent.node_id],
            other_gpus.get(report.agent.node_id, NONE_BESIDE),
        )
        for report in reports
    ]


def _span_of_new_gpus(report: NodeDelivery, known_uuids: Collection[str]) -> ListedGpus | None:
    """When a list with new GPUs has windows, and which it names; None without a new one."""
    gpus = report.gpus()
    pieces = report.judgement.pieces
    if not pieces.device.size or all(uuid in known_uuids for uuid in gpus):
        return None
    return ListedGpus(
        report.agent.node_id,
        from_epoch_ms(int(pieces.starts_at_ms.min())),
        from_epoch_ms(int((pieces.starts_at_ms + pieces.length_ms).max())),
        frozenset(gpus),
    )


def _within_device_ceilings(
    report: NodeDelivery, known_uuids: Collection[str], other_gpus: OtherGpus
) -> NodeDelivery:
    devices = [device for device in report.batch.devices if device is not None]
    memory = report.memory()
    beyond = _gpus_beyond(report, known_uuids, other_gpus)
    waiting = {device.uuid for device in devices if _gpu_of(device) in beyond}
    waiting |= _slices_beyond(report, devices, known_uuids)
    new = [uuid for device in devices if (uuid := device.uuid) not in {*known_uuids, *waiting}]
    waiting |= set(_counted_names(report, new))
    if not waiting:
        return report
    memory.waiting = frozenset(waiting)
    return report.without_devices(waiting)


def _gpus_beyond(
    report: NodeDelivery, known_uuids: Collection[str], other_gpus: OtherGpus
) -> set[str]:
    """The GPUs that the node has no room for, beside those that it reports in other lists.

    Of one hour as many again are taken: a machine may be made anew with other GPUs in it.
    """
    gpus, most = report.gpus(), report.ceilings().most_gpus()
    room = min(most - other_gpus.together, 2 * most - other_gpus.in_an_hour)
    on_record = sum(uuid in known_uuids for uuid in gpus)
    beyond = set(_beyond(gpus, known_uuids, max(room, min(on_record, most))))
    if beyond:
        others = (
            other_gpus.together if room == most - other_gpus.together else other_gpus.in_an_hour
        )
        _raise(
            report,
            TrustMatter(
                TrustKind.DEVICES,
                f"{len(beyond)} GPUs wait, as {min(beyond)}",
                ceiling=most,
                reported=len(gpus) + others,
            ),
        )
    return beyond


def _slices_beyond(
    report: NodeDelivery, devices: Sequence[DeviceIn], known_uuids: Collection[str]
) -> set[str]:
    models = {device.uuid: device.model for device in devices}
    slices: dict[str, list[str]] = {}
    for device in devices:
        if device.parent:
            slices.setdefault(device.parent, []).append(device.uuid)
    beyond: set[str] = set()
    for gpu, uuids in slices.items():
        most = report.ceilings().most_slices(models.get(gpu) or models[uuids[0]])
        extra = _beyond(uuids, known_uuids, most)
        if extra:
            beyond |= set(extra)
            _raise(
                report,
                TrustMatter(
                    TrustKind.SLICES,
                    f"{len(extra)} slices of {gpu} wait",
                    ceiling=most,
                    reported=len(uuids),
                ),
            )
    return beyond


def _without_names(report: NodeDelivery) -> NodeDelivery:
    """Without the windows of new holders beyond the names that a node may bring in a day."""
    new = new_holders(report.batch.holders)
    beyond = set(_counted_names(report, new)) if new else ()
    if not beyond:
        return report
    places = [place for place, key in enumerate(report.batch.holders) if key in beyond]
    return _without_holder_windows(report, np.isin(report.judgement.pieces.holder, places), beyond)


def _counted_names(report: NodeDelivery, new: Sequence[str]) -> Sequence[str]:
    """Count new names of the day; those beyond the ceiling."""
    memory = report.memory()
    if memory.names + len(new) <= settings.MOST_NEW_NAMES:
        memory.names += len(new)
        return ()
    most = report.ceilings().most_names()
    room = max(0, most - memory.names)
    memory.names += min(room, len(new))
    beyond = new[room:]
    if beyond:
        _raise(
            report,
            TrustMatter(
                TrustKind.NAMES,
                f"{len(beyond)} new names wait, as {beyond[0]}",
                ceiling=most,
                reported=memory.names + len(beyond),
            ),
        )
    return beyond


def _hour_names(report: NodeDelivery) -> _HourNames:
    pieces, holders, memory = report.judgement.pieces, report.batch.holders, report.memory()
    if not pieces.device.size:
        return _HourNames(np.zeros(0, np.int64), {}, {})
    hours = pieces.starts_at_ms // HOUR_MS
    devices, first = len(report.batch.devices), int(hours.min())
    codes = ((hours - first) * devices + pieces.device) * len(holders) + pieces.holder
    names: dict[int, tuple[int, str, str]] = {}
    for code in np.unique(codes).tolist():
        place, holder = divmod(code, len(holders))
        hour, device = divmod(place, devices)
        key, named = holders[holder], report.batch.devices[device]
        if key and named is not None:
            names[code] = first + hour, named.uuid, key
    places = dict.fromkeys((hour, uuid) for hour, uuid, _ in names.values())
    return _HourNames(codes, names, {place: memory.holders_of(*place) for place in places})


def _learn_stored_holders(reports: Sequence[NodeDelivery], named: Sequence[_HourNames]) -> None:
    """Read what is stored of each device's hour for which a holder is named that is new to it."""
    keys_by_hour: dict[DeviceAtHour, set[str]] = {}
    for report, names in zip(reports, named, strict=True):
        for hour, uuid, key in names.names.values():
            holder_keys = names.seen[hour, uuid]
            if key not in holder_keys and _has_room(report, holder_keys):
                keys_by_hour[DeviceAtHour(report.agent.node_id, uuid, hour)] = holder_keys
    if keys_by_hour:
        for place, keys in stored_holders(list(keys_by_hour)).items():
            keys_by_hour[place] |= keys


def _without_holders(report: NodeDelivery, named: _HourNames) -> NodeDelivery:
    """Without the windows of holders beyond those that a device can have in an hour."""
    refused = []
    for code, (hour, uuid, key) in named.names.items():
        holder_keys = named.seen[hour, uuid]
        if key in holder_keys:
            continue
        if _has_room(report, holder_keys):
            holder_keys.add(key)
        else:
            refused.append(code)
    return _without_codes(report, named.codes, refused) if refused else report


def _has_room(report: NodeDelivery, holder_keys: Collection[str]) -> bool:
    """Whether a device's hour with these holders can have another one."""
    if len(holder_keys) < settings.MOST_HOLDERS_PER_GPU:
        return True
    return len(holder_keys) < report.ceilings().most_holders()


def _without_codes(
    report: NodeDelivery, codes: NDArray[np.int64], refused: Sequence[int]
) -> NodeDelivery:
    pieces, holders = report.judgement.pieces, report.batch.holders
    refused_mask = np.isin(codes, refused)
    by_device: dict[int, int] = {}
    for code in refused:
        device = code // len(holders)
        by_device[device] = by_device.get(device, 0) + 1
    most = report.ceilings().most_holders()
    _raise(
        report,
        TrustMatter(
            TrustKind.HOLDERS,
            f"{len(refused)} holders wait, as {holders[refused[0] % len(holders)]}",
            ceiling=most,
            reported=most + max(by_device.values()),
        ),
    )
    used = set(np.unique(pieces.holder[~refused_mask]).tolist())
    unused = {key for place, key in enumerate(holders) if key and place not in used}
    return _without_holder_windows(report, refused_mask, unused)


def _without_holder_windows(
    report: NodeDelivery, refused_mask: NDArray[np.bool_], unused: Collection[str]
) -> NodeDelivery:
    """Without these pieces, and without the names that are left without any."""
    left = tuple(None if key in unused else key for key in report.batch.holders)
    judgement = report.judgement.without(refused_mask, "holder", WAITS)
    return replace(report, batch=replace(report.batch, holders=left), judgement=judgement)


def _raise(report: NodeDelivery, matter: TrustMatter) -> None:
    """Count the matter on the node's incident, once a minute: a flood is one incident."""
    memory = report.memory()
    if report.at_ms - memory.raised_ms.get(matter.kind, 0) < BELIEVED_MS:
        return
    memory.raised_ms[matter.kind] = report.at_ms
    of_node = replace(matter, node_id=report.agent.node_id)
    raise_trust_incident(matter=of_node, at=from_epoch_ms(report.at_ms))


def _gpu_of(device: DeviceIn) -> str:
    return device.parent or device.uuid


def _beyond(names: Iterable[str], recorded: Collection[str], most: int) -> list[str]:
    """Those that no room is left for, what is on record having it first."""
    return sorted(names, key=lambda name: name not in recorded)[most:]
