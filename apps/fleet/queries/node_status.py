"""Every node as it stands now: what it has, who reports for it, what is wrong with it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

ENDED_WITHIN = timedelta(days=30)
SILENT_AFTER = timedelta(hours=6)

NODES = """
SELECT node.id, node.name, node.pool_id, node.kind, lower(node.period), upper(node.period),
       node.end_reason, coalesce(capacity.units, 0), coalesce(seen.gpus, 0),
       coalesce(seen.unconfirmed, 0), heard.at, outage.kind, outage.since, heard.spoke_at
FROM fleet_node AS node
LEFT JOIN fleet_nodecapacity AS capacity
       ON capacity.node_id = node.id AND capacity.period @> %(at)s
LEFT JOIN (
    SELECT node_id, count(*) FILTER (WHERE kind = 'gpu') AS gpus,
           count(*) FILTER (WHERE confirmed_at IS NULL) AS unconfirmed
    FROM fleet_device WHERE period @> %(at)s GROUP BY node_id
) AS seen ON seen.node_id = node.id
LEFT JOIN (
    SELECT node_id, max(coalesce(last_seen_at, enrolled_at)) AS at, max(last_seen_at) AS spoke_at
    FROM fleet_agent GROUP BY node_id
) AS heard ON heard.node_id = node.id
LEFT JOIN (
    SELECT DISTINCT ON (node_id) node_id, kind, lower(period) AS since
    FROM fleet_outage WHERE device_id IS NULL AND period @> %(at)s ORDER BY node_id, id
) AS outage ON outage.node_id = node.id
WHERE NOT isempty(node.period)
  AND (node.period @> %(at)s OR upper(node.period) BETWEEN %(ended_since)s AND %(at)s)
ORDER BY node.name, node.id
"""


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A node at a moment; `units` are declared, `gpus_seen` are what agents list.

    `last_seen_at` is when an agent last spoke, or enrolled; None: no agent ever. `spoke_at` is
    None also where one was let in and has not spoken.
    """

    id: int
    name: str
    pool_id: int
    kind: str
    started_at: datetime | None
    ended_at: datetime | None
    end_reason: str
    units: int
    gpus_seen: int
    unconfirmed: int
    last_seen_at: datetime | None
    outage: str | None
    outage_since: datetime | None
    spoke_at: datetime | None = None

    def lives(self, at: datetime) -> bool:
        """Whether it is there, and charged, at `at`."""
        return self.ended_at is None or at < self.ended_at

    def is_silent(self, at: datetime) -> bool:
        """Whether it lives and its agents have said nothing for six hours."""
        return (
            self.lives(at)
            and self.last_seen_at is not None
            and at - self.last_seen_at >= SILENT_AFTER
        )


def node_statuses(at: datetime) -> list[NodeStatus]:
    """The nodes that live at `at` or ended in the thirty days before it, by name, then id."""
    with connection.cursor() as cursor:
        cursor.execute(NODES, {"at": at, "ended_since": at - ENDED_WITHIN})
        return [NodeStatus(*row) for row in cursor.fetchall()]
