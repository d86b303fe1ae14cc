"""Use of a pool's machines, hour by hour, and how they were paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.economics.hours import HOUR_MS
from apps.economics.states import HELD_STATES, State
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class PoolUse:
    """A pool in an hour. `nodes` were in service for a part of it or all, `free_nodes` of them without any job on them.
    `sizes` are the GPUs of each, `free_sizes` of those without a job, `pieces` what each job held on each.

    The rest are GPUs, as means of the hour: in service, held by jobs, unallocated, on the free nodes, on those that were
    free in the hour before too, covered by a commitment. `paid_micros` is what was paid for those that none covers, None where any of it is not known.
    """

    pool_id: int
    hour: datetime
    nodes: float = 0.0
    free_nodes: float = 0.0
    gpus: float = 0.0
    held: float = 0.0
    unallocated: float = 0.0
    free_gpus: float = 0.0
    rested_gpus: float = 0.0
    committed: float = 0.0
    paid_micros: int | None = 0
    sizes: tuple[float, ...] = ()
    free_sizes: tuple[float, ...] = ()
    pieces: tuple[float, ...] = ()


def pool_use(starts_at: datetime, ends_at: datetime) -> Sequence[PoolUse]:
    """Every pool of GPUs in every hour of `[starts_at, ends_at)`, by pool and hour. One statement."""
    params = {
        "from": starts_at,
        "to": ends_at,
        "node_hour": str(ChargeKind.NODE_HOUR),
        "host": int(ChargePart.HOST),
        "committed": int(ChargePart.COMMITTED),
        "held": [int(state) for state in HELD_STATES],
        "unallocated": int(State.UNALLOCATED),
    }
    return [
        PoolUse(
            pool_id,
            hour,
            nodes,
            free_nodes,
            gpus=gpus / HOUR_MS,
            held=held_ms / HOUR_MS,
            unallocated=unallocated / HOUR_MS,
            free_gpus=free / HOUR_MS,
            rested_gpus=rested / HOUR_MS,
            committed=committed / HOUR_MS,
            paid_micros=micros,
            sizes=_gpus_of(sizes),
            free_sizes=_gpus_of(free_sizes),
            pieces=_gpus_of(pieces),
        )
        for pool_id, hour, nodes, free_nodes, gpus, held_ms, unallocated, free, rested, committed, micros, sizes, free_sizes, pieces in rows(
            USED, params
        )
    ]


def _gpus_of(milliseconds: Sequence[int] | None) -> tuple[float, ...]:
    return tuple(millisecond / HOUR_MS for millisecond in milliseconds or ())


# What a later charge gave a price that came after the month was closed is priced. A node is free where all of its time in the hour was unallocated: a part that is stranded or out of service is none
# that could be given back. A node that came or went within the hour counts for the part that it was there.
USED: LiteralString = """
WITH of_job AS (
    SELECT line.pool_id, line.hour, charge.node_id, line.job_id, line.workload_id, line.holder_key_id,
           coalesce(sum(line.unit_milliseconds) FILTER (WHERE charge.part <> %(host)s), 0) AS ms,
           coalesce(sum(line.unit_milliseconds) FILTER (
               WHERE charge.part <> %(host)s AND line.state = ANY(%(held)s)), 0) AS held_ms,
           coalesce(sum(line.unit_milliseconds) FILTER (
               WHERE charge.part <> %(host)s AND line.state = %(unallocated)s), 0) AS unallocated_ms,
           coalesce(sum(line.unit_milliseconds) FILTER (WHERE charge.part = %(committed)s), 0) AS committed_ms,
           coalesce(sum(line.effective_micros) FILTER (WHERE charge.part <> %(committed)s), 0) AS paid_micros,
           bool_or(line.effective_micros IS NULL AND charge.part <> %(committed)s AND NOT EXISTS (
               SELECT FROM ledger_charge AS later
               WHERE later.corrects_id = charge.id AND later.effective_micros IS NOT NULL)) AS is_unpriced
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id
    WHERE line.hour >= %(from)s AND line.hour < %(to)s
      AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
      AND charge.kind = %(node_hour)s AND pool.unit = 'gpu'
    GROUP BY 1, 2, 3, 4, 5, 6
), of_node AS (
    SELECT pool_id, hour, node_id, sum(ms) AS ms, sum(held_ms) AS held_ms,
           sum(unallocated_ms) AS unallocated_ms, sum(committed_ms) AS committed_ms,
           sum(paid_micros) AS paid_micros, bool_or(is_unpriced) AS is_unpriced
    FROM of_job GROUP BY 1, 2, 3
), piece AS (
    SELECT pool_id, hour, array_agg(held_ms::int8) AS pieces FROM of_job WHERE held_ms > 0 GROUP BY 1, 2
), sized AS (
    SELECT *, max(ms) OVER (PARTITION BY pool_id, node_id) AS whole_ms, ms > 0 AND unallocated_ms = ms AS is_free
    FROM of_node
), rested AS (
    SELECT *, is_free AND lag(is_free) OVER same AND lag(hour) OVER same = hour - interval '1 hour' AS is_rested
    FROM sized WINDOW same AS (PARTITION BY pool_id, node_id ORDER BY hour)
)
SELECT pool_id, hour, coalesce(sum(ms / nullif(whole_ms, 0)), 0)::float8,
       coalesce(sum(ms / nullif(whole_ms, 0)) FILTER (WHERE is_free), 0)::float8,
       sum(ms)::int8, sum(held_ms)::int8, sum(unallocated_ms)::int8,
       coalesce(sum(ms) FILTER (WHERE is_free), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE is_rested), 0)::int8, sum(committed_ms)::int8,
       CASE WHEN NOT bool_or(is_unpriced) THEN sum(paid_micros)::int8 END,
       array_agg(ms::int8) FILTER (WHERE ms > 0), array_agg(ms::int8) FILTER (WHERE is_free), max(pieces)
FROM rested LEFT JOIN piece USING (pool_id, hour) GROUP BY 1, 2 ORDER BY 1, 2
"""
