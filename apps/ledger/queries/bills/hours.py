"""The amounts that bills ask for in one hour, as it was reconciled."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from apps.economics.hours import HOUR
from apps.ledger.models import Bill, BilledCharge
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class BilledAmounts:
    """The amounts that all bills together ask for one node's hour; None where one of them does not say."""

    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    billed_micros: int | None
    is_provisional: bool


@dataclass(frozen=True, slots=True)
class BilledApart:
    """Rows of a bill that no node-hour carries, as they are charged."""

    id: int
    kind: str
    reason: str
    ends_at: datetime
    team_id: int | None
    pool_id: int | None
    commitment_id: str
    node_id: int | None
    # Its reason says it too: a charge's digest, which is of this text, stays what it was.
    share_method: str = field(repr=False)
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    billed_micros: int | None
    is_provisional: bool


def billed_hours(hour: datetime) -> dict[int, BilledAmounts]:
    """The billed node-hours of `hour`, by node."""
    amount_rows = rows(
        """
        SELECT node_id,
               CASE WHEN count(list_micros) = count(*) THEN sum(list_micros)::int8 END,
               CASE WHEN count(contracted_micros) = count(*) THEN sum(contracted_micros)::int8 END,
               CASE WHEN count(effective_micros) = count(*) THEN sum(effective_micros)::int8 END,
               CASE WHEN count(billed_micros) = count(*) THEN sum(billed_micros)::int8 END,
               bool_or(is_provisional)
        FROM ledger_billedhour WHERE hour = %(hour)s GROUP BY node_id
        """,
        {"hour": hour},
    )
    return {node_id: BilledAmounts(*amounts) for node_id, *amounts in amount_rows}


def is_spread_over(hour: datetime) -> bool:
    """Whether a bill's rows may be spread by what this hour costs: they are longer than an hour.

    Of one that waits to be reconciled nobody knows yet.
    """
    over = Bill.objects.filter(starts_at__lt=hour + HOUR, ends_at__gt=hour)
    spread = Q(reconciled_at=None) | Q(long_from__lt=hour + HOUR, long_until__gt=hour)
    return over.filter(spread).exists()


class NodeEstimate(NamedTuple):
    """The cost that a node's hour would have without its bill, in micro-units."""

    node_id: int | None
    pool_id: int | None
    weight: int


def estimates_of_hour(hour: datetime) -> set[NodeEstimate]:
    """Return the cost of each node of an hour without its bill; an unpriced part counts as nothing."""
    estimate_rows = rows(
        """
        SELECT node_id, min(pool_id),
               coalesce(sum(CASE WHEN billed_micros IS NULL THEN effective_micros
                                 ELSE estimated_micros END), 0)::int8
        FROM ledger_charge
        WHERE hour = %(hour)s AND kind = 'node_hour' AND corrects_id IS NULL AND digest <> ''
        GROUP BY node_id
        """,
        {"hour": hour},
    )
    return {NodeEstimate(*row) for row in estimate_rows}


def billed_charges(hour: datetime) -> list[BilledApart]:
    """The charges of bills' rows that begin in `hour`, by id."""
    charges = BilledCharge.objects.filter(hour=hour).order_by("id")
    return [BilledApart(*row) for row in charges.values_list(*BilledApart.__slots__)]
