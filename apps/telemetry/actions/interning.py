"""Small integers for the texts agents send: holder keys and device UUIDs, kept in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from apps.fleet.actions.devices import SeenDevice, register_devices
from apps.fleet.queries import AgentFact, devices_lived
from apps.telemetry.actions.wire import DeviceIn

# A GPU that another node's agent claims is noticed by this process within this time.
DEVICES_KEPT_MS = 60_000
MOST_HOLDERS_KEPT = 200_000
NOBODY = 0
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A registered device as its agent last described it, and from when."""

    device: DeviceIn
    id: int
    seen_from_ms: int


@dataclass(frozen=True, slots=True)
class KnownDevices:
    """All devices of an agent's last list, and until when it may be believed without asking."""

    by_uuid: Mapping[str, KnownDevice]
    until_ms: int


_holders: dict[str, int] = {}
_devices: dict[int, KnownDevices] = {}


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    _holders.clear()
    _devices.clear()


def holder_ids(*, keys: Collection[str]) -> Mapping[str, int]:
    """The integer of each key; a new key gets one, in a statement of its own.

    A key that no stored window comes to use does no harm, so it need not share a transaction.
    """
    unknown = sorted({"", *keys} - _holders.keys())
    if unknown:
        if len(_holders) > MOST_HOLDERS_KEPT:
            _holders.clear()
            unknown = sorted({"", *keys})
        _holders.update(_interned(unknown))
    return _holders


def _interned(keys: Sequence[str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        if "" in keys:
            cursor.execute(
                "INSERT INTO telemetry_holderkey (id, key) OVERRIDING SYSTEM VALUE"
                " VALUES (%s, '') ON CONFLICT DO NOTHING",
                [NOBODY],
            )
        # Asked first: an insert that conflicts would use up a number of the sequence each time.
        found = _found(keys)
        missing = [key for key in keys if key not in found]
        if missing:
            cursor.execute(
                "INSERT INTO telemetry_holderkey (key) SELECT unnest(%s::text[])"
                " ON CONFLICT DO NOTHING",
                [missing],
            )
            found |= _found(missing)
    return found


def _found(keys: Sequence[str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT key, id FROM telemetry_holderkey WHERE key = ANY(%s)", [list(keys)])
        return dict(cursor.fetchall())


def device_ids(
    *, agent: AgentFact, devices: Sequence[DeviceIn], first_seen_ms: Sequence[int], at_ms: int
) -> list[int] | None:
    """The id of each device, or None when one is new, changed, gone or seen earlier than known."""
    known = _devices.get(agent.agent_id)
    if known is None or len(known.by_uuid) != len(devices) or at_ms > known.until_ms:
        return None
    ids = []
    for device, seen_ms in zip(devices, first_seen_ms, strict=True):
        entry = known.by_uuid.get(device.uuid)
        if entry is None or seen_ms < entry.seen_from_ms or entry.device != device:
            return None
        ids.append(entry.id)
    return ids


def registered_device_ids(
    *, agent: AgentFact, devices: Sequence[DeviceIn], first_seen_ms: Sequence[int], at: datetime
) -> list[int]:
    """Register the devices with the fleet, each from when it was first seen; their ids."""
    at_ms = int(at.timestamp() * 1000)
    since = _seen_since(devices, first_seen_ms, at_ms)
    ids = register_devices(
        node_id=agent.node_id,
        devices=[_seen(each, ms) for each, ms in zip(devices, since, strict=True)],
        at=at,
        seen_from=_moment(min(since)),
    )
    living = {each.id for each in devices_lived([agent.node_id], at, at + timedelta(seconds=1))}
    _devices.pop(agent.agent_id, None)
    # A late batch may name devices that are gone; what it says is not to be believed of a newer.
    if living.issuperset(ids.values()):
        _devices[agent.agent_id] = KnownDevices(
            by_uuid={
                device.uuid: KnownDevice(device, ids[device.uuid], seen_ms)
                for device, seen_ms in zip(devices, since, strict=True)
            },
            until_ms=at_ms + DEVICES_KEPT_MS,
        )
    return [ids[device.uuid] for device in devices]


def _seen_since(devices: Sequence[DeviceIn], first_seen_ms: Sequence[int], at_ms: int) -> list[int]:
    """When each was first there: one without windows as early as the batch, a GPU as its slices."""
    earliest = min(at_ms, *first_seen_ms)
    return [
        earliest if seen_ms > at_ms or device.kind == "gpu" else seen_ms
        for device, seen_ms in zip(devices, first_seen_ms, strict=True)
    ]


def _seen(device: DeviceIn, seen_from_ms: int) -> SeenDevice:
    return SeenDevice(
        uuid=device.uuid,
        model=device.model,
        index=device.index,
        kind=device.kind,
        parent=device.parent,
        profile=device.profile or "",
        compute_slices=device.compute_slices,
        memory_slices=device.memory_slices,
        replicas=device.replicas or 1,
        seen_from=_moment(seen_from_ms),
    )


def _moment(at_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at_ms)
