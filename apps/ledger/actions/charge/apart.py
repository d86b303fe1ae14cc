"""Charges without a node: shared costs of the month, and billed rows that no node-hour carries."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from fractions import Fraction

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.rates import MICROS
from apps.economics.terms import term_amount_in_hour
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import NOT_STATED, Hour, Price, WantedCharge, digest_of
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.bills.hours import billed_charges
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.charges import shared_costs_of_hour
from apps.pricing.queries import SharedCostFact, conversions
from apps.pricing.queries.commitments import commitments_called


def shared_costs(this: Hour) -> Iterable[WantedCharge]:
    """This hour's part of each monthly amount, as far as the hour has come.

    One in a currency that nothing converts is unknown, and in no team's sum.
    """
    costs = shared_costs_of_hour(this.starts_at)
    hour = (this.starts_at, this.starts_at + HOUR)
    foreign = conversions({cost.currency for cost in costs}, *hour)
    for cost in costs:
        converted = foreign[cost.currency][0] if cost.currency in foreign else None
        amount = _in_hour(this, cost, 1 if converted is None else converted.rate)
        about = (cost.id, cost.method, this.through_ms, amount)
        digest = digest_of(about)
        is_provisional = converted is not None and converted.is_provisional
        reason = "" if converted is None or amount is not None else converted.detail
        yield WantedCharge(
            (ChargeKind.SHARED, cost.id, ChargePart.PRICED),
            None,
            Price((), amount, amount, amount, digest),
            status=Status.PROVISIONAL if is_provisional else None,
            reason=NOT_STATED if is_provisional else reason,
        )


def _in_hour(this: Hour, cost: SharedCostFact, rate: Fraction | int | None) -> int | None:
    """Converted before the month is rounded, so that its hours sum to the month's amount."""
    if rate is None:
        return None
    month = month_span(this.month, this.zone)
    k = (this.starts_at - month.starts_at) // HOUR
    monthly = round(Fraction(cost.amount) * MICROS * rate)
    ends_at = min(cost.ends_at, this.through)
    covered_ms = max(0, (ends_at - cost.starts_at) // timedelta(milliseconds=1))
    return term_amount_in_hour(monthly, month.hours, k) * covered_ms // HOUR_MS


def billed_apart(this: Hour) -> Iterable[WantedCharge]:
    """Rows of bills whose charge begins in this hour.

    What names a node is carried by whoever carries its hour, and has no line of its own; what is
    shared is spread as an entered shared cost is. What is of a commitment stays with that one's owner, as it was estimated; else it is whose the bill says,
    and Platform's where nobody else owns it.
    """
    platform = accounts.special_teams().platform_id
    billed = billed_charges(this.starts_at)
    bought = commitments_called({charge.commitment_id for charge in billed})
    named = [charge.node_id for charge in billed if charge.node_id is not None]
    nodes_by_id = {node.id: node for node in _charged_nodes(this, named)} if named else {}
    for billed_charge in billed:
        amounts = (
            billed_charge.list_micros,
            billed_charge.contracted_micros,
            billed_charge.effective_micros,
        )
        commitment = bought.get(billed_charge.commitment_id)
        team_id: int | None = (
            (commitment.owner_id if commitment else None) or billed_charge.team_id or platform
        )
        pool_id = (commitment.pool_id if commitment else None) or billed_charge.pool_id
        node = nodes_by_id.get(billed_charge.node_id or 0)
        if node is not None:
            team_id, pool_id = None, node.pool_id
        part = ChargePart.SHARED_BY_BILL if billed_charge.share_method else ChargePart.PRICED
        if billed_charge.share_method:
            team_id = None
        about = (billed_charge, team_id, pool_id, commitment.id if commitment else None)
        digest = digest_of(about)
        yield WantedCharge(
            key=(billed_charge.kind, billed_charge.id, part),
            pool_id=pool_id,
            price=Price((), *amounts, digest, billed_micros=billed_charge.billed_micros),
            status=Status.PROVISIONAL if billed_charge.is_provisional else Status.RECONCILED,
            reason=billed_charge.reason,
            through=billed_charge.ends_at,
            team_id=team_id,
            commitment_id=commitment.id if commitment else None,
            node_id=node.id if node else None,
        )


def _charged_nodes(this: Hour, node_ids: Collection[int]) -> Sequence[fleet.NodeFact]:
    """Those of the nodes that are charged in this hour: they have lines to follow."""
    return fleet.nodes_alive_between(this.starts_at, this.through, node_ids)
