"""Shares of a pool's time that commitments cover, by the state that it was in."""

from collections import defaultdict
from datetime import datetime
from typing import LiteralString

from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.tables import rows


def committed_shares(starts_at: datetime, ends_at: datetime) -> dict[tuple[int, int], float]:
    """The part of the cost in `[starts_at, ends_at)` by pool and state, and by pool with state 0 for all of it."""
    params = {
        "from": starts_at,
        "to": ends_at,
        "node_hour": str(ChargeKind.NODE_HOUR),
        "committed": int(ChargePart.COMMITTED),
    }
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for pool_id, state, committed, total in rows(SHARES, params):
        for key in ((pool_id, state), (pool_id, 0)):
            sums[key][0] += committed
            sums[key][1] += total
    return {key: committed / cost for key, (committed, cost) in sums.items() if cost > 0}


SHARES: LiteralString = """
SELECT line.pool_id, line.state,
       coalesce(sum(line.effective_micros) FILTER (WHERE charge.part = %(committed)s), 0)::int8,
       coalesce(sum(line.effective_micros), 0)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
WHERE line.hour >= %(from)s AND line.hour < %(to)s
  AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
  AND charge.kind = %(node_hour)s AND line.pool_id IS NOT NULL AND line.state IS NOT NULL
GROUP BY 1, 2
"""
