"""Staged rows of a delivery against those in force: which stay, which come, which go."""

from collections.abc import Sequence
from typing import LiteralString

from apps.accounts import queries as accounts
from apps.ledger.models import Bill
from apps.ledger.queries.bills.books import books_of
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows, run

ENOUGH_WITH_CENTS = 3
"""So many rows with cents must agree before a bill is called rounded."""


def drop_rows(import_id: int) -> int:
    """Delete the rows of one delivery; how many."""
    return run("DELETE FROM ledger_billrow WHERE batch_id = %(id)s", {"id": import_id})


def record_rounded_bills(bill_ids: Sequence[int]) -> list[str]:
    """Note whose EffectiveCost, as it is in force now, was rounded upstream; the words for it."""
    rounded_rows = rows(ROUNDED, {"bills": list(bill_ids), "enough": ENOUGH_WITH_CENTS})
    ids = {bill_id for (bill_id,) in rounded_rows}
    Bill.objects.filter(id__in=set(bill_ids) - ids).update(is_rounded_upstream=False)
    rounded = Bill.objects.filter(id__in=ids)
    rounded.update(is_rounded_upstream=True)
    return [
        f"{issuer}: EffectiveCost was rounded to whole {currency} upstream; "
        "our own estimate stands on that basis"
        for issuer, currency in sorted(set(rounded.values_list("issuer", "currency")))
    ]


def remarks_on(bill_ids: Sequence[int]) -> list[str]:
    """Return what is odd about bills as they are in force now, in words: rounding, closed months, books."""
    zone, closed = accounts.organisation().zone, closed_months()
    of = Bill.objects.filter(id__in=list(bill_ids)).values_list("starts_at", "ends_at")
    late = {main_month(*period, zone) for period in of} & closed
    return [
        *record_rounded_bills(bill_ids),
        *(
            f"{month:%Y-%m} is closed: what this changes there waits until its corrections are "
            "posted, or the month is opened again"
            for month in sorted(late)
        ),
        *(
            f"the books of a commitment do not balance: {book.words}"
            for book in books_of(bill_ids)
            if book.is_off
        ),
    ]


def rows_lost(import_id: int, bill_ids: Sequence[int]) -> int:
    """How many rows in force are not among the staged ones."""
    ((replaced,),) = rows(WOULD_REPLACE, {"id": import_id, "bills": list(bill_ids)})
    return int(replaced)


def repeated_rows(import_id: int) -> list[str]:
    """The words for staged rows that cost something and are told several times."""
    ((times,),) = rows(REPEATED, {"id": import_id})
    if not times:
        return []
    return [
        f"{times} rows say in every cell what another row of the file says: each of them counts; "
        "look whether they are there by mistake"
    ]


def exchange(import_id: int, bill_ids: Sequence[int]) -> tuple[int, int]:
    """Drop staged rows that are in force already, each against one of them; replace the others."""
    if not rows(OTHERS, {"id": import_id, "bills": list(bill_ids)}):
        return 0, 0
    ((unchanged, replaced),) = rows(EXCHANGE, {"id": import_id, "bills": list(bill_ids)})
    return unchanged, replaced


# Rows with cents were billed, and not one of them kept its cents in its effective cost.
ROUNDED: LiteralString = """
SELECT bill.id
FROM unnest(%(bills)s::int8[]) AS bill (id)
WHERE NOT EXISTS (:with_cents AND row.effective_cost <> trunc(row.effective_cost))
  AND (SELECT count(*) FROM (:with_cents LIMIT %(enough)s) AS seen) >= %(enough)s
""".replace(
    ":with_cents",
    """
    SELECT 1 FROM ledger_billrow AS row
    JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
    WHERE row.bill_id = bill.id AND row.replaced_by_id IS NULL
      AND row.effective_cost IS NOT NULL AND row.billed_cost <> trunc(row.billed_cost)
    """,
)
REPEATED = """
SELECT coalesce(sum(times - 1), 0)::int8
FROM (SELECT count(*) AS times FROM ledger_billrow
      WHERE batch_id = %(id)s AND (billed_cost <> 0 OR effective_cost <> 0)
      GROUP BY bill_id, digest HAVING count(*) > 1) AS alike
"""
# Without another delivery of the same bills there is nothing to lay beside a million rows.
OTHERS = """
SELECT 1 FROM ledger_billimport_bills AS part
JOIN ledger_billimport AS batch ON batch.id = part.billimport_id AND batch.state = 'done'
WHERE part.bill_id = ANY(%(bills)s) AND batch.id <> %(id)s LIMIT 1
"""
PAIRS: LiteralString = """
WITH staged AS (
    SELECT id, bill_id, digest,
           row_number() OVER (PARTITION BY bill_id, digest ORDER BY id) AS place
    FROM ledger_billrow WHERE batch_id = %(id)s
),
held AS (
    SELECT row.id, row.bill_id, row.digest,
           row_number() OVER (PARTITION BY row.bill_id, row.digest ORDER BY row.id) AS place
    FROM ledger_billrow AS row
    JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
    WHERE row.bill_id = ANY(%(bills)s) AND row.replaced_by_id IS NULL AND row.batch_id <> %(id)s
),
again AS (
    SELECT staged.id AS staged_id, held.id AS held_id
    FROM staged JOIN held USING (bill_id, digest, place)
)
"""
WOULD_REPLACE = ":pairs SELECT (SELECT count(*) FROM held) - (SELECT count(*) FROM again)".replace(
    ":pairs", PAIRS
)
EXCHANGE = """
:pairs,
dropped AS (
    DELETE FROM ledger_billrow USING again WHERE ledger_billrow.id = again.staged_id RETURNING 1
),
replaced AS (
    UPDATE ledger_billrow SET replaced_by_id = %(id)s
    WHERE id IN (SELECT id FROM held EXCEPT SELECT held_id FROM again) RETURNING 1
)
SELECT (SELECT count(*) FROM dropped), (SELECT count(*) FROM replaced)
""".replace(":pairs", PAIRS)
