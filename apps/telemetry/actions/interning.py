"""Small integers for the texts agents send: holder keys and device UUIDs, kept in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import InterfaceError, OperationalError, connection

from apps.accounts.queries.arriving import names_taken_out
from apps.economics.hours import EPOCH, MILLISECOND, from_epoch_ms
from apps.fleet.actions.devices import NodeDevices, ObservedDevice, register_devices_of_nodes
from apps.fleet.queries import AgentDevice, AgentFact, devices_by_agent, devices_not_ended
from apps.telemetry.actions.wire import DeviceIn

# That a GPU moved, or ended, is noticed by this process within this time.
DEVICES_BELIEVED_MS = 60_000
MOST_HOLDERS_KEPT = 200_000
# Of a fleet beyond these a restarted process asks as its agents come.
MOST_DEVICES_REMEMBERED = 100_000
MOST_HOLDERS_REMEMBERED = 20_000
NOBODY = 0


@dataclass(frozen=True, slots=True)
class RegisteredDevice:
    """A registered device as its agent last described it, and from when."""

    device: DeviceIn
    id: int
    seen_from_ms: int


class _InternedNames:
    """Names that this process knows: holders by key, and each agent's last list of devices by UUID."""

    def __init__(self) -> None:
        self.holders: dict[str, int] = {}
        self.devices: dict[int, Mapping[str, RegisteredDevice]] = {}
        self.devices_asked_ms = 0


_memory = _InternedNames()


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    _memory.holders.clear()
    _memory.devices.clear()
    _memory.devices_asked_ms = 0


