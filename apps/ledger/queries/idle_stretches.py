"""GPUs that a job held and left idle for hours on end: what an idle timeout of an hour would have given back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from apps.economics.hours import HOUR_MS
from apps.economics.states import HELD_STATES, State
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

WHOLLY_IDLE = 0.95
"""Of what a job held of a pool in an hour: from which on the hour was idle."""


@dataclass(frozen=True, slots=True)
class IdleStretches:
    """Of a workload on a pool in a week: GPU-hours held idle, and those of them that came after a whole idle hour.

    `wakes` counts how often work went on after such a stretch: each time it would have waited for GPUs.
    """

    idle: float
    after_an_hour: float
    wakes: int


def idle_stretches(weeks: Sequence[Window]) -> dict[tuple[int, int, int], IdleStretches]:
    """By workload, pool and the week's place among `weeks`, which follow each other. One statement."""
    cuts = [week.starts_at for week in weeks]
    params = {
        "cuts": cuts,
        "from": cuts[0],
        "to": weeks[-1].ends_at,
        "idle": int(State.HELD_IDLE),
        "held": [int(state) for state in HELD_STATES],
        "whole": WHOLLY_IDLE,
        "node_hour": str(ChargeKind.NODE_HOUR),
        "host": int(ChargePart.HOST),
    }
    return {
        (workload_id, pool_id, place - 1): IdleStretches(idle / HOUR_MS, after / HOUR_MS, wakes)
        for workload_id, pool_id, place, idle, after, wakes in rows(STRETCHES, params)
    }


# An hour counts as idle where nearly all that the job held of the pool was; the hour after it is one that a timeout
# would have given back. A stretch that goes on over the cut between two weeks goes on.
STRETCHES: LiteralString = """
WITH hourly AS (
    SELECT line.workload_id, line.pool_id, line.job_id, line.hour,
           coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.state = %(idle)s), 0)::int8 AS idle_ms,
           coalesce(sum(line.unit_milliseconds), 0)::int8 AS held_ms
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    WHERE line.hour >= %(from)s AND line.hour < %(to)s
      AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
      AND charge.kind = %(node_hour)s AND charge.part <> %(host)s
      AND line.workload_id IS NOT NULL AND line.pool_id IS NOT NULL AND line.state = ANY(%(held)s)
    GROUP BY 1, 2, 3, 4
), beside AS (
    SELECT *, held_ms > 0 AND idle_ms >= %(whole)s * held_ms AS is_idle,
           lag(hour) OVER same AS last_hour,
           lag(held_ms > 0 AND idle_ms >= %(whole)s * held_ms) OVER same AS was_idle,
           lag(held_ms > 0 AND idle_ms >= %(whole)s * held_ms, 2) OVER same AS was_idle_before
    FROM hourly WINDOW same AS (PARTITION BY workload_id, pool_id, job_id ORDER BY hour)
)
SELECT workload_id, pool_id, width_bucket(hour, %(cuts)s::timestamptz[]), sum(idle_ms)::int8,
       coalesce(sum(idle_ms) FILTER (
           WHERE is_idle AND was_idle AND last_hour = hour - interval '1 hour'), 0)::int8,
       count(*) FILTER (WHERE NOT is_idle AND was_idle AND was_idle_before
                          AND last_hour = hour - interval '1 hour')
FROM beside GROUP BY 1, 2, 3
"""
