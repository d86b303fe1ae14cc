"""GPUs and MIG slices as agents name them: a slice made again is a new device."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Q

from apps.economics.refusal import Refusal
from apps.fleet.models import Device
from apps.fleet.queries.inventory import DescribedDevice
from apps.logs.changes import answered, logged_change
from apps.marks.actions import mark_spans
from apps.marks.queries import Pass

# The first key of an advisory lock; the passes are 1 to 5.
DEVICES_LOCK = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedDevice(DescribedDevice):
    """A device as an agent lists it; `parent` is the UUID of the GPU that a slice is cut from.

    `seen_from` narrows the batch's own to this device: the start of its first window.
    """

    parent: str | None = None
    seen_from: datetime | None = None


class SliceWithoutParent(Refusal):
    """A MIG slice must name the GPU that it is cut from, and a GPU none."""


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """The devices that a node's agent lists at `at`, as they were at `seen_from`."""

    node_id: int
    devices: Sequence[ObservedDevice]
    at: datetime
    seen_from: datetime

    def uuids(self) -> set[str]:
        """Every UUID that is named: of the devices, and of the GPUs that slices are cut from."""
        parents = {device.parent for device in self.devices if device.parent}
        return parents | {device.uuid for device in self.devices}


def register_devices(
    *, node_id: int, devices: Sequence[ObservedDevice], at: datetime, seen_from: datetime
) -> dict[str, int]:
    """`register_devices_of_nodes` for one node."""
    (ids,) = register_devices_of_nodes(lists=[NodeDevices(node_id, devices, at, seen_from)])
    return ids


@transaction.atomic
def register_devices_of_nodes(*, lists: Sequence[NodeDevices]) -> list[dict[str, int]]:
    """Of each list, the id of each device by UUID; what is new is stored unconfirmed.

    A GPU seen on another node than before, a slice with another parent or geometry and a device
    with other replicas is a new device from then on. Evidence from before a device's first moment
    moves that moment back. A GPU that is listed lists all of its slices: the others are ended.
    Marks split for what changed; call it before marks are laid in the same transaction. No node
    and no UUID may be in two lists. Refuses SliceWithoutParent.
    """
    _refuse_odd_lists(lists)
    with connection.cursor() as cursor:
        # One at a time: two agents may name one GPU that moved from node to node. Looking before
        # the lock too would spare it those that know nothing new, and a new fleet would look twice.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, 0)", [DEVICES_LOCK])
    rows = _rows_about(lists)
    registers = [_Register(node_devices, rows) for node_devices in lists]
    rows_by_list = [register.registered() for register in registers]
    # All GPUs in one statement, then their slices: one by one, a fleet that comes all at once
    # would wait for each.
    for kind in ("gpu", "mig"):
        opened = [row for register in registers for row in register.opened if row.kind == kind]
        Device.objects.bulk_create(opened)
    mark_spans(
        pass_=Pass.SPLIT, spans=[span for register in registers for span in register.changed]
    )
    return [{uuid: row.id for uuid, row in rows_by_uuid.items()} for rows_by_uuid in rows_by_list]


def _refuse_odd_lists(lists: Sequence[NodeDevices]) -> None:
    for device in (device for node_devices in lists for device in node_devices.devices):
        if (device.kind == "mig") != bool(device.parent):
            raise SliceWithoutParent(
                "parent", f"{device.uuid}: kind {device.kind}, parent {device.parent}"
            )
    named = [
        name for node_devices in lists for name in (node_devices.node_id, *node_devices.uuids())
    ]
    if len(named) != len(set(named)):
        raise ValueError("a node or a device is in two of the lists")


def _rows_about(lists: Sequence[NodeDevices]) -> list[Device]:
    """Every life of the devices, and all living slices of the nodes."""
    uuids = {uuid for node_devices in lists for uuid in node_devices.uuids()}
    nodes = [node_devices.node_id for node_devices in lists]
    living_slices = Q(node_id__in=nodes, kind="mig", period__endswith=None)
    rows = Device.objects.filter(Q(uuid__in=uuids) | living_slices, period__isempty=False)
    return list(rows.select_related("parent").order_by("period", "id"))


