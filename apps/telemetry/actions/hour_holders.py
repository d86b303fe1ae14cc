"""The holders that the stored windows of a device have in an hour, whichever process stored them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db import connection

from apps.economics.hours import HOUR_MS, from_epoch_ms

# Bounds that the planner sees leave one partition or two; bounds out of a join leave all of them,
# which takes three times as long.
STORED = """
SELECT device.node_id, device.uuid, named.hour, holder.key
FROM (
    SELECT DISTINCT device_id, holder_id,
           floor(extract(epoch FROM starts_at) / 3600)::int4 AS hour
    FROM telemetry_window
    WHERE device_id = ANY(ARRAY(
              SELECT id FROM fleet_device_fact
              WHERE node_id = ANY(%s::int4[]) AND uuid = ANY(%s::text[])))
      AND starts_at >= %s AND starts_at < %s
) AS named
JOIN fleet_device_fact AS device ON device.id = named.device_id
JOIN telemetry_holderkey AS holder ON holder.id = named.holder_id
WHERE holder.key <> ''
"""
MOST_HOURS = 6
"""Of hours in a row so many are read by one statement."""


class DeviceAtHour(NamedTuple):
    """A device of a node, by its UUID, in an hour, counted since the epoch."""

    node_id: int
    uuid: str
    hour: int


def stored_holders(device_hours: Sequence[DeviceAtHour]) -> dict[DeviceAtHour, set[str]]:
    """Return the keys of the holders of each device's hour; nothing of one without holders."""
    keys_by_place: dict[DeviceAtHour, set[str]] = {}
    wanted = set(device_hours)
    with connection.cursor() as cursor:
        for run in _runs_of_hours(device_hours):
            first, last = run[0].hour, run[-1].hour + 1
            nodes = sorted({device_hour.node_id for device_hour in run})
            uuids = sorted({device_hour.uuid for device_hour in run})
            span = [from_epoch_ms(hour * HOUR_MS) for hour in (first, last)]
            cursor.execute(STORED, [nodes, uuids, *span])
            for node_id, uuid, hour, key in cursor.fetchall():
                place = DeviceAtHour(node_id, uuid, hour)
                if place in wanted:
                    keys_by_place.setdefault(place, set()).add(key)
    return keys_by_place


def _runs_of_hours(device_hours: Sequence[DeviceAtHour]) -> Iterator[list[DeviceAtHour]]:
    """Those of hours that follow one another, at most MOST_HOURS together."""
    run: list[DeviceAtHour] = []
    for hour in sorted(device_hours, key=lambda one: one.hour):
        if run and (hour.hour > run[-1].hour + 1 or hour.hour >= run[0].hour + MOST_HOURS):
            yield run
            run = []
        run.append(hour)
    if run:
        yield run
