"""Contract prices of model APIs and whom a vendor is booked by, and the hours that they move."""

from datetime import datetime

from django.db import transaction

from apps.economics.vendor_names import PRICED, vendor_named
from apps.ledger.actions.calls import mark_calls
from apps.ledger.queries.api_calls import hours_of_calls, vendors_with_calls
from apps.logs.changes import logged_change
from apps.marks.actions import ORGANISATION, Mark, mark
from apps.marks.queries import Pass
from apps.pricing.actions import api_prices
from apps.pricing.queries.api_prices import api_price


@logged_change()
@transaction.atomic
def enter_price(*, price: api_prices.EnteredApiPrice) -> int:
    """Enter a contract price, and have the calls of its period priced again; its id.

    Refuses ApiPriceNotUnderstood and ApiPriceOverlaps.
    """
    canonical_vendor(price.vendor)
    price_id = api_prices.add_api_price(price=price)
    mark_calls(hours=hours_of_calls(price.starts_at, price.ends_at, price.vendor))
    return price_id


@logged_change()
@transaction.atomic
def end_price(*, price_id: int, ended_at: datetime) -> None:
    """End a contract price, and have the calls after that priced again.

    Refuses ApiPriceAlreadyEnded and ApiPriceNotUnderstood.
    """
    price = api_price(price_id)
    api_prices.end_api_price(price_id=price_id, ended_at=ended_at)
    if price is not None:
        mark_calls(hours=hours_of_calls(ended_at, price.ends_at, price.vendor))


def canonical_vendor(name: str) -> str:
    """Return a vendor's name as its calls have it; refuses an ApiPriceNotUnderstood of no known one."""
    vendor = vendor_named(name)
    vendors = PRICED | vendors_with_calls()
    if vendor and vendor not in vendors:
        names = ", ".join(sorted(vendors))
        raise api_prices.ApiPriceNotUnderstood(
            "vendor", f"{name!r:.60} has no public price and no call; these are known: {names}"
        )
    return vendor


@logged_change()
@transaction.atomic
def book_vendor(*, vendor: str, booked_by: str) -> None:
    """Book a vendor by its calls or by its bill, past hours too; never by both.

    Refuses an ApiPriceNotUnderstood.
    """
    vendor = canonical_vendor(vendor)
    if api_prices.book_vendor(vendor=vendor, booked_by=booked_by):
        hours = hours_of_calls(None, None, vendor)
        mark(Mark(Pass.CHARGE, ORGANISATION, hour) for hour in hours)
