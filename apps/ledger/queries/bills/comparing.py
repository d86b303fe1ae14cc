"""A bill beside what was estimated: what differs, why, and what neither side explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.ledger.models import Bill
from apps.ledger.queries.bills.deliveries import BillFact
from apps.ledger.queries.tables import rows
from apps.show.entries import Micros

# Machine time at the estimated price of an hour is quantity; what is left of the difference is price.
VARIANCE = """
WITH billed AS (
    SELECT hour.node_id, hour.hour, hour.effective_micros, hour.billed_milliseconds AS billed_ms,
           charge.estimated_micros, charge.lived_ms
    FROM ledger_billedhour AS hour
    -- Part 4 is what does not ride on GPUs: of the same time as the rest.
    LEFT JOIN LATERAL (
        SELECT sum(part.estimated_micros)::int8 AS estimated_micros,
               sum(piece.ms) FILTER (WHERE part.part <> 4) AS lived_ms
        FROM ledger_charge AS part
        CROSS JOIN LATERAL (SELECT sum(end_ms - start_ms) AS ms FROM ledger_chargepiece
                            WHERE charge_id = part.id) AS piece
        WHERE part.node_id = hour.node_id AND part.hour = hour.hour AND part.kind = 'node_hour'
          AND part.corrects_id IS NULL AND part.estimated_micros IS NOT NULL
    ) AS charge ON true
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
    FROM ledger_billedhour AS hour JOIN fleet_node_fact AS node ON node.id = hour.node_id
    JOIN fleet_pool_fact AS pool ON pool.id = node.pool_id
    WHERE hour.bill_id = %(bill)s
)
SELECT node.id, node.name, pool.name, count(DISTINCT charge.hour),
       sum(charge.effective_micros)::int8
FROM ledger_charge AS charge
JOIN fleet_node_fact AS node ON node.id = charge.node_id
JOIN fleet_pool_fact AS pool ON pool.id = node.pool_id
JOIN providers ON providers.provider = pool.provider AND providers.region = pool.region
WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
  AND charge.hour >= %(from)s AND charge.hour < %(to)s
  AND NOT EXISTS (SELECT 1 FROM ledger_billedhour AS hour
                  WHERE hour.node_id = charge.node_id AND hour.hour = charge.hour)
GROUP BY node.id, node.name, pool.name
ORDER BY 5 DESC NULLS LAST, 1
"""
BILLED_UNTIL = """
SELECT max(hour) + interval '1 hour' FROM ledger_billedhour WHERE bill_id = %(bill)s
"""
MOST_APART = 500


@dataclass(frozen=True, slots=True)
class Variance:
    """Why a bill differs from what was estimated, in micro-units; the causes add up.

    `missing` is what was estimated and not billed (negative, of the `unbilled` nodes), or billed
    without an estimate; `unmatched` compute of no node; `shared` all that is billed beside machines.
    `billed_until` is set on a bill that came before its period was over: it ends there so far.
    """

    billed_micros: Micros
    estimated_micros: Micros
    price_micros: Micros
    quantity_micros: Micros
    missing_micros: Micros
    unmatched_micros: Micros
    shared_micros: Micros
    unbilled: tuple["UnbilledNode", ...]
    billed_until: datetime | None


@dataclass(frozen=True, slots=True)
class UnbilledNode:
    """A node that was charged by estimate in a bill's period, and is not on the bill then."""

    node_id: int
    node_name: str
    pool_name: str
    hours: int
    estimated_micros: int | None


def variance_of(bill_id: int) -> Variance:
    """The difference of a reconciled bill's effective cost and the estimate, by cause.

    The causes sum to `billed_micros` − `estimated_micros` exactly.
    """
    bill = Bill.objects.get(id=bill_id)
    ((hours, estimated, quantity, price, unestimated),) = rows(VARIANCE, {"bill": bill_id})
    apart: dict[str, int] = dict(rows(APART, {"bill": bill_id}))
    unmatched = apart.pop("unmatched", 0)
    shared = sum(apart.values())
    until = _billed_until(bill)
    left_out = unbilled_nodes(bill, until)
    unbilled = sum(unbilled_node.estimated_micros or 0 for unbilled_node in left_out)
    return Variance(
        billed_micros=hours + unmatched + shared,
        estimated_micros=estimated + unbilled,
        price_micros=price,
        quantity_micros=quantity,
        missing_micros=unestimated - unbilled,
        unmatched_micros=unmatched,
        shared_micros=shared,
        unbilled=tuple(left_out),
        billed_until=until,
    )


def unbilled_so_far(bill: Bill | BillFact) -> Sequence["UnbilledNode"]:
    """The nodes that a comparison of this bill calls missing, the dearest first."""
    return unbilled_nodes(bill, _billed_until(bill))


def _billed_until(bill: Bill | BillFact) -> datetime | None:
    if bill.changed_at >= bill.ends_at:
        return None
    ((until,),) = rows(BILLED_UNTIL, {"bill": bill.id})
    return None if until is None else min(until, bill.ends_at)


def unbilled_nodes(bill: Bill | BillFact, until: datetime | None = None) -> Sequence[UnbilledNode]:
    """Nodes like those on the bill that it leaves out (before `until`), the dearest first."""
    params = {"bill": bill.id, "from": bill.starts_at, "to": until or bill.ends_at}
    return [UnbilledNode(*row) for row in rows(UNBILLED, params)]


@dataclass(frozen=True, slots=True)
class ApartSum:
    """Rows of a bill that no node-hour carries, summed over its period."""

    charge_kind: str
    kind: str
    reason: str
    label: str
    team_name: str
    rows: int
    effective_micros: Micros | None
    billed_micros: Micros | None


# What is of a commitment is charged to its owner, where it was entered, as `charge.apart` has it.
SUMS_APART = """
SELECT charge.kind, charge.billed_kind, charge.reason, charge.label,
       CASE WHEN charge.node_id IS NOT NULL THEN 'with its node'
            WHEN charge.kind = 'shared' THEN 'all who are there'
            ELSE coalesce(team.name, (SELECT name FROM accounts_team_fact WHERE kind = 'platform')) END,
       sum(charge.rows)::int8, sum(charge.effective_micros)::int8, sum(charge.billed_micros)::int8
FROM ledger_billedcharge AS charge
LEFT JOIN LATERAL (
    SELECT owner_id FROM pricing_commitment_fact
    WHERE external_id = charge.commitment_id AND external_id <> '' ORDER BY id LIMIT 1
) AS bought ON TRUE
LEFT JOIN accounts_team_fact AS team ON team.id = coalesce(bought.owner_id, charge.team_id)
WHERE charge.bill_id = %(bill)s
GROUP BY 1, 2, 3, 4, 5 ORDER BY 7 DESC NULLS LAST, 1, 2, 4
LIMIT %(limit)s
"""


def unreconciled_sums(bill_id: int, limit: int = MOST_APART) -> list[ApartSum]:
    """Return the sums that no node carries, the dearest first."""
    return [ApartSum(*row) for row in rows(SUMS_APART, {"bill": bill_id, "limit": limit})]
