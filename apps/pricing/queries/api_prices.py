"""Contract prices of model APIs, and which record of a vendor's calls goes to the ledger."""

from datetime import datetime

from apps.economics.calls import Contract
from apps.pricing.models import ApiPrice, ApiVendor


def api_prices(vendor: str | None = None) -> list[Contract]:
    """Every contract price, by vendor, model and beginning."""
    prices = ApiPrice.objects.all() if vendor is None else ApiPrice.objects.filter(vendor=vendor)
    return [
        _contract_of_row(row) for row in prices.order_by("vendor", "model", "unit", "period", "id")
    ]


def api_price(price_id: int) -> Contract | None:
    """One of them."""
    price = ApiPrice.objects.filter(pk=price_id).first()
    return None if price is None else _contract_of_row(price)


def contracts(starts_at: datetime, ends_at: datetime) -> list[Contract]:
    """Those that hold anywhere in the span, as calls are priced by them."""
    prices = ApiPrice.objects.filter(period__overlap=(starts_at, ends_at)).order_by("id")
    return [_contract_of_row(row) for row in prices]


def vendors_booked_by_bill() -> frozenset[str]:
    """Vendors whose bill goes to the ledger, and not their calls."""
    booked = ApiVendor.objects.filter(booked_by="bill")
    return frozenset(booked.values_list("vendor", flat=True))


def _contract_of_row(row: ApiPrice) -> Contract:
    columns = {name: getattr(row, name) for name in Contract.__slots__ if hasattr(row, name)}
    return Contract(**columns, starts_at=row.period.lower, ends_at=row.period.upper)
