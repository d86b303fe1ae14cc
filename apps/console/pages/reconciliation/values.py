"""The values that the template of a reconciliation gets."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import Frame
from apps.ledger.queries.bills.comparing import ApartSum, UnbilledNode
from apps.ledger.queries.bills.deliveries import BillFact


@dataclass(frozen=True, slots=True)
class Cause:
    """A part of the difference in whole minor units, and what it is made of."""

    name: str
    micros: int
    meaning: str


@dataclass(frozen=True, slots=True)
class ApartRow:
    """A charge not tied to a node, and the form that maps it; empty where a rule could not say more."""

    of: ApartSum
    map_href: str


@dataclass(frozen=True, slots=True)
class ReconciliationPage:
    """A bill, its variance against the estimate, the charges not tied to a node, the nodes not on it."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    bill: BillFact
    billed_micros: int
    estimated_micros: int
    causes: tuple[Cause, ...]
    apart: tuple[ApartRow, ...]
    unbilled: tuple[UnbilledNode, ...]
    reconciled_at: datetime | None
    billed_until: datetime | None
    residual: str
