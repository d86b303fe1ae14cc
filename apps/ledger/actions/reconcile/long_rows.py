"""Rows longer than an hour, spread over their nodes' hours in proportion to what was estimated."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal

from apps.economics.bases import BilledCosts
from apps.economics.billing import spread
from apps.economics.hours import HOUR
from apps.ledger.models import Bill
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.tables import Row, copy_in, rows, run

# Costs are spread in whole units of their 14th decimal, so that they sum exactly.
UNIT = Decimal("1E-14")
LONG_ROWS = filled("""
SELECT coalesce(found.lives, ARRAY[found.node_id]), found.pool_id, row.starts_at, row.ends_at, found.kind, found.team_id,
       found.charge_kind, found.reason,
       CASE WHEN found.charge_kind = 'node_hour' THEN min(row.resource_id) ELSE found.label END,
       :row_sums, count(*)
:matched AND (found.charge_kind = 'node_hour' OR found.node_id IS NOT NULL)
  AND NOT (found.node_id IS NOT NULL AND :is_short)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, found.label ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
""")
# An hour cut by the row's ends counts with the part that is inside. Of a closed month what came
# since stands beside its charges.
HOURS = """
SELECT known.node_id, known.hour, sum(known.micros),
       max(extract(epoch FROM least(known.hour + interval '1 hour', %(to)s::timestamptz)
                              - greatest(known.hour, %(from)s::timestamptz)) * 1000)::int8
FROM (
    SELECT charge.node_id, charge.pool_id, charge.hour,
           coalesce(CASE WHEN charge.billed_micros IS NULL THEN charge.effective_micros
                         ELSE charge.estimated_micros END, 0) AS micros
    FROM ledger_charge AS charge
    WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL AND charge.digest <> ''
      AND NOT EXISTS (SELECT 1 FROM ledger_lateestimate AS late WHERE late.hour = charge.hour)
    UNION ALL
    SELECT node_id, pool_id, hour, weight FROM ledger_lateestimate WHERE node_id IS NOT NULL
) AS known
WHERE known.hour > %(from)s::timestamptz - interval '1 hour' AND known.hour < %(to)s
  AND (known.node_id = ANY(%(nodes)s::int8[]) OR %(is_pool)s AND known.pool_id = %(pool)s)
GROUP BY known.node_id, known.hour
ORDER BY known.node_id, known.hour
"""
# What is billed with a node goes over all of its life in the row's time, by time: each counts 1.
LIVED = """
SELECT node.id, hour, 1,
       (extract(epoch FROM least(coalesce(upper(node.period), %(to)s), hour + interval '1 hour',
                                 %(to)s::timestamptz)
                           - greatest(lower(node.period), hour, %(from)s::timestamptz)) * 1000)::int8
FROM fleet_node_fact AS node,
     generate_series(date_trunc('hour', %(from)s::timestamptz, 'UTC'),
                     %(to)s::timestamptz - interval '1 microsecond', interval '1 hour') AS hour
WHERE node.id = ANY(%(nodes)s::int8[])
  AND node.period && tstzrange(greatest(hour, %(from)s), least(hour + interval '1 hour', %(to)s))
ORDER BY hour, node.id
"""
PLACED = "COPY placed (node_id, hour, listed, contracted, effective, billed) FROM STDIN"
APART = """
INSERT INTO apart (kind, charge_kind, reason, label, starts_at, ends_at, team_id, pool_id, listed,
                   contracted, effective, billed, rows)
SELECT %(kind)s, %(charge_kind)s, %(reason)s, %(label)s, %(from)s, %(to)s,
       %(team_id)s, NULL, %(listed)s, %(contracted)s, %(effective)s, %(billed)s, %(rows)s
"""
NOT_ON_RECORD = "nothing of it was on record then"
BESIDE = """
COPY apart (kind, charge_kind, reason, label, starts_at, ends_at, listed, contracted, effective,
            billed, rows, node_id) FROM STDIN
"""


@dataclass(frozen=True, slots=True)
class LongRow:
    """Rows of one node (by its lives, in order) or pool and one period, together."""

    nodes: list[int | None]
    pool_id: int | None
    starts_at: datetime
    ends_at: datetime
    kind: str
    team_id: int | None
    charge_kind: str
    reason: str
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
            "nodes": long.nodes,
            "is_pool": long.nodes == [None],
            "pool": long.pool_id,
            "from": long.starts_at,
            "to": long.ends_at,
        }
        hours = rows(HOURS if long.charge_kind == "node_hour" else LIVED, params)
        if not hours:
            run(APART, params | _apart_row(long))
        elif long.charge_kind == "node_hour":
            copy_in(PLACED, _placed_rows(long, hours))
        else:
            copy_in(BESIDE, _attached_rows(long, hours))


def _placed_rows(long: LongRow, hours: Sequence[Row]) -> list[Row]:
    weights = [int(estimate) * int(ms) for _, _, estimate, ms in hours]
    if not any(weights):
        weights = [int(ms) for *_, ms in hours]
    total = BilledCosts(
        *map(_to_units, (long.listed, long.contracted, long.effective, long.billed))
    )
    return [
        (node_id, hour, *map(_to_amount, part))
        for (node_id, hour, _, _), part in zip(hours, spread(total, weights), strict=True)
    ]


def _attached_rows(long: LongRow, hours: Sequence[Row]) -> list[Row]:
    """Return the rows of what is billed beside a node, hour by hour: the rows are counted in its first hour."""
    return [
        (
            *(long.kind, long.charge_kind, long.reason, long.label, hour, hour + HOUR),
            *(*amounts, 0 if place else long.rows, node_id),
        )
        for place, (node_id, hour, *amounts) in enumerate(_placed_rows(long, hours))
    ]


def _to_units(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount.scaleb(14))


def _to_amount(units: int | None) -> str | None:
    return None if units is None else f"{Decimal(units).scaleb(-14):f}"


def _apart_row(long: LongRow) -> dict[str, object]:
    kind = "unmatched" if long.charge_kind == "node_hour" else long.charge_kind
    return asdict(long) | {"charge_kind": kind, "reason": NOT_ON_RECORD}
