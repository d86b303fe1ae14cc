"""A bill beside what was estimated: what differs, why, and what neither side explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.ledger.models import Bill
from apps.ledger.queries.tables import rows

# Machine time at the estimated price of an hour is quantity; what is left of the difference is price.
VARIANCE = """
WITH billed AS (
    SELECT hour.node_id, hour.hour, hour.effective_micros, hour.billed_milliseconds AS billed_ms,
           charge.estimated_micros, piece.ms AS lived_ms
    FROM ledger_billedhour AS hour
    LEFT JOIN ledger_charge AS charge
      ON charge.node_id = hour.node_id AND charge.hour = hour.hour AND charge.kind = 'node_hour'
     AND charge.corrects_id IS NULL AND charge.estimated_micros IS NOT NULL
    LEFT JOIN LATERAL (SELECT sum(end_ms - start_ms) AS ms FROM ledger_chargepiece
                       WHERE charge_id = charge.id) AS piece ON true
    WHERE hour.bill_id = %(bill)s
),
split AS (
    SELECT effective_micros, estimated_micros,
           CASE WHEN estimated_micros IS NOT NULL AND billed_ms IS NOT NULL AND lived_ms > 0
                THEN round(estimated_micros::numeric * (billed_ms - lived_ms) / lived_ms) ELSE 0
           END AS by_quantity
    FROM billed
)
SELECT coalesce(sum(effective_micros), 0)::int8,
       coalesce(sum(estimated_micros), 0)::int8,
       coalesce(sum(by_quantity) FILTER (WHERE estimated_micros IS NOT NULL), 0)::int8,
       coalesce(sum(effective_micros - estimated_micros - by_quantity)
                FILTER (WHERE estimated_micros IS NOT NULL), 0)::int8,
       coalesce(sum(effective_micros) FILTER (WHERE estimated_micros IS NULL), 0)::int8
FROM split
"""
APART = """
SELECT kind, coalesce(sum(effective_micros), 0)::int8
FROM ledger_billedcharge WHERE bill_id = %(bill)s GROUP BY kind
"""
# Nodes of providers that this bill names elsewhere, charged in its period by estimate alone.
UNBILLED = """
WITH providers AS (
    SELECT DISTINCT pool.provider, pool.region
    FROM ledger_billedhour AS hour JOIN fleet_node AS node ON node.id = hour.node_id
    JOIN fleet_pool AS pool ON pool.id = node.pool_id
    WHERE hour.bill_id = %(bill)s
)
SELECT node.id, node.name, pool.name, count(*), sum(charge.effective_micros)::int8
FROM ledger_charge AS charge
JOIN fleet_node AS node ON node.id = charge.node_id
JOIN fleet_pool AS pool ON pool.id = node.pool_id
JOIN providers ON providers.provider = pool.provider AND providers.region = pool.region
WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
  AND charge.hour >= %(from)s AND charge.hour < %(to)s
  AND NOT EXISTS (SELECT 1 FROM ledger_billedhour AS hour
                  WHERE hour.node_id = charge.node_id AND hour.hour = charge.hour)
GROUP BY node.id, node.name, pool.name
ORDER BY 5 DESC NULLS LAST, 1
LIMIT %(limit)s
"""
MOST_UNBILLED = 500


@dataclass(frozen=True, slots=True)
class Variance:
    """Why a bill differs from what was estimated, in micro-units; the causes add up.

    `missing` is what was estimated and not billed (negative), or billed without an estimate;
    `unmatched` compute of no node; `shared` all that is billed beside machines.
    """

    billed_micros: int
    estimated_micros: int
    price_micros: int
    quantity_micros: int
    missing_micros: int
    unmatched_micros: int
    shared_micros: int


@dataclass(frozen=True, slots=True)
class UnbilledNode:
    """A node that was charged by estimate in a bill's period, and is not on the bill then."""

    node_id: int
    node_name: str
    pool_name: str
    hours: int
    estimated_micros: int | None


def all_bills() -> list[int]:
    """Every bill, by period."""
    return list(Bill.objects.order_by("starts_at", "id").values_list("id", flat=True))


