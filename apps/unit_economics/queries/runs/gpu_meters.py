"""How hard runs worked their GPUs: their parts of what the meters of their jobs' GPUs told."""

from collections.abc import Collection
from typing import LiteralString

from apps.economics.gpu_meters import GpuMeters
from apps.economics.states import Flag
from apps.ledger.queries.tables import rows


def meters_of_runs(run_ids: Collection[int]) -> dict[int, GpuMeters]:
    """Of each run whose jobs held GPUs: on each day it has the part of a job's that it has of its time."""
    params = {"runs": list(run_ids), "shared_idle": int(Flag.SHARED_IDLE)}
    return {run_id: GpuMeters(*sums) for run_id, *sums in rows(METERS, params)}


METERS: LiteralString = """
WITH carried AS (
    SELECT run_id, job_id, pool_id, day, sum(unit_milliseconds) AS time
    FROM ledger_runday
    WHERE run_id = ANY(%(runs)s) AND flags & %(shared_idle)s = 0 AND unit_milliseconds > 0
    GROUP BY run_id, job_id, pool_id, day
), metered AS (
    SELECT job_id, pool_id, day, sum(gpu_milliseconds) AS held,
           sum(observed_milliseconds) AS observed, sum(active_milliseconds) AS active,
           sum(sm_seconds) AS sm, sum(sm_observed_seconds) AS sm_observed,
           sum(tensor_seconds) AS tensor, sum(tensor_observed_seconds) AS tensor_observed,
           sum(dram_seconds) AS dram, sum(dram_observed_seconds) AS dram_observed,
           sum(nvlink_bytes) AS nvlink, sum(nvlink_observed_seconds) AS nvlink_observed,
           sum(pcie_bytes) AS pcie, sum(pcie_observed_seconds) AS pcie_observed
    FROM ledger_meterday_fact WHERE job_id IN (SELECT job_id FROM carried)
    GROUP BY job_id, pool_id, day
), shared AS (
    SELECT carried.run_id, metered.*, least(1, carried.time::float8 / metered.held) AS part
    FROM carried JOIN metered USING (job_id, pool_id, day)
)
SELECT run_id, round(sum(held * part))::int8, round(sum(observed * part))::int8,
       round(sum(active * part))::int8, sum(sm * part),
       sum(sm_observed * part), sum(tensor * part), sum(tensor_observed * part), sum(dram * part),
       sum(dram_observed * part), sum(nvlink * part), sum(nvlink_observed * part),
       sum(pcie * part), sum(pcie_observed * part)
FROM shared GROUP BY run_id
"""
