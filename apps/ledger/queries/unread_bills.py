"""Deliveries with rows that could not be read, which nobody accepted and none came in place of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from apps.ledger.queries.tables import rows

UNREAD: LiteralString = """
      (batch.state = 'held' AND batch.rejected > 0
       OR (batch.state = 'done' AND batch.rejected > 0 AND batch.accepted_at IS NULL))
"""
# A later whole delivery of the bill stands in its place, whatever became of it.
WAITING: LiteralString = """
FROM ledger_billimport AS batch
JOIN ledger_billimport_bills AS part ON part.billimport_id = batch.id
JOIN ledger_bill AS bill ON bill.id = part.bill_id
WHERE :unread
  AND NOT EXISTS (
      SELECT 1 FROM ledger_billimport AS later
      JOIN ledger_billimport_bills AS its ON its.billimport_id = later.id
      WHERE its.bill_id = bill.id AND later.id > batch.id
        AND later.state = 'done' AND NOT later.is_addition)
""".replace(":unread", UNREAD)
OF_BILLS = """
SELECT bill.id, batch.id, batch.name, batch.rejected, batch.state = 'held'
:waiting AND bill.id = ANY(%(bills)s)
ORDER BY bill.id, batch.id
""".replace(":waiting", WAITING)
# Rows that could not be read may be all that the file has of a period: they are of no bill then.
BETWEEN = """
SELECT count(*) FROM (
    SELECT batch.id
    :waiting AND bill.starts_at < %(to)s AND bill.ends_at > %(from)s
    UNION
    SELECT batch.id FROM ledger_billimport AS batch
    WHERE :unread AND batch.unread_from < %(to)s AND batch.unread_until > %(from)s
      AND NOT EXISTS (
          SELECT 1 FROM ledger_billimport AS later
          JOIN ledger_billimport_bills AS its ON its.billimport_id = later.id
          JOIN ledger_bill AS bill ON bill.id = its.bill_id
          WHERE later.id > batch.id AND later.state = 'done' AND NOT later.is_addition
            AND bill.starts_at < least(batch.unread_until, %(to)s)
            AND bill.ends_at > greatest(batch.unread_from, %(from)s)
            AND (bill.issuer, bill.account) IN (
                SELECT held.issuer, held.account FROM ledger_bill AS held
                JOIN ledger_billimport_bills AS part ON part.bill_id = held.id
                WHERE part.billimport_id = batch.id))
) AS unread
""".replace(":waiting", WAITING).replace(":unread", UNREAD)


@dataclass(frozen=True, slots=True)
class UnreadDelivery:
    """A delivery of which `rows` rows were not read; nothing of one that is held counts."""

    id: int
    name: str
    rows: int
    is_held: bool


def unread_of(bill_ids: Sequence[int]) -> dict[int, tuple[UnreadDelivery, ...]]:
    """By bill; those that are whole are left out."""
    deliveries_by_bill: dict[int, tuple[UnreadDelivery, ...]] = {}
    for bill_id, *fields in rows(OF_BILLS, {"bills": list(bill_ids)}):
        deliveries_by_bill[bill_id] = (
            *deliveries_by_bill.get(bill_id, ()),
            UnreadDelivery(*fields),
        )
    return deliveries_by_bill


def unread_between(*, starts_at: datetime, ends_at: datetime) -> int:
    """How many of them have a bill that reaches into these hours, or rows that were to."""
    ((count,),) = rows(BETWEEN, {"from": starts_at, "to": ends_at})
    return int(count)
