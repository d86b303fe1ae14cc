"""GPUs that two nodes report: it stays with the one that has it until that falls silent about it.

An agent writes only its node's devices. A GPU does move from node to node, but then the old node no
longer reports it; what names a GPU that another still reports is a mistake, or somebody's attempt.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection

from apps.economics.hours import epoch_ms, from_epoch_ms
from apps.fleet.queries import NodeSpan, devices_elsewhere
from apps.telemetry.actions.windows import JudgedWindows
from apps.telemetry.actions.wire import DeviceIn

SILENT_MS = 5 * 60_000
REASON = "reported by another node"
HEARD = """
SELECT device_id, min(starts_at), max(starts_at + length_ms * interval '1 ms')
FROM telemetry_window
WHERE device_id = ANY(%s) AND starts_at >= %s AND starts_at < %s
GROUP BY device_id
"""

Devices = Sequence[DeviceIn | None]
Heard = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class NodeWindows:
    """A node's report of its devices; None stands for a device of which nothing is left."""

    node_id: int
    devices: Devices
    judgement: JudgedWindows

    def uuids(self) -> set[str]:
        """The devices and, of slices, the GPUs that they would bring along."""
        return {uuid for device in self.devices for uuid in _claimed_uuids(device)}

    def span(self) -> NodeSpan | None:
        """When another node's word would count against this one's; None without a window."""
        pieces = self.judgement.pieces
        if not pieces.device.size:
            return None
        return NodeSpan(
            self.node_id,
            from_epoch_ms(int(pieces.starts_at_ms.min()) - SILENT_MS),
            from_epoch_ms(int((pieces.starts_at_ms + pieces.length_ms).max())),
        )


def undisputed(node_windows: Sequence[NodeWindows]) -> list[NodeWindows]:
    """Without the windows of GPUs that another node reports then; None for devices all of it.

    No two of `node_windows` may name one GPU.
    """
    spans = {
        uuid: span
        for windows in node_windows
        if (span := windows.span())
        for uuid in windows.uuids()
    }
    uuid_of = devices_elsewhere(spans) if spans else {}
    return [_undisputed(windows, uuid_of) for windows in node_windows]


def _undisputed(windows: NodeWindows, uuid_of: Mapping[int, str]) -> NodeWindows:
    heard = _heard_elsewhere(windows, uuid_of)
    if not heard:
        return windows
    pieces = windows.judgement.pieces
    disputed = np.zeros(pieces.device.size, np.bool_)
    left: list[DeviceIn | None] = list(windows.devices)
    for place, device in enumerate(windows.devices):
        spans = [heard[uuid] for uuid in _claimed_uuids(device) if uuid in heard]
        its = pieces.device == place
        for from_ms, to_ms in spans:
            starts = pieces.starts_at_ms
            disputed |= its & (starts >= from_ms) & (starts < to_ms + SILENT_MS)
        if spans and not (its & ~disputed).any():
            left[place] = None
    return NodeWindows(windows.node_id, left, windows.judgement.without(disputed, "device", REASON))


def _heard_elsewhere(windows: NodeWindows, uuid_of: Mapping[int, str]) -> Heard:
    """From when to when other nodes reported its GPUs, about the time of its windows."""
    named, span = windows.uuids(), windows.span()
    ids = [device_id for device_id, uuid in uuid_of.items() if uuid in named]
    heard: Heard = {}
    for device_id, from_ms, to_ms in _reported_spans(ids, span) if ids and span else ():
        before = heard.get(uuid_of[device_id], (from_ms, to_ms))
        heard[uuid_of[device_id]] = min(before[0], from_ms), max(before[1], to_ms)
    return heard


def _reported_spans(ids: Collection[int], about: NodeSpan) -> list[tuple[int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(HEARD, [list(ids), about.starts_at, about.ends_at])
        return [
            (device_id, epoch_ms(since), epoch_ms(until))
            for device_id, since, until in cursor.fetchall()
        ]


def _claimed_uuids(device: DeviceIn | None) -> list[str]:
    """A device and, of a slice, the GPU that it would bring along."""
    return [] if device is None else [device.uuid, *([device.parent] if device.parent else [])]