def remember(at: datetime) -> None:
    """Know beforehand what agents are about to name: after a restart a fleet comes all at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, id FROM telemetry_holderkey ORDER BY id DESC LIMIT %s",
            [MOST_HOLDERS_REMEMBERED],
        )
        _memory.holders.update(cursor.fetchall())
    for agent_id, devices in devices_by_agent(MOST_DEVICES_REMEMBERED).items():
        _memory.devices[agent_id] = {device.uuid: _registered_device(device) for device in devices}
    _memory.devices_asked_ms = int(at.timestamp() * 1000)


def holder_ids(*, keys: Collection[str]) -> Mapping[str, int]:
    """The integer of each key; a new key gets one, in a statement of its own.

    A key that no stored window comes to use does no harm, so it need not share a transaction.
    """
    ids_by_key = _memory.holders
    if len(ids_by_key) > MOST_HOLDERS_KEPT:
        # A new one, since other threads may be reading the old.
        ids_by_key = _memory.holders = {}
    unknown = sorted({"", *keys} - ids_by_key.keys())
    if unknown:
        ids_by_key.update(_intern_keys(unknown))
    return ids_by_key


def new_holders(keys: Collection[str | None]) -> list[str]:
    """Those of the keys that this process does not know; asks nobody."""
    return [key for key in keys if key and key not in _memory.holders]


def _intern_keys(keys: Sequence[str]) -> dict[str, int]:
    """The integers of keys; a new one of a person whose name was taken out is kept as the pseudonym says."""
    # Asked first: an insert that conflicts would use up a number of the sequence each time.
    ids_by_key = _stored_keys(keys)
    missing = [key for key in keys if key not in ids_by_key]
    names = names_taken_out({key for key in missing if key})
    texts_by_key = {key: names.in_text(key) if names else key for key in missing}
    if texts_by_key:
        stored = _inserted_keys(sorted(set(texts_by_key.values())))
        if others := set(texts_by_key.values()) - stored.keys():
            stored |= _stored_keys(others)
        ids_by_key |= {key: stored[texts_by_key[key]] for key in missing}
    return ids_by_key


def _inserted_keys(keys: Sequence[str]) -> dict[str, int]:
    """Those that are new; others have been there, or came there meanwhile."""
    with connection.cursor() as cursor:
        if "" in keys:
            cursor.execute(
                "INSERT INTO telemetry_holderkey (id, key) OVERRIDING SYSTEM VALUE"
                " VALUES (%s, '') ON CONFLICT DO NOTHING",
                [NOBODY],
            )
        cursor.execute(
            "INSERT INTO telemetry_holderkey (key) SELECT unnest(%s::text[])"
            " ON CONFLICT DO NOTHING RETURNING key, id",
            [[key for key in keys if key]],
        )
        return dict(cursor.fetchall())


def _stored_keys(keys: Collection[str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT key, id FROM telemetry_holderkey WHERE key = ANY(%s)", [list(keys)])
        return dict(cursor.fetchall())


def device_ids(
    *, agent: AgentFact, devices: Sequence[DeviceIn], first_seen_ms: Sequence[int], at_ms: int
) -> list[int] | None:
    """The id of each device, or None when one is new, changed, gone or seen earlier than known."""
    if at_ms - _memory.devices_asked_ms > DEVICES_BELIEVED_MS:
        _forget_ended_devices(at_ms)
    devices_by_uuid = _memory.devices.get(agent.agent_id)
    if devices_by_uuid is None or len(devices_by_uuid) != len(devices):
        return None
    ids = []
    for device, seen_ms in zip(devices, first_seen_ms, strict=True):
        entry = devices_by_uuid.get(device.uuid)
        if entry is None or seen_ms < entry.seen_from_ms or entry.device != device:
            return None
        ids.append(entry.id)
    return ids


def has_cached_devices(agent_id: int) -> bool:
    """Whether this process knows what the agent last named; asks nobody."""
    return agent_id in _memory.devices


def _forget_ended_devices(at_ms: int) -> None:
    """One question for the devices of all agents: asked for each by itself it stalls a fleet."""
    asked_before_ms = _memory.devices_asked_ms
    _memory.devices_asked_ms = at_ms  # other threads go on with what is known meanwhile
    agent_devices = dict(_memory.devices)
    try:
        living_ids = devices_not_ended(
            [known_device.id for list_ in agent_devices.values() for known_device in list_.values()]
        )
    except (OperationalError, InterfaceError):
        _memory.devices_asked_ms = asked_before_ms
        raise
    for agent_id, devices in agent_devices.items():
        if not living_ids.issuperset(device.id for device in devices.values()):
            _memory.devices.pop(agent_id, None)


@dataclass(frozen=True, slots=True)
class NewDevices:
    """The devices that an agent lists, of which this process does not know all, and when each was first seen."""

    agent: AgentFact
    devices: Sequence[DeviceIn]
    first_seen_ms: Sequence[int]
    at: datetime

    def seen_since(self) -> list[int]:
        """When each was first there: one without windows as early as the batch, a GPU as its slices."""
        at_ms = int(self.at.timestamp() * 1000)
        earliest = min(at_ms, *self.first_seen_ms)
        return [
            earliest if seen_ms > at_ms or device.kind == "gpu" else seen_ms
            for device, seen_ms in zip(self.devices, self.first_seen_ms, strict=True)
        ]


def registered_device_ids(lists: Sequence[NewDevices]) -> list[list[int]]:
    """Register the devices with the fleet, each from when it was first seen; their ids.

    All in one transaction. No two of `lists` may be of one node or name one GPU.
    """
    since = [listed.seen_since() for listed in lists]
    ids_of_lists = register_devices_of_nodes(
        lists=[
            NodeDevices(
                node_id=listed.agent.node_id,
                devices=list(map(_observed_device, listed.devices, seen_times)),
                at=listed.at,
                seen_from=from_epoch_ms(min(seen_times)),
            )
            for listed, seen_times in zip(lists, since, strict=True)
        ]
    )
    for new_devices in lists:
        _memory.devices.pop(new_devices.agent.agent_id, None)
    living_ids = devices_not_ended([id_ for ids in ids_of_lists for id_ in ids.values()])
    for new_devices, first_seen, ids in zip(lists, since, ids_of_lists, strict=True):
        # A late batch may name devices that are gone; what it says is not to be believed of a newer.
        if living_ids.issuperset(ids.values()):
            _memory.devices[new_devices.agent.agent_id] = {
                device.uuid: RegisteredDevice(device, ids[device.uuid], seen_ms)
                for device, seen_ms in zip(new_devices.devices, first_seen, strict=True)
            }
    return [
        [ids[device.uuid] for device in listed.devices]
        for listed, ids in zip(lists, ids_of_lists, strict=True)
    ]


def _registered_device(device: AgentDevice) -> RegisteredDevice:
    """As its agent describes it, most likely; one that does not is asked about when it comes."""
    return RegisteredDevice(
        device=DeviceIn(
            uuid=device.uuid,
            model=device.model,
            index=device.index,
            kind="mig" if device.kind == "mig" else "gpu",
            parent=device.parent,
            profile=device.profile or None,
            compute_slices=device.compute_slices,
            memory_slices=device.memory_slices,
            replicas=None if device.replicas == 1 else device.replicas,
        ),
        id=device.id,
        seen_from_ms=-((EPOCH - device.began_at) // MILLISECOND),
    )


def _observed_device(device: DeviceIn, seen_from_ms: int) -> ObservedDevice:
    return ObservedDevice(
        uuid=device.uuid,
        model=device.model,
        index=device.index,
        kind=device.kind,
        parent=device.parent,
        profile=device.profile or "",
        compute_slices=device.compute_slices,
        memory_slices=device.memory_slices,
        replicas=device.replicas or 1,
        seen_from=from_epoch_ms(seen_from_ms),
    )
