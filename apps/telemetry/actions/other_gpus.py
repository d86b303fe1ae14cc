"""The GPUs that a node reports beside a list of them, whichever process stored that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

# A list is of one boot and a few hours at most, and those of a node that is new find no device.
HEARD = """
WITH heard AS (
    SELECT asked.node_id, coalesce(gpu.id, device.id) AS gpu_id, stored.starts_at,
           stored.starts_at < asked.ends_at
           AND stored.starts_at + stored.length_ms * interval '1 ms' > asked.starts_at AS together
    FROM unnest(%(nodes)s::int4[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
        AS asked (node_id, starts_at, ends_at)
    JOIN fleet_device_fact AS device ON device.node_id = asked.node_id
    LEFT JOIN fleet_device_fact AS gpu ON gpu.id = device.parent_id
    JOIN telemetry_window AS stored ON stored.device_id = device.id
        AND stored.starts_at >= date_bin('1 hour', asked.starts_at, 'epoch')
        AND stored.starts_at < date_bin('1 hour', asked.ends_at, 'epoch') + interval '1 hour'
    WHERE coalesce(gpu.uuid, device.uuid) <> ALL(%(listed)s)
), hours AS (
    SELECT node_id, count(DISTINCT gpu_id) AS gpus
    FROM heard GROUP BY node_id, date_bin('1 hour', starts_at, 'epoch')
), most AS (
    SELECT node_id, max(gpus) AS gpus FROM hours GROUP BY node_id
)
SELECT most.node_id, most.gpus,
       (SELECT count(DISTINCT gpu_id) FROM heard
        WHERE heard.node_id = most.node_id AND heard.together)
FROM most
"""


class ListedGpus(NamedTuple):
    """The GPUs that a node's list names, and from when to when its windows are."""

    node_id: int
    starts_at: datetime
    ends_at: datetime
    uuids: frozenset[str]


@dataclass(frozen=True, slots=True)
class OtherGpus:
    """How many GPUs a node reports that a list does not name.

    `together` of them at the time of the list's windows, `in_an_hour` the most in any of its hours.
    """

    together: int = 0
    in_an_hour: int = 0


NONE_BESIDE = OtherGpus()


def count_other_gpus(lists: Sequence[ListedGpus]) -> dict[int, OtherGpus]:
    """Return what each node reports beside its list; nothing of one that reports no other GPU.

    No two of the lists may be of one node or name one GPU.
    """
    if not lists:
        return {}
    params: dict[str, Any] = {
        "nodes": [gpu_list.node_id for gpu_list in lists],
        "starts": [gpu_list.starts_at for gpu_list in lists],
        "ends": [gpu_list.ends_at for gpu_list in lists],
        "listed": sorted(uuid for gpu_list in lists for uuid in gpu_list.uuids),
    }
    with connection.cursor() as cursor:
        cursor.execute(HEARD, params)
        return {node: OtherGpus(together, most) for node, most, together in cursor.fetchall()}
