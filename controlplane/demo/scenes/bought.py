"""What the organisation bought ahead."""

from datetime import timedelta
from decimal import Decimal

from apps.pricing import actions as pricing
from controlplane.demo.company import Company

DAY, YEAR = timedelta(days=1), timedelta(days=365)


def buy_ahead(company: Company) -> None:
    """A savings plan that a machine uses up, and a reservation of which half stands unused."""
    began = company.since
    plan = pricing.EnteredCommitment(
        name="Compute plan 2026",
        kind="savings_plan",
        currency="USD",
        starts_at=began,
        ends_at=began + 3 * YEAR,
        provider="aws",
        region="us-east-1",
        spend=Decimal(30),
        prices={"p5.48xlarge": Decimal("34.6752"), "p4de.24xlarge": Decimal("17.21")},
        hourly=Decimal(30),
        external_id="arn:aws:savingsplans::123456789012:savingsplan/demo",
    )
    reservation = pricing.EnteredCommitment(
        name="Four g6.12xlarge, no upfront",
        kind="reserved",
        currency="USD",
        starts_at=began,
        ends_at=company.week.starts_at + 40 * DAY,
        provider="aws",
        region="us-east-1",
        instance_type="g6.12xlarge",
        units=4,
        hourly=Decimal("11.5968"),
        owner_id=company.team("Assistant"),
        external_id="ri-demo-g6",
    )
    for commitment in (plan, reservation):
        pricing.add_commitment(commitment=commitment, at=company.week.at)
