"""GPU time that workloads held on pools, day by day."""

from datetime import date
from typing import LiteralString

from apps.ledger.models import ChargeKind
from apps.ledger.queries.tables import rows


def held_by_day(first_day: date, end_day: date) -> list[tuple[int | None, int | None, date, int]]:
    """Workload, pool, local day and milliseconds, of the days that have any sums; None: nobody held it. One statement."""
    params = {"from": first_day, "to": end_day, "node_hour": str(ChargeKind.NODE_HOUR)}
    return [(row[0], row[1], row[2], row[3]) for row in rows(HELD, params)]


HELD: LiteralString = """
SELECT workload_id, pool_id, day, sum(held_milliseconds)::int8
FROM ledger_ledgerday
WHERE day >= %(from)s AND day < %(to)s AND kind = %(node_hour)s
GROUP BY 1, 2, 3
"""
