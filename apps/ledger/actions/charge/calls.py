"""Charges of calls to model APIs: what their prices made of an hour, by model and owner."""

from collections.abc import Iterable

from apps.ledger.actions.charge.values import Hour, Price, WantedCharge, digest_of
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.api_calls import CalledItem, items_of_hour
from apps.pricing.queries.api_prices import vendors_booked_by_bill
from apps.show.amounts import counted


def calls_to_models(this: Hour) -> Iterable[WantedCharge]:
    """A charge for each model and owner of the hour, but of vendors that are booked by their bill."""
    for item in items_of_hour(this.starts_at, vendors_booked_by_bill()):
        amounts = (item.list_micros, item.micros, item.micros)
        yield WantedCharge(
            (ChargeKind.API, item.id, ChargePart.CALLS),
            None,
            Price((), *amounts, digest_of(item)),
            reason=_unpriced_reason(item),
            team_id=item.team_id,
            workload_id=item.workload_id,
        )


def _unpriced_reason(item: CalledItem) -> str:
    if not item.unpriced:
        return ""
    return f"{counted(item.unpriced, 'call')} of {item.requests} has no price: {item.reason}"
