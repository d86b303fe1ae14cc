"""GPUs that the jobs of a workload held, and when: as they were charged to it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class HeldGrant:
    """GPUs of a node that a job of a workload held in `[starts_at, ends_at)`.

    `device_ids` are whole GPUs; fewer than `gpus` where it is not known which they were.
    """

    workload_id: int
    pool_id: int
    gpus: float
    starts_at: datetime
    ends_at: datetime
    device_ids: tuple[int, ...]

    @property
    def held_seconds(self) -> float:
        """GPU-seconds."""
        return self.gpus * (self.ends_at - self.starts_at).total_seconds()


def grants_of_workloads(
    workload_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[HeldGrant]:
    """Return what jobs held that were charged to these workloads in `[starts_at, ends_at)`; one statement."""
    params = {"workloads": list(workload_ids), "from": starts_at, "to": ends_at}
    return [
        HeldGrant(workload_id, pool_id, gpus, since, until, tuple(ids))
        for workload_id, pool_id, gpus, since, until, ids in rows(HELD, params)
    ]


# A grant that names no GPUs held those of its node where it held all of them.
HELD: LiteralString = """
WITH ran AS MATERIALIZED (
    SELECT DISTINCT workload_id, pool_id, job_id FROM ledger_line
    WHERE posting_month >= date_trunc('month', %(from)s::timestamptz, 'UTC')::date - 1
      AND hour >= %(from)s AND hour < %(to)s
      AND workload_id = ANY(%(workloads)s) AND job_id IS NOT NULL
)
SELECT ran.workload_id, ran.pool_id, held.gpus_numerator::float8 / held.gpus_denominator,
       greatest(lower(held.period), %(from)s), least(upper(held.period), %(to)s), known.ids
FROM ran JOIN workloads_allocation_fact AS held USING (job_id)
JOIN fleet_node_fact AS node ON node.id = held.node_id AND node.pool_id = ran.pool_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(device.id::int4 ORDER BY device.id) FILTER (
               WHERE held.device_uuids IS NOT NULL
                  OR held.gpus_numerator >= held.gpus_denominator * device.count), '{}') AS ids
    FROM (
        SELECT each.id, each.uuid, count(*) OVER () AS count FROM fleet_device_fact AS each
        WHERE each.node_id = held.node_id AND each.kind = 'gpu' AND each.period && held.period
          AND each.period && tstzrange(%(from)s, %(to)s)
    ) AS device
    WHERE held.device_uuids IS NULL OR device.uuid = ANY(held.device_uuids)
) AS known
WHERE held.period && tstzrange(%(from)s, %(to)s) AND held.gpus_numerator > 0
ORDER BY 1, 2, 4
"""
