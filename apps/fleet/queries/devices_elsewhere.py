"""GPUs that lived on another node than the one that names them."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import connection

DEVICES_ELSEWHERE = """
SELECT device.id, device.uuid
FROM unnest(%s::text[], %s::int8[], %s::timestamptz[], %s::timestamptz[])
     AS named (uuid, node_id, starts_at, ends_at)
JOIN fleet_device AS device ON device.uuid = named.uuid AND device.node_id <> named.node_id
    AND device.period && tstzrange(named.starts_at, named.ends_at)
ORDER BY device.id
"""


class NodeSpan(NamedTuple):
    """A node, and when."""

    node_id: int
    starts_at: datetime
    ends_at: datetime


def devices_elsewhere(spans: Mapping[str, NodeSpan]) -> dict[int, str]:
    """The devices of these UUIDs that lived on another node than theirs in its span: UUID by id."""
    columns = zip(*((uuid, *span) for uuid, span in spans.items()), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(DEVICES_ELSEWHERE, [list(column) for column in columns])
        return dict(cursor.fetchall())
