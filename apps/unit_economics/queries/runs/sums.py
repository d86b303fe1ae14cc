"""Sums of the days of runs, by bucket; and the runs whose figures are behind."""

from collections.abc import Collection
from dataclasses import dataclass

from apps.economics.run_time import Bucket
from apps.economics.states import Flag, State
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class RunSum:
    """A run's GPU time and its cost in a bucket on a model of GPU, but for idle that is shared out.

    `held_milliseconds` is what its jobs held, `observed_milliseconds` the part of that somebody
    looked at.
    """

    bucket: Bucket
    gpu_model: str
    effective_micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    held_milliseconds: int
    observed_milliseconds: int
    energy_joules: float | None
    tensor_seconds: float | None
    tensor_observed_seconds: float | None


def run_sums(run_ids: Collection[int]) -> dict[int, list[RunSum]]:
    """All days of these runs."""
    params = {
        "runs": list(run_ids),
        "shared_idle": int(Flag.SHARED_IDLE),
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "unobserved": int(State.UNOBSERVED),
        "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
    }
    sums_by_run: dict[int, list[RunSum]] = {}
    for run_id, bucket, *sums in rows(SUMS, params):
        sums_by_run.setdefault(run_id, []).append(RunSum(Bucket(bucket), *sums))
    return sums_by_run


def due_runs(limit: int) -> list[int]:
    """Up to `limit` runs that have no figures, or whose are not of their latest summary."""
    return [run_id for (run_id,) in rows(DUE, {"limit": limit})]


SUMS = """
SELECT day.run_id, day.bucket, coalesce(pool.gpu_model, ''), sum(day.effective_micros)::int8,
       coalesce(sum(day.unit_milliseconds) FILTER (WHERE is_gpu), 0)::int8,
       sum(day.unpriced_milliseconds)::int8,
       coalesce(sum(day.unit_milliseconds) FILTER (
           WHERE is_gpu AND day.state = ANY(%(held)s) AND day.flags & %(not_held)s = 0), 0)::int8,
       coalesce(sum(day.unit_milliseconds) FILTER (
           WHERE is_gpu AND day.state = ANY(%(held)s) AND day.state <> %(unobserved)s
             AND day.flags & %(not_held)s = 0), 0)::int8,
       sum(day.energy_joules), sum(day.tensor_seconds), sum(day.tensor_observed_seconds)
FROM ledger_runday AS day LEFT JOIN fleet_pool_fact AS pool ON pool.id = day.pool_id
CROSS JOIN LATERAL (SELECT pool.unit IS DISTINCT FROM 'core' AS is_gpu) AS measured
WHERE day.run_id = ANY(%(runs)s) AND day.flags & %(shared_idle)s = 0
GROUP BY day.run_id, day.bucket, pool.gpu_model
ORDER BY day.run_id, day.bucket, pool.gpu_model
"""
DUE = """
SELECT run.id
FROM workloads_run_fact AS run
LEFT JOIN ledger_runfigures AS figures ON figures.run_id = run.id
LEFT JOIN workloads_runsummary_fact AS summary ON summary.run_id = run.id
WHERE figures.run_id IS NULL OR summary.folded_at IS DISTINCT FROM figures.folded_at
ORDER BY run.id LIMIT %(limit)s
"""
