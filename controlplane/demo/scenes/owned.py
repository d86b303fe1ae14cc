"""Hardware of the company's own."""

from datetime import timedelta
from decimal import Decimal

from apps.pricing import actions as pricing
from controlplane.demo.company import Company

KNOWN_FOR = timedelta(days=63)
"""So long before the last week; of the time before that, nobody has said what an hour costs."""


def own_hardware(company: Company) -> None:
    """The machine in the lab gets a purchase price, a tariff and a rack's rent."""
    plan = pricing.EnteredOwnedPlan(
        name="Lab, L40S",
        pool_id=company.pool("l40s-lab"),
        nodes=1,
        purchase=Decimal(61_500),
        salvage=Decimal(6_000),
        life_months=48,
        watts=2_400,
        pue=Decimal("1.35"),
        currency="USD",
        starts_at=company.week.starts_at - KNOWN_FOR,
        tariffs={0: Decimal("0.11"), 7 * 60: Decimal("0.19"), 21 * 60: Decimal("0.11")},
        monthly={"Rack and cooling": Decimal(410), "Support contract": Decimal(180)},
    )
    pricing.add_owned_plan(plan=plan, at=company.week.at)
