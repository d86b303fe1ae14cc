"""MeterDay in the roll-up: what GPU meters told while jobs held them, by owner."""

from typing import LiteralString

from apps.economics.states import Flag, State
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.queries.job_meters import METERED
from apps.ledger.queries.tables import rows, run


def write_meter_days(rolled: RolledDay) -> None:
    """Write the day's rows anew, in the roll-up's transaction and after LedgerJobDay, its owners."""
    params = rolled.parameters() | {
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "active": int(State.ACTIVE),
        "unobserved": int(State.UNOBSERVED),
        "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED | Flag.SHARED_IDLE),
    }
    run(DELETE, params)
    jobs = [job_id for (job_id,) in rows(JOBS, params)]
    if jobs:
        run(INSERT, params | {"jobs": jobs})


DELETE: LiteralString = (
    "DELETE FROM ledger_meterday WHERE day = %(day)s AND pool_id = ANY(%(pools)s)"
)
OWNED: LiteralString = """
FROM ledger_ledgerjobday AS day JOIN fleet_pool_fact AS pool ON pool.id = day.pool_id
WHERE day.day = %(day)s AND day.pool_id = ANY(%(pools)s) AND pool.unit <> 'core'
  AND day.state = ANY(%(held)s) AND day.flags & %(not_held)s = 0
"""
JOBS: LiteralString = "SELECT DISTINCT day.job_id" + OWNED
INSERT: LiteralString = """
INSERT INTO ledger_meterday
    (day, pool_id, job_id, team_id, workload_id, gpu_milliseconds, observed_milliseconds,
     active_milliseconds,
     sm_seconds, sm_observed_seconds, tensor_seconds, tensor_observed_seconds, dram_seconds,
     dram_observed_seconds, nvlink_bytes, nvlink_observed_seconds, pcie_bytes, pcie_observed_seconds)
WITH owner AS (
    SELECT day.job_id, day.pool_id, day.team_id, day.workload_id,
           sum(day.unit_milliseconds)::int8 AS held,
           coalesce(sum(day.unit_milliseconds) FILTER (WHERE day.state <> %(unobserved)s), 0)::int8
               AS observed,
           coalesce(sum(day.unit_milliseconds) FILTER (WHERE day.state = %(active)s), 0)::int8
               AS active,
           sum(day.unit_milliseconds)::float8
               / nullif(sum(sum(day.unit_milliseconds)) OVER (PARTITION BY day.job_id, day.pool_id), 0)
               AS part
    :owned
    GROUP BY day.job_id, day.pool_id, day.team_id, day.workload_id
), told AS (
    SELECT job_id, pool_id, sum(sm * part) AS sm, sum(sm_observed * part) AS sm_observed,
           sum(tensor * part) AS tensor, sum(tensor_observed * part) AS tensor_observed,
           sum(dram * part) AS dram, sum(dram_observed * part) AS dram_observed,
           sum(nvlink * part) AS nvlink, sum(nvlink_observed * part) AS nvlink_observed,
           sum(pcie * part) AS pcie, sum(pcie_observed * part) AS pcie_observed
    FROM (:metered) AS metered GROUP BY job_id, pool_id
)
SELECT %(day)s, owner.pool_id, owner.job_id, owner.team_id, owner.workload_id, owner.held,
       owner.observed, owner.active, told.sm * owner.part, told.sm_observed * owner.part,
       told.tensor * owner.part, told.tensor_observed * owner.part, told.dram * owner.part,
       told.dram_observed * owner.part, told.nvlink * owner.part,
       told.nvlink_observed * owner.part, told.pcie * owner.part, told.pcie_observed * owner.part
FROM owner LEFT JOIN told USING (job_id, pool_id)
WHERE owner.held > 0
""".replace(":owned", OWNED).replace(":metered", METERED)
