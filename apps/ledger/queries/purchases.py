"""By what capacity was bought, hour by hour: what GPUs were in service, and what was paid for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.tables import rows

KINDS = [
    str(ChargeKind.NODE_HOUR),
    str(ChargeKind.COMMITMENT_UNUSED),
    str(ChargeKind.OWNED_UNUSED),
]
# Of what does not ride on the GPUs the money counts, and not the same time once more.
BOUGHT: LiteralString = """
SELECT line.pool_id, line.hour,
       CASE WHEN charge.kind = %(unused)s THEN charge.commitment_id END,
       charge.kind <> %(node_hour)s, charge.part = %(committed)s,
       bool_or(charge.status = %(provisional)s),
       coalesce(sum(line.unit_milliseconds)
                FILTER (WHERE charge.kind = %(node_hour)s AND charge.part <> %(host)s), 0)::int8,
       CASE WHEN count(line.list_micros) = count(*) THEN sum(line.list_micros)::int8 END,
       CASE WHEN count(line.effective_micros) = count(*) THEN sum(line.effective_micros)::int8 END
FROM ledger_line AS line
JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id
WHERE line.hour >= %(from)s AND line.hour < %(to)s
  AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
  AND charge.kind = ANY(%(kinds)s) AND coalesce(pool.unit, 'gpu') = 'gpu'
GROUP BY 1, 2, 3, 4, 5 ORDER BY 2, 1, 3, 4, 5
"""


@dataclass(frozen=True, slots=True)
class BoughtHour:
    """A pool's GPUs in an hour that were bought one way, or what was bought and used by nobody.

    `commitment_id` is of an unused commitment, which has no pool; `is_committed` is time that one
    covers. `gpu_ms` were in service, used or idle. Amounts are micro-units, None where any is unknown.
    """

    pool_id: int | None
    hour: datetime
    commitment_id: int | None
    is_unused: bool
    is_committed: bool
    is_provisional: bool
    gpu_ms: int
    list_micros: int | None
    paid_micros: int | None


def bought_hours(starts_at: datetime, ends_at: datetime) -> Sequence[BoughtHour]:
    """All capacity of `[starts_at, ends_at)` with GPUs, by hour and pool, corrections counted in."""
    hour_rows = rows(
        BOUGHT,
        {
            "from": starts_at,
            "to": ends_at,
            "kinds": KINDS,
            "node_hour": str(ChargeKind.NODE_HOUR),
            "unused": str(ChargeKind.COMMITMENT_UNUSED),
            "provisional": str(Status.PROVISIONAL),
            "committed": int(ChargePart.COMMITTED),
            "host": int(ChargePart.HOST),
        },
    )
    return [BoughtHour(*row) for row in hour_rows]
