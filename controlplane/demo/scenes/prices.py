"""Prices that were agreed, one that fell, and one that somebody has to approve."""

from datetime import datetime, timedelta
from decimal import Decimal

from apps.accounts.queries import person_of_address
from apps.pricing import actions as pricing
from apps.pricing.queries.listing import rates_in_force
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES

AGREED, FELL_AGO = timedelta(days=56), timedelta(days=39)
"""So long before the last week."""
FELL = "p4de.24xlarge"


def agree_and_cut_prices(company: Company) -> None:
    """A price agreed for rented H100s; the list price of an A100 machine falls by an eighth."""
    at, fell_at = company.week.at, company.week.starts_at - FELL_AGO
    agreed = _rate(
        "contract", "p5.48xlarge", "49.536", company.week.starts_at - AGREED, "Order form 114"
    )
    pricing.add_rate(rate=agreed, at=at)
    for rate in rates_in_force(at):
        if rate["instance_type"] == FELL and rate["purchase_option"] == "on_demand":
            pricing.end_rate(rate_id=rate["id"], ended_at=fell_at, at=at)
    pricing.add_rate(rate=_rate("list", FELL, "24.016", fell_at, "Price notice"), at=at)


def propose_a_price(company: Company) -> None:
    """The platform proposes next month's price of rented H100s: it waits for a second person."""
    month = (company.week.ends_at.replace(day=1, hour=0) + timedelta(days=31)).replace(day=1)
    proposed = _rate("contract", "p5.48xlarge", "38.40", month, "Order form 131")
    pricing.propose_rate(rate=proposed, by=person_of_address(MANAGES), at=company.week.at)


def _rate(
    kind: str, instance_type: str, amount: str, starts_at: datetime, source: str
) -> pricing.EnteredRate:
    return pricing.EnteredRate(
        kind=kind,
        amount=Decimal(amount),
        currency="USD",
        starts_at=starts_at,
        purchase_option="on_demand",
        provider="aws",
        region="us-east-1",
        instance_type=instance_type,
        source=source,
        source_date=starts_at.date(),
    )
