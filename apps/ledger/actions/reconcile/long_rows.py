"""Rows longer than an hour, spread over their nodes' hours in proportion to what was estimated."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.economics.billing import Costs, spread
from apps.ledger.models import Bill
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.tables import Row, copy_in, rows, run

# Costs are spread in whole units of their 14th decimal, so that they sum exactly.
UNIT = Decimal("1E-14")
LONG_ROWS = filled("""
SELECT found.node_id, found.pool_id, row.starts_at, row.ends_at, found.kind, found.team_id,
       min(row.resource_id), :row_sums, count(*)
:matched AND found.charge_kind = 'node_hour' AND NOT (found.node_id IS NOT NULL AND :is_short)
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
""")
# An hour cut by the row's ends counts with the part that is inside.
HOURS = """
SELECT charge.node_id, charge.hour,
       sum(coalesce(charge.estimated_micros, charge.effective_micros, 0)),
       max(extract(epoch FROM least(charge.hour + interval '1 hour', %(to)s::timestamptz)
                              - greatest(charge.hour, %(from)s::timestamptz)) * 1000)::int8
FROM ledger_charge AS charge
WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
  AND charge.hour > %(from)s::timestamptz - interval '1 hour' AND charge.hour < %(to)s
  AND (charge.node_id = %(node)s OR %(node)s IS NULL AND charge.pool_id = %(pool)s)
GROUP BY charge.node_id, charge.hour
ORDER BY charge.node_id, charge.hour
"""
PLACED = "COPY placed (node_id, hour, listed, contracted, effective, billed) FROM STDIN"
APART = """
INSERT INTO apart (kind, charge_kind, reason, label, starts_at, ends_at, team_id, pool_id, listed,
                   contracted, effective, billed, rows)
SELECT %(kind)s, 'unmatched', 'nothing of it was on record then', %(label)s, %(from)s, %(to)s,
       %(team)s, NULL, %(listed)s, %(contracted)s, %(effective)s, %(billed)s, %(rows)s
"""


@dataclass(frozen=True, slots=True)
class LongRow:
    """Rows of one node or pool and one period, together."""

    node_id: int | None
    pool_id: int | None
    starts_at: datetime
    ends_at: datetime
    kind: str
    team_id: int | None
    label: str
    listed: Decimal | None
    contracted: Decimal | None
    effective: Decimal | None
    billed: Decimal
    rows: int


def place_long_rows(bill: Bill) -> None:
    """Put them on node-hours, or apart where there are none."""
    for row in rows(LONG_ROWS, {"bill": bill.id}):
        long = LongRow(*row)
        params = {
            "node": long.node_id,
            "pool": long.pool_id,
            "from": long.starts_at,
            "to": long.ends_at,
        }
        hours = rows(HOURS, params)
        if hours:
            copy_in(PLACED, _placed(long, hours))
        else:
            run(APART, params | _apart(long))


def _placed(long: LongRow, hours: Sequence[Row]) -> list[Row]:
    weights = [int(estimate) * int(ms) for _, _, estimate, ms in hours]
    if not any(weights):
        weights = [int(ms) for *_, ms in hours]
    whole = Costs(*map(_units, (long.listed, long.contracted, long.effective, long.billed)))
    return [
        (node_id, hour, *map(_amount, part))
        for (node_id, hour, _, _), part in zip(hours, spread(whole, weights), strict=True)
    ]


def _units(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount.scaleb(14))


def _amount(units: int | None) -> str | None:
    return None if units is None else f"{Decimal(units).scaleb(-14):f}"


def _apart(long: LongRow) -> dict[str, object]:
    return {
        "kind": long.kind,
        "label": long.label,
        "team": long.team_id,
        "listed": long.listed,
        "contracted": long.contracted,
        "effective": long.effective,
        "billed": long.billed,
        "rows": long.rows,
    }
