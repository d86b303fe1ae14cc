"""Node-hours by their rates, with what is not sure about those; and the turns of tiers."""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import connection

from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import NOT_STATED, Hour, Price, WantedCharge
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.charges import HourRates
from apps.ledger.queries.tiered import hours_to_price_again, remaining_month_hours
from apps.marks.actions import ORGANISATION, Mark
from apps.marks.queries import Pass
from apps.pricing.queries.tiers import has_tiers

# Arbitrary but fixed: hours whose price hangs on what else their month lived are charged in turn.
TIERS = 7_305_033


def not_stated(rates: Iterable[HourRates]) -> frozenset[int]:
    """The rates whose currency goes by an earlier month's rate of exchange, by id."""
    return frozenset(
        span.rate.id for rate in rates for span in rate.spans if span.rate.is_provisional
    )


def by_rates(
    node: fleet.NodeFact, part: ChargePart, price: Price, unstated: Collection[int]
) -> WantedCharge:
    """A part of a node-hour as its rates have it: provisional by one of `unstated`.

    What is unpriced says why, where a rate holds that cannot be converted.
    """
    key = (ChargeKind.NODE_HOUR, node.id, part)
    if unstated and any(
        rate_id in unstated
        for piece in price.pieces
        for rate_id in (piece.list_rate_id, piece.contract_rate_id)
    ):
        return WantedCharge(key, node.pool_id, price, status=Status.PROVISIONAL, reason=NOT_STATED)
    details = (
        [piece.detail for piece in price.pieces if piece.detail]
        if part is ChargePart.UNPRICED
        else []
    )
    return WantedCharge(key, node.pool_id, price, reason=details[0] if details else "")


def wait_for_turn(this: Hour) -> None:
    """Where tiers hold in the rest of the month: until no other hour of it is being charged.

    So each pass sees what every other one wrote, or is seen by it: none goes by facts that came
    between. To be called before facts are read.
    """
    remainder = remaining_month_hours(this.starts_at, this.zone)
    if not has_tiers(remainder.starts_at, remainder.ends_at):
        return
    with connection.cursor() as cursor:
        key = this.month.year * 12 + this.month.month
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [TIERS, key])


def later_marks(this: Hour, at: datetime) -> list[Mark]:
    """Marks for the hours of the month that an hour which changed moved to another tier price."""
    later = hours_to_price_again(this.starts_at, at, this.zone)
    return [Mark(Pass.CHARGE, ORGANISATION, hour) for hour in later]
