"""GPUs that workloads held and used, hour by hour, and in which portions."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.economics.hours import HOUR_MS
from apps.economics.states import HELD_STATES, State
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class WorkHour:
    """GPUs that a workload held in an hour, as its mean, and those of them that were active or not observed.

    `portion` is what one of its jobs held on all of its machines together, the least of them. Of what no job is known of, on one machine.
    """

    workload_id: int
    hour: datetime
    held: float
    busy: float
    portion: float


def work_hours(
    workload_ids: Collection[int], starts_at: datetime, ends_at: datetime
) -> list[WorkHour]:
    """Of these in `[starts_at, ends_at)`, by workload and hour; what is not observed may be needed. One statement."""
    params = {
        "from": starts_at,
        "to": ends_at,
        "workloads": list(workload_ids),
        "node_hour": str(ChargeKind.NODE_HOUR),
        "host": int(ChargePart.HOST),
        "held": [int(state) for state in HELD_STATES],
        "idle": int(State.HELD_IDLE),
    }
    return [
        WorkHour(workload_id, hour, held_ms / HOUR_MS, busy / HOUR_MS, portion / HOUR_MS)
        for workload_id, hour, held_ms, busy, portion in rows(HOURS, params)
    ]


HOURS: LiteralString = """
WITH of_job AS (
    SELECT line.workload_id, line.hour, sum(line.unit_milliseconds) AS held_ms,
           coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.state <> %(idle)s), 0) AS busy_ms
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    WHERE line.hour >= %(from)s AND line.hour < %(to)s
      AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
      AND line.workload_id = ANY(%(workloads)s) AND line.state = ANY(%(held)s)
      AND charge.kind = %(node_hour)s AND charge.part <> %(host)s
    GROUP BY line.workload_id, line.hour, line.job_id, line.holder_key_id,
             CASE WHEN line.job_id IS NULL AND line.holder_key_id IS NULL THEN charge.node_id END
)
SELECT workload_id, hour, sum(held_ms)::int8, sum(busy_ms)::int8,
       percentile_disc(0.1) WITHIN GROUP (ORDER BY held_ms)::int8
FROM of_job GROUP BY 1, 2 ORDER BY 1, 2
"""
