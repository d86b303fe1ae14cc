"""What was agreed with the vendors of models, and what they say that their calls cost."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from apps.ledger.actions.api_prices import enter_price
from apps.ledger.actions.vendor_costs import take_vendor_costs
from apps.ledger.queries.api_spend import Spend, SpendQuery, spend
from apps.pricing.actions.api_prices import EnteredApiPrice
from controlplane.demo.company import Company

MICROS = 10**6
TOLD_FOR = timedelta(days=42)
BESIDE_THE_GATEWAY = Decimal("1.06")
"""OpenAI asks for more than was counted: some calls go past the gateway."""


def agree_with_a_vendor(company: Company) -> None:
    """Google takes a tenth off what its models ask for."""
    for unit in ("input", "output"):
        agreed = EnteredApiPrice(
            "google", "gemini-2.5-*", unit, company.since, discount_ratio=Decimal("0.1")
        )
        enter_price(price=agreed)


def take_vendor_reports(company: Company) -> None:
    """Vendors of models say what their calls cost: one of them more than the gateway counted."""
    ends_at = datetime.combine(company.week.ends_at.date(), time(), UTC)
    asked = SpendQuery(max(ends_at - TOLD_FOR, company.since), ends_at, "UTC")
    days: dict[str, list[Spend]] = {"openai": [], "anthropic": []}
    for each in spend(asked, ["vendor", "day"]):
        vendor = str(each.key[0])
        if vendor in days and each.micros:
            days[vendor].append(each)
    for vendor, told in days.items():
        data = [_bucket(vendor, each) for each in told]
        take_vendor_costs(vendor=vendor, report={"data": data}, at=company.week.at)


def _bucket(vendor: str, told: Spend) -> dict[str, Any]:
    """A day as the vendor's own report has it: in dollars, or in cents."""
    dollars = Decimal(told.micros or 0) / MICROS
    day = f"{told.key[1]}T00:00:00Z"
    if vendor == "anthropic":
        return {
            "starting_at": day,
            "results": [{"amount": str(dollars * 100), "currency": "USD", "description": "Tokens"}],
        }
    amount = {"value": str(dollars * BESIDE_THE_GATEWAY), "currency": "usd"}
    return {"start_time": day, "results": [{"amount": amount, "line_item": "completions"}]}