@logged_change()
@transaction.atomic
def confirm_device(*, device_id: int, at: datetime) -> None:
    """A person says that this device is ours; confirming it twice keeps the first time."""
    Device.objects.get(pk=device_id)
    Device.objects.filter(pk=device_id, confirmed_at=None).update(confirmed_at=at)


@logged_change(count=answered)
def confirm_devices(*, node_id: int, at: datetime) -> int:
    """A person says that all devices of a node are ours; how many were not confirmed yet."""
    return Device.objects.filter(node_id=node_id, confirmed_at=None).update(confirmed_at=at)


class _Register:
    """The devices of one list against what is on record about them."""

    def __init__(self, node_devices: NodeDevices, rows: Iterable[Device]) -> None:
        self.told = node_devices
        self.node_id = node_devices.node_id
        self.seen_from = node_devices.seen_from
        self.listed = {device.uuid for device in node_devices.devices}
        self.history: dict[str, list[Device]] = {}
        self.slices: list[Device] = []
        self.opened: list[Device] = []
        self.changed: set[tuple[int, datetime, datetime]] = set()
        for row in rows:
            self.history.setdefault(row.uuid, []).append(row)
            if row.kind == "mig" and row.node_id == self.node_id and row.period.upper is None:
                self.slices.append(row)

    def registered(self) -> dict[str, Device]:
        """The row of each device; those that are `opened` are yet to be written."""
        rows = self._all_on_record()
        return self._entered() if rows is None else rows

    def _all_on_record(self) -> dict[str, Device] | None:
        """The rows, where nothing has to be written."""
        if self._unlisted_slices():
            return None
        rows_by_uuid = {device.uuid: self._as_on_record(device) for device in self.told.devices}
        rows = {uuid: row for uuid, row in rows_by_uuid.items() if row is not None}
        return rows if len(rows) == len(rows_by_uuid) else None

    def _entered(self) -> dict[str, Device]:
        """Parents first, so that their slices find them."""
        for row in self._unlisted_slices():
            self._end_device(row, self.seen_from)
        devices = self.told.devices
        rows = {}
        for device in sorted(_with_parents(devices), key=lambda device: (device.kind, device.uuid)):
            rows[device.uuid] = self._entered_device(device)
        return {device.uuid: rows[device.uuid] for device in devices}

    def _as_on_record(self, device: ObservedDevice) -> Device | None:
        row = self._living_at(device.uuid, self._seen_from(device))
        if row is None or not self._is_same(row, device) or _adds_details(device, row):
            return None
        return row

    def _entered_device(self, device: ObservedDevice) -> Device:
        moment = self._seen_from(device)
        history = self.history.setdefault(device.uuid, [])
        current_row = self._living_at(device.uuid, moment)
        if current_row is not None:
            if self._is_same(current_row, device):
                return self._told_more(current_row, device)
            if current_row.period.lower == moment:
                return self._described_again(current_row, device)
            until = current_row.period.upper
            self._end_device(current_row, moment)
            return self._opened_device(device, moment, until)
        after = next((row for row in history if row.period.lower > moment), None)
        if after is None:
            return self._opened_device(device, moment, self._replaced_at(device, moment))
        if self._is_same(after, device):
            return self._moved_back(after, moment)
        return self._opened_device(device, moment, after.period.lower)

    def _seen_from(self, device: ObservedDevice) -> datetime:
        return device.seen_from or self.seen_from

    def _living_at(self, uuid: str, moment: datetime) -> Device | None:
        for row in self.history.get(uuid, []):
            if row.period.lower <= moment and (
                row.period.upper is None or moment < row.period.upper
            ):
                return row
        return None

    def _is_same(self, row: Device, device: ObservedDevice) -> bool:
        parent = None if row.parent is None else row.parent.uuid
        cut = (row.profile, row.compute_slices, row.memory_slices)
        return (
            row.node_id == self.node_id
            and (row.kind, parent, row.replicas) == (device.kind, device.parent, device.replicas)
            and cut == (device.profile, device.compute_slices, device.memory_slices)
        )

    def _unlisted_slices(self) -> list[Device]:
        return [
            row
            for row in self.slices
            if row.parent is not None
            and row.parent.uuid in self.listed
            and row.uuid not in self.listed
            and row.period.lower < self.seen_from
        ]

    def _replaced_at(self, device: ObservedDevice, moment: datetime) -> datetime | None:
        """When later evidence, here already, showed other slices in this one's place."""
        return min(
            (
                row.period.lower
                for row in self.slices
                if row.parent is not None
                and row.parent.uuid == device.parent
                and row.uuid not in self.listed
                and row.period.lower > moment
            ),
            default=None,
        )

    def _opened_device(
        self, device: ObservedDevice, moment: datetime, until: datetime | None
    ) -> Device:
        row = Device(
            node_id=self.node_id, uuid=device.uuid, period=DateTimeTZRange(moment, until, "[)")
        )
        self._describe_device(row, device, moment)
        self.opened.append(row)
        history = self.history[device.uuid]
        history.append(row)
        history.sort(key=lambda life: life.period.lower)
        self._note_changed_span(self.node_id, moment, until)
        return row

    def _described_again(self, row: Device, device: ObservedDevice) -> Device:
        # Two descriptions of one moment: the one said last holds.
        was_on = row.node_id
        row.node_id = self.node_id
        self._describe_device(row, device, row.period.lower)
        row.save()
        for node_id in {was_on, self.node_id}:
            self._note_changed_span(node_id, row.period.lower, row.period.upper)
        return row

    def _told_more(self, row: Device, device: ObservedDevice) -> Device:
        """A GPU known only by its slices had no name, and what they are of it hangs on that."""
        if _adds_details(device, row):
            row.model = row.model or device.model
            row.index = device.index if row.index is None else row.index
            row.save(update_fields=["model", "index"])
            self._note_changed_span(row.node_id, row.period.lower, row.period.upper)
        return row

    def _moved_back(self, row: Device, moment: datetime) -> Device:
        was_from = row.period.lower
        row.period = (moment, row.period.upper)
        row.save(update_fields=["period"])
        row.refresh_from_db(fields=["period"])
        self._note_changed_span(self.node_id, moment, was_from)
        return row

    def _end_device(self, row: Device, ended_at: datetime) -> None:
        until = row.period.upper
        row.period = (row.period.lower, ended_at)
        row.save(update_fields=["period"])
        row.refresh_from_db(fields=["period"])
        self._note_changed_span(row.node_id, ended_at, until)

    def _describe_device(self, row: Device, device: ObservedDevice, moment: datetime) -> None:
        row.kind = device.kind
        row.model = device.model
        row.index = device.index
        row.profile = device.profile
        row.compute_slices = device.compute_slices
        row.memory_slices = device.memory_slices
        row.replicas = device.replicas
        row.parent = self._living_at(device.parent, moment) if device.parent else None

    def _note_changed_span(
        self, node_id: int, starts_at: datetime, ends_at: datetime | None
    ) -> None:
        at = self.told.at
        until = at if ends_at is None else min(at, ends_at)
        if until > starts_at:
            self.changed.add((node_id, starts_at, until))


def _adds_details(device: ObservedDevice, row: Device) -> bool:
    """Whether it names what was unknown; another name for the same GPU is no news."""
    return bool(device.model and not row.model) or (device.index is not None and row.index is None)


def _with_parents(devices: Sequence[ObservedDevice]) -> Iterable[ObservedDevice]:
    """The devices, and GPUs that are named only as a parent: all that is known is their UUID."""
    yield from devices
    listed = {device.uuid for device in devices}
    unlisted: dict[str, ObservedDevice] = {}
    for device in devices:
        if device.parent and device.parent not in listed:
            unlisted[device.parent] = ObservedDevice(uuid=device.parent, seen_from=device.seen_from)
    yield from unlisted.values()
