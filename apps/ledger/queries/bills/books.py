"""The books of commitments that bills name: what was paid for each, and what it cost."""

from collections.abc import Collection

from apps.economics.commitment_books import CommitmentBook
from apps.ledger.queries.tables import rows

# A commitment that somebody entered tells its term; of another nobody knows whether it was bought
# before its first row, where that is at the beginning of the first bill of its account.
BOOKS = """
WITH accounts AS (
    SELECT DISTINCT account, currency FROM ledger_bill WHERE id = ANY(%(bills)s)
),
known AS (
    SELECT bill.id, bill.account, bill.currency, bill.starts_at, bill.ends_at,
           min(bill.starts_at) OVER (PARTITION BY bill.account) AS first_at,
           max(bill.ends_at) OVER (PARTITION BY bill.account) AS last_at
    FROM ledger_bill AS bill JOIN accounts USING (account, currency)
),
named AS (
    SELECT DISTINCT row.commitment_id FROM ledger_billrow AS row
    JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
    WHERE row.bill_id = ANY(%(bills)s) AND row.commitment_id <> '' AND row.replaced_by_id IS NULL
)
SELECT row.commitment_id, known.currency,
       sum(row.billed_cost) FILTER (WHERE row.category = 'Purchase'),
       CASE WHEN count(row.effective_cost) = count(*) THEN sum(row.effective_cost) END,
       coalesce(sum(row.effective_cost) FILTER (
           WHERE row.category = 'Purchase' AND lower(row.commitment_status) <> 'unused'), 0),
       coalesce(min(lower(bought.period)), min(row.starts_at)) <= min(known.first_at)
           AND (min(lower(bought.period)) IS NULL
                OR min(lower(bought.period)) < min(known.first_at)),
       coalesce(max(least(upper(bought.period), bought.ended_at)) <= max(known.last_at), FALSE)
FROM known
JOIN ledger_billrow AS row ON row.bill_id = known.id
JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
JOIN named ON named.commitment_id = row.commitment_id
LEFT JOIN pricing_commitment_fact AS bought ON bought.external_id = row.commitment_id
WHERE row.commitment_id <> '' AND row.replaced_by_id IS NULL AND row.kind <> 'tax'
GROUP BY 1, 2 ORDER BY 1, 2
"""


def books_of(bill_ids: Collection[int]) -> list[CommitmentBook]:
    """The books of every commitment that these bills name, over all bills of their accounts."""
    if not bill_ids:
        return []
    return [CommitmentBook(*row) for row in rows(BOOKS, {"bills": list(bill_ids)})]


def books_off(bill_ids: Collection[int]) -> list[CommitmentBook]:
    """Those of them that do not balance."""
    return [book for book in books_of(bill_ids) if book.is_off]
