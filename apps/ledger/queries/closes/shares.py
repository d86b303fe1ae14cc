"""The amounts that the invoices of a month bill, by the month in which they stand in statements or wait."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from apps.accounts import queries as accounts
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows
from apps.show.money import full_amount

# What each hour is billed by these invoices, by the local month of the hour; and what charges of it, with
# their corrections, say was billed by whichever invoice.
SHARES = """
WITH billed AS (
    SELECT node_id, NULL::int8 AS billed_charge_id, hour, billed_micros
    FROM ledger_billedhour WHERE bill_id = ANY(%(bills)s)
    UNION ALL
    SELECT NULL, id, hour, billed_micros FROM ledger_billedcharge WHERE bill_id = ANY(%(bills)s)
)
SELECT date_trunc('month', hour AT TIME ZONE %(zone)s)::date,
       CASE WHEN count(billed_micros) = count(*) THEN sum(billed_micros)::int8 END
FROM billed GROUP BY 1 ORDER BY 1
"""
# What bills say of a month's hours beyond what its charges, with their corrections, say was billed.
WAITING = """
SELECT (
    SELECT coalesce(sum(billed_micros), 0) FROM (
        SELECT hour.billed_micros FROM ledger_billedhour AS hour
        JOIN fleet_node_fact AS node ON node.id = hour.node_id
         AND node.period && tstzrange(hour.hour, hour.hour + interval '1 hour')
        WHERE date_trunc('month', hour.hour AT TIME ZONE %(zone)s)::date = %(month)s
        UNION ALL
        SELECT billed_micros FROM ledger_billedcharge
        WHERE date_trunc('month', hour AT TIME ZONE %(zone)s)::date = %(month)s
    ) AS asked
)::int8 - (
    SELECT coalesce(sum(charge.billed_micros), 0)
    FROM ledger_charge AS charge
    LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id
    WHERE coalesce(original.posting_month, charge.posting_month) = %(month)s
)::int8
"""


@dataclass(frozen=True, slots=True)
class InvoiceShare:
    """The share of a month's invoices in the hours of one month, None where a part of it is unknown.

    `waits_micros` is what bills say of that month beyond what its statements and their corrections
    have, where it is closed; 0 where it is open.
    """

    month: date
    billed_micros: int | None
    is_closed: bool
    waits_micros: int


def shares_of_invoices(bill_ids: Collection[int]) -> list[InvoiceShare]:
    """Return the share of these bills in each month of the hours, in order; their sums are what the invoices bill."""
    zone = accounts.organisation().zone
    billed_by_month = rows(SHARES, {"bills": list(bill_ids), "zone": zone}) if bill_ids else []
    closed = closed_months() if billed_by_month else set()
    return [
        InvoiceShare(of, billed, of in closed, _waiting(of, zone) if of in closed else 0)
        for of, billed in billed_by_month
    ]


def _waiting(month: date, zone: str) -> int:
    ((waits,),) = rows(WAITING, {"month": month, "zone": zone})
    return int(waits)


def shares_in_words(shares: Sequence[InvoiceShare], currency: str) -> str:
    """`$120.00 stand in 2026-08, $7.00 in 2026-07, which is closed: -$7.00 wait there`."""
    sentences = []
    for share in shares:
        billed = share.billed_micros
        amount = "an unknown amount" if billed is None else full_amount(billed, currency)
        words = f"{amount} in {share.month:%Y-%m}"
        if share.is_closed:
            words += ", which is closed"
        if share.waits_micros:
            words += f": {full_amount(share.waits_micros, currency)} wait there for corrections"
        sentences.append(words)
    return "; ".join(sentences)