def variance_of(bill_id: int) -> Variance:
    """The difference of a reconciled bill's effective cost and the estimate, by cause.

    The causes sum to `billed_micros` − `estimated_micros` exactly.
    """
    bill = Bill.objects.get(id=bill_id)
    ((hours, estimated, quantity, price, unestimated),) = rows(VARIANCE, {"bill": bill_id})
    apart: dict[str, int] = dict(rows(APART, {"bill": bill_id}))
    unmatched = apart.pop("unmatched", 0)
    shared = sum(apart.values())
    unbilled = sum(each.estimated_micros or 0 for each in unbilled_nodes(bill))
    return Variance(
        billed_micros=hours + unmatched + shared,
        estimated_micros=estimated + unbilled,
        price_micros=price,
        quantity_micros=quantity,
        missing_micros=unestimated - unbilled,
        unmatched_micros=unmatched,
        shared_micros=shared,
    )


def unbilled_nodes(bill: Bill, limit: int = MOST_UNBILLED) -> Sequence[UnbilledNode]:
    """Nodes like those on the bill that it leaves out, the dearest first."""
    params = {"bill": bill.id, "from": bill.starts_at, "to": bill.ends_at, "limit": limit}
    return [UnbilledNode(*row) for row in rows(UNBILLED, params)]


@dataclass(frozen=True, slots=True)
class BillStanding:
    """A bill as a list shows it; sums of its rows in force, in its own currency."""

    id: int
    issuer: str
    account: str
    starts_at: datetime
    ends_at: datetime
    currency: str
    rows: int
    billed: Decimal
    effective: Decimal | None
    residual: Decimal | None
    is_rounded_upstream: bool
    reconciled_at: datetime | None
    failure: str


STANDING = """
SELECT bill.id, bill.issuer, bill.account, bill.starts_at, bill.ends_at, bill.currency,
       count(row.id), coalesce(sum(row.billed_cost), 0),
       CASE WHEN count(row.effective_cost) = count(row.id) THEN sum(row.effective_cost) END,
       bill.residual, bill.is_rounded_upstream, bill.reconciled_at, bill.failure
FROM ledger_bill AS bill
LEFT JOIN (ledger_billrow AS row JOIN ledger_billimport AS batch
           ON batch.id = row.batch_id AND batch.state = 'done')
  ON row.bill_id = bill.id AND row.replaced_by_id IS NULL
WHERE %(bill)s::int8 IS NULL OR bill.id = %(bill)s
GROUP BY bill.id
ORDER BY bill.starts_at DESC, bill.issuer, bill.account, bill.id
"""


def standing_bills() -> list[BillStanding]:
    """Every bill with the sums of its rows, the newest period first."""
    return [BillStanding(*row) for row in rows(STANDING, {"bill": None})]


def standing_bill(bill_id: int) -> BillStanding | None:
    """One bill; None where there is none."""
    return next((BillStanding(*row) for row in rows(STANDING, {"bill": bill_id})), None)


@dataclass(frozen=True, slots=True)
class ApartSum:
    """Rows of a bill that no node-hour carries, summed over its period."""

    charge_kind: str
    kind: str
    reason: str
    label: str
    team_name: str
    rows: int
    effective_micros: int | None
    billed_micros: int | None


SUMS_APART = """
SELECT charge.kind, charge.billed_kind, charge.reason, charge.label,
       coalesce(team.name, (SELECT name FROM accounts_team WHERE kind = 'platform')),
       sum(charge.rows)::int8, sum(charge.effective_micros)::int8, sum(charge.billed_micros)::int8
FROM ledger_billedcharge AS charge LEFT JOIN accounts_team AS team ON team.id = charge.team_id
WHERE charge.bill_id = %(bill)s
GROUP BY 1, 2, 3, 4, 5 ORDER BY 7 DESC NULLS LAST, 1, 2, 4
LIMIT %(limit)s
"""


def apart_sums(bill_id: int, limit: int = MOST_UNBILLED) -> list[ApartSum]:
    """What no node carries, the dearest first."""
    return [ApartSum(*row) for row in rows(SUMS_APART, {"bill": bill_id, "limit": limit})]


def unbilled_of(bill_id: int) -> Sequence[UnbilledNode]:
    """`unbilled_nodes` of the bill of this id."""
    return unbilled_nodes(Bill.objects.get(id=bill_id))
