"""Energy that the GPUs held by jobs drew, and how their tensor cores worked, as far as meters told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.ledger.queries.tables import rows

JobHour = tuple[int, int | None, datetime]
"""A job, a pool, an hour."""


@dataclass(frozen=True, slots=True)
class JobMeterSums:
    """Joules, and the seconds in which tensor cores worked and were watched; None: nothing told."""

    energy_joules: float | None
    tensor_seconds: float | None
    tensor_observed_seconds: float | None

    def part(self, of: int, total: int) -> "JobMeterSums":
        """The share `of` ÷ `total` of it."""
        return JobMeterSums(
            *(
                None if value is None else value * of / total
                for value in (self.energy_joules, self.tensor_seconds, self.tensor_observed_seconds)
            )
        )


def job_meters(
    job_ids: Sequence[int], starts_at: datetime, ends_at: datetime
) -> dict[JobHour, JobMeterSums]:
    """Of the hours in `[starts_at, ends_at)` by job, pool and hour; none: no meter told anything.

    A GPU's hour is divided by the part of its life in it for which the job held it; where it is not
    known which GPUs of a node a job held, each counts with the part of them that it held.
    """
    params = {"jobs": list(job_ids), "from": starts_at, "to": ends_at}
    return {
        (job_id, pool_id, hour): JobMeterSums(*meters)
        for job_id, pool_id, hour, *meters in rows(DRAWN, params)
    }


# Each hour's part of a grant; then its node's GPUs; then what the meters of each of those told of the
# hour. A device's own reading has holder 0, and only it (or the only row) has meters. Where two
# sources told of its links the better counts.
METERED: LiteralString = """
WITH held AS MATERIALIZED (
    SELECT grant_.job_id, grant_.node_id, hour.at AS hour, grant_.device_uuids,
           grant_.gpus_numerator::float8 / grant_.gpus_denominator AS gpus,
           tstzrange(greatest(lower(grant_.period), hour.at),
                     least(upper(grant_.period), hour.at + interval '1 hour')) AS during
    FROM workloads_allocation_fact AS grant_
    CROSS JOIN LATERAL generate_series(
        date_trunc('hour', greatest(lower(grant_.period), %(from)s), 'UTC'),
        least(upper(grant_.period), %(to)s) - interval '1 microsecond', interval '1 hour'
    ) AS hour (at)
    WHERE grant_.job_id = ANY(%(jobs)s) AND grant_.node_id IS NOT NULL
      AND grant_.period && tstzrange(%(from)s, %(to)s)
), linked AS MATERIALIZED (
    SELECT DISTINCT ON (told.device_id, told.hour) told.device_id, told.hour,
           told.nvlink_bytes, told.pcie_bytes, told.observed_seconds
    FROM telemetry_devicehour_fact AS told JOIN fleet_device_fact AS device ON device.id = told.device_id
    WHERE told.hour >= %(from)s AND told.hour < %(to)s
      AND (told.nvlink_bytes IS NOT NULL OR told.pcie_bytes IS NOT NULL)
      AND device.node_id IN (SELECT node_id FROM held)
    ORDER BY told.device_id, told.hour, told.source
), drawn AS MATERIALIZED (
    SELECT device.id AS device_id, device.node_id, usage.hour, device.uuid,
           max(usage.energy_joules) AS joules,
           max(usage.sm_seconds) AS sm, max(usage.sm_observed_seconds) AS sm_observed,
           max(usage.tensor_seconds) AS tensor,
           max(usage.tensor_observed_seconds) AS tensor_observed,
           max(usage.dram_seconds) AS dram, max(usage.dram_observed_seconds) AS dram_observed,
           tstzrange(greatest(lower(device.period), usage.hour),
                     least(upper(device.period), usage.hour + interval '1 hour')) AS lived
    FROM telemetry_usagehour_fact AS usage JOIN fleet_device_fact AS device ON device.id = usage.device_id
    WHERE usage.hour >= %(from)s AND usage.hour < %(to)s
      AND (usage.energy_joules IS NOT NULL OR usage.sm_observed_seconds IS NOT NULL
           OR usage.tensor_observed_seconds IS NOT NULL OR usage.dram_observed_seconds IS NOT NULL)
      AND device.node_id IN (SELECT node_id FROM held)
    GROUP BY device.node_id, usage.hour, device.id, device.uuid, device.period
), known AS (
    SELECT drawn.*, linked.nvlink_bytes AS nvlink, linked.pcie_bytes AS pcie,
           CASE WHEN linked.nvlink_bytes IS NOT NULL THEN linked.observed_seconds END
               AS nvlink_observed,
           CASE WHEN linked.pcie_bytes IS NOT NULL THEN linked.observed_seconds END
               AS pcie_observed,
           count(*) OVER (PARTITION BY drawn.node_id, drawn.hour) AS gpus_of_node
    FROM drawn LEFT JOIN linked USING (device_id, hour)
)
SELECT held.job_id, node.pool_id, held.hour AS held_hour, known.*,
       extract(epoch FROM upper(held.during * known.lived) - lower(held.during * known.lived))
       / extract(epoch FROM upper(known.lived) - lower(known.lived))
       * CASE WHEN held.device_uuids IS NULL THEN least(1, held.gpus / known.gpus_of_node)
              ELSE 1 END AS part
FROM held
JOIN known ON known.node_id = held.node_id AND known.hour = held.hour
     AND (held.device_uuids IS NULL OR known.uuid = ANY(held.device_uuids))
     AND held.during && known.lived
JOIN fleet_node_fact AS node ON node.id = held.node_id
"""
DRAWN: LiteralString = """
SELECT job_id, pool_id, held_hour, sum(joules * part)::float8, sum(tensor * part)::float8,
       sum(tensor_observed * part)::float8
FROM (:metered) AS metered GROUP BY job_id, pool_id, held_hour
""".replace(":metered", METERED)
