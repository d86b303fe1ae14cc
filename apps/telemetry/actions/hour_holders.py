"""The holders that the stored windows of a device have in an hour, whichever process stored them."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

from apps.economics.hours import HOUR_MS, from_epoch_ms

# One look into the index a device and hour: of an hour that just began it finds nothing.
STORED = """
SELECT asked.place, holder.key
FROM unnest(%s::int4[], %s::text[], %s::timestamptz[]) WITH ORDINALITY
    AS asked (node_id, uuid, hour, place)
JOIN fleet_device_fact AS device
    ON device.node_id = asked.node_id AND device.uuid = asked.uuid
CROSS JOIN LATERAL (
    SELECT DISTINCT stored.holder_id FROM telemetry_window AS stored
    WHERE stored.device_id = device.id AND stored.starts_at >= asked.hour
      AND stored.starts_at < asked.hour + interval '1 hour'
) AS named
JOIN telemetry_holderkey AS holder ON holder.id = named.holder_id
WHERE holder.key <> ''
"""


class DeviceAtHour(NamedTuple):
    """A device of a node, by its UUID, in an hour, counted since the epoch."""

    node_id: int
    uuid: str
    hour: int


def stored_holders(asked: Sequence[DeviceAtHour]) -> dict[DeviceAtHour, set[str]]:
    """Return the keys of the holders of each device's hour; nothing of one without holders."""
    node_ids, uuids, hours = zip(*asked, strict=True)
    starts = [from_epoch_ms(hour * HOUR_MS) for hour in hours]
    found: dict[DeviceAtHour, set[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(STORED, [list(node_ids), list(uuids), starts])
        for place, key in cursor.fetchall():
            found.setdefault(asked[place - 1], set()).add(key)
    return found
