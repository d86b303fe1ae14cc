"""GPUs that two nodes report: it stays with the one that has it until that falls silent about it.

An agent writes only its node's devices. A GPU does move from node to node, but then the old node no
longer reports it; what names a GPU that another still reports is a mistake, or somebody's attempt.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.economics.hours import epoch_ms, from_epoch_ms
from apps.fleet.queries import devices_elsewhere
from apps.telemetry.actions.remarks import Remark
from apps.telemetry.actions.windows import JudgedWindows, Pieces
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


def undisputed(
    *, judgement: JudgedWindows, devices: Devices, node_id: int
) -> tuple[JudgedWindows, Devices]:
    """Without the windows of GPUs that another node reports then; None for devices all of it."""
    pieces = judgement.pieces
    heard = _heard_elsewhere(devices, pieces, node_id)
    if not heard:
        return judgement, devices
    disputed = np.zeros(pieces.device.size, np.bool_)
    left: list[DeviceIn | None] = list(devices)
    for place, device in enumerate(devices):
        spans = [heard[uuid] for uuid in _claimed_uuids(device) if uuid in heard]
        its = pieces.device == place
        for from_ms, to_ms in spans:
            starts = pieces.starts_at_ms
            disputed |= its & (starts >= from_ms) & (starts < to_ms + SILENT_MS)
        if spans and not (its & ~disputed).any():
            left[place] = None
    return _without_disputed(judgement, disputed), left


def _without_disputed(judgement: JudgedWindows, disputed: NDArray[np.bool_]) -> JudgedWindows:
    """The windows of which no piece is disputed, with a remark for each other."""
    refused = np.unique(judgement.pieces.window[disputed])
    said = [Remark(index, "device", REASON, kept=False) for index in refused.tolist()]
    return replace(
        judgement,
        pieces=judgement.pieces.taken(~np.isin(judgement.pieces.window, refused)),
        accepted=judgement.accepted - len(said),
        remarks=(*judgement.remarks, *said),
    )


def _heard_elsewhere(devices: Devices, pieces: Pieces, node_id: int) -> Heard:
    """From when to when other nodes reported these GPUs, about the time of the windows."""
    if not pieces.device.size:
        return {}
    since = int(pieces.starts_at_ms.min()) - SILENT_MS
    until = int((pieces.starts_at_ms + pieces.length_ms).max())
    uuids = {uuid for device in devices for uuid in _claimed_uuids(device)}
    uuid_of = devices_elsewhere(uuids, node_id, from_epoch_ms(since), from_epoch_ms(until))
    heard: Heard = {}
    for device_id, from_ms, to_ms in _reported_spans(uuid_of, since, until) if uuid_of else ():
        before = heard.get(uuid_of[device_id], (from_ms, to_ms))
        heard[uuid_of[device_id]] = min(before[0], from_ms), max(before[1], to_ms)
    return heard


def _reported_spans(ids: Collection[int], since: int, until: int) -> list[tuple[int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(HEARD, [list(ids), from_epoch_ms(since), from_epoch_ms(until)])
        return [(row[0], epoch_ms(row[1]), epoch_ms(row[2])) for row in cursor.fetchall()]


def _claimed_uuids(device: DeviceIn | None) -> list[str]:
    """A device and, of a slice, the GPU that it would bring along."""
    return [] if device is None else [device.uuid, *([device.parent] if device.parent else [])]
