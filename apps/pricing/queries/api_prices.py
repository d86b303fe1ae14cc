"""Contract prices of model APIs, and which record of a vendor's calls goes to the ledger."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.economics.calls import Contract
from apps.pricing.models import ApiPrice, ApiVendor


@dataclass(frozen=True, slots=True)
class ApiPriceFact:
    """A contract price as it was entered."""

    id: int
    vendor: str
    model: str
    tier: str
    unit: str
    amount: Decimal | None
    per_quantity: int
    currency: str
    discount_ratio: Decimal | None
    starts_at: datetime | None
    ends_at: datetime | None


def api_prices(vendor: str | None = None) -> list[ApiPriceFact]:
    """Every contract price, by vendor, model and beginning."""
    found = ApiPrice.objects.all() if vendor is None else ApiPrice.objects.filter(vendor=vendor)
    return [_price_fact(row) for row in found.order_by("vendor", "model", "unit", "period", "id")]


def api_price(price_id: int) -> ApiPriceFact | None:
    """One of them."""
    found = ApiPrice.objects.filter(pk=price_id).first()
    return None if found is None else _price_fact(found)


def contracts(starts_at: datetime, ends_at: datetime) -> list[Contract]:
    """Those that hold anywhere in the span, as calls are priced by them."""
    found = ApiPrice.objects.filter(period__overlap=(starts_at, ends_at)).order_by("id")
    return [_contract_of_fact(_price_fact(row)) for row in found]


def vendors_booked_by_bill() -> frozenset[str]:
    """Vendors whose bill goes to the ledger, and not their calls."""
    booked = ApiVendor.objects.filter(booked_by="bill")
    return frozenset(booked.values_list("vendor", flat=True))


def _price_fact(row: ApiPrice) -> ApiPriceFact:
    return ApiPriceFact(
        id=row.pk,
        vendor=row.vendor,
        model=row.model,
        tier=row.tier,
        unit=row.unit,
        amount=row.amount,
        per_quantity=row.per_quantity,
        currency=row.currency,
        discount_ratio=row.discount_ratio,
        starts_at=row.period.lower,
        ends_at=row.period.upper,
    )


def _contract_of_fact(fact: ApiPriceFact) -> Contract:
    return Contract(
        id=fact.id,
        vendor=fact.vendor,
        model=fact.model,
        tier=fact.tier,
        unit=fact.unit,
        amount=fact.amount,
        per_quantity=fact.per_quantity,
        currency=fact.currency,
        discount_ratio=fact.discount_ratio,
        starts_at=fact.starts_at,
        ends_at=fact.ends_at,
    )
