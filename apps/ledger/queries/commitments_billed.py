"""The use that reconciled bills say that commitments covered: it goes before what we would have covered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import LiteralString

from apps.accounts import queries as accounts
from apps.economics.commitments import CommitmentOfHour
from apps.economics.hours import HOUR_MS
from apps.economics.rates import MICROS, Per
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.tables import rows
from apps.pricing.queries.exchange import exchange

# A row is of the time in which it begins. Its machine is that of the node that it is of, or what AWS's
# usage type ends with.
COVERED: LiteralString = filled(r"""
SELECT bought.id, width_bucket(row.starts_at, %(cuts)s::timestamptz[]),
       bill.currency, bill.starts_at, bill.ends_at,
       coalesce(pool.instance_type, substring(row.usage_type FROM '[a-z0-9-]+\.[a-z0-9-]+$'), ''),
       CASE WHEN count(row.effective_cost) = count(*) THEN sum(row.effective_cost) END,
       CASE WHEN count(coalesce(row.contracted_cost, row.list_cost)) = count(*)
            THEN sum(coalesce(row.contracted_cost, row.list_cost)) END,
       :hours_billed
FROM pricing_commitment_fact AS bought
JOIN ledger_billrow AS row ON row.commitment_id = bought.external_id AND row.commitment_id <> ''
JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
JOIN ledger_bill AS bill ON bill.id = row.bill_id
LEFT JOIN ledger_billedmatch AS found ON found.bill_id = row.bill_id AND found.traits = row.traits
LEFT JOIN fleet_node_fact AS node ON node.id = found.node_id
LEFT JOIN fleet_pool_fact AS pool
    ON pool.id = coalesce(node.pool_id, found.pool_id) AND pool.instance_type <> ''
WHERE row.replaced_by_id IS NULL AND row.category = 'Usage'
  AND lower(row.commitment_status) = 'used'
  AND bill.reconciled_at IS NOT NULL AND NOT bill.is_rounded_upstream
  AND row.starts_at >= %(starts_at)s AND row.starts_at < %(ends_at)s
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 4, 6
""")


# When reconciled bills tell of a commitment; then no charge of our own says how much it holds.
TOLD: LiteralString = """
SELECT bought.id, greatest(bill.starts_at, min(billed.starts_at)),
       least(bill.ends_at, max(billed.ends_at))
FROM pricing_commitment_fact AS bought
JOIN ledger_billrow AS billed ON billed.commitment_id = bought.external_id
    AND billed.commitment_id <> '' AND billed.replaced_by_id IS NULL
JOIN ledger_billimport AS batch ON batch.id = billed.batch_id AND batch.state = 'done'
JOIN ledger_bill AS bill ON bill.id = billed.bill_id
WHERE bill.reconciled_at IS NOT NULL AND NOT bill.is_rounded_upstream
  AND bill.starts_at < %(ends_at)s AND bill.ends_at > %(starts_at)s
GROUP BY bought.id, bill.id, bill.starts_at, bill.ends_at
ORDER BY 1, 2, 3
"""
ToldSpans = Mapping[int, Sequence[tuple[datetime, datetime]]]
"""From when to when reconciled bills tell of each commitment."""


@dataclass(frozen=True, slots=True)
class BilledUse:
    """The use that bills say a commitment covered in a span of time; None where they do not say.

    `used` is a capacity as commitments count it; money is in micro-units of the organisation's currency.
    """

    used: int
    covered_cost: int | None
    on_demand: int | None


def billed_use(
    bought: Mapping[int, CommitmentOfHour], params: Mapping[str, object]
) -> dict[tuple[int, int], BilledUse]:
    """By commitment and span, of those whose measure bills tell: money, or hours of machines.

    Where a reservation covers any size of its family, an hour counts by the size of its machine. Of a
    span in which any of it is not known, nothing is told.
    """
    ours = accounts.organisation()
    uses_by_key: dict[tuple[int, int], BilledUse] = {}
    unknown: set[tuple[int, int]] = set()
    for one, span, currency, starts_at, ends_at, machine, *sums, ms in rows(COVERED, params):
        if one not in bought:
            continue
        effective, on_demand = sums
        used = _used_by(bought[one], effective, ms, machine)
        month = main_month(starts_at, ends_at, ours.zone)
        rate = exchange(from_currency=currency, to_currency=ours.currency, month=month)
        if used is None or rate is None:
            unknown.add((one, span))
            continue
        so_far = uses_by_key.get((one, span), BilledUse(0, 0, 0))
        uses_by_key[one, span] = BilledUse(
            so_far.used + used,
            _sum(so_far.covered_cost, _converted(effective, rate.rate)),
            _sum(so_far.on_demand, _converted(on_demand, rate.rate)),
        )
    return {key: use for key, use in uses_by_key.items() if key not in unknown}


def billed_spans(params: Mapping[str, object]) -> ToldSpans:
    """When reconciled bills tell of each commitment, between `starts_at` and `ends_at`."""
    spans_by_commitment: dict[int, list[tuple[datetime, datetime]]] = {}
    for one, begins, ends in rows(TOLD, params):
        spans_by_commitment.setdefault(one, []).append((begins, ends))
    return spans_by_commitment


def is_billed(spans: Sequence[tuple[datetime, datetime]], moment: datetime) -> bool:
    """Whether a bill tells of a commitment at a moment."""
    return any(begins <= moment < ends for begins, ends in spans)


def _used_by(bought: CommitmentOfHour, effective: object, ms: object, machine: str) -> int | None:
    if bought.spend_micros:
        return None if effective is None else round(Fraction(str(effective)) * MICROS) * HOUR_MS
    if bought.per is not Per.NODE or ms is None:
        return None
    size = bought.size_of(machine) if bought.size else 1
    return None if size is None else round(Fraction(str(ms)) * size)


def _converted(amount: object, rate: Fraction) -> int | None:
    return None if amount is None else round(Fraction(str(amount)) * MICROS * rate)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
