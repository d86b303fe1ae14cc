"""GPU time that workloads held on pools, hour by hour."""

from datetime import datetime
from typing import LiteralString, NamedTuple

from apps.economics.hours import HOUR_MS
from apps.economics.states import HELD_STATES
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.tables import rows


class HeldHour(NamedTuple):
    """GPUs that a workload held of a pool in an hour, as its mean; None: of no workload."""

    workload_id: int | None
    pool_id: int | None
    hour: datetime
    gpus: float


def held_by_hour(starts_at: datetime, ends_at: datetime) -> list[HeldHour]:
    """Of `[starts_at, ends_at)`, of each hour that has any lines. One statement."""
    params = {
        "from": starts_at,
        "to": ends_at,
        "node_hour": str(ChargeKind.NODE_HOUR),
        "host": int(ChargePart.HOST),
        "held": [int(state) for state in HELD_STATES],
    }
    return [
        HeldHour(workload_id, pool_id, hour, held_ms / HOUR_MS)
        for workload_id, pool_id, hour, held_ms in rows(HELD, params)
    ]


HELD: LiteralString = """
SELECT line.workload_id, line.pool_id, line.hour,
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.state = ANY(%(held)s)), 0)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
WHERE line.hour >= %(from)s AND line.hour < %(to)s
  AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
  AND charge.kind = %(node_hour)s AND charge.part <> %(host)s
GROUP BY 1, 2, 3
"""
