"""What the cloud lets the company have."""

from decimal import Decimal

from apps.pricing.actions.quotas import (
    NewQuota,
    QuotaPlace,
    record_held_capacity,
    record_quotas,
)
from controlplane.demo.company import Company

PLACE = QuotaPlace(provider="aws", account="123456789012", region="us-east-1")
LIMITS = (
    NewQuota("L-417A185B", "Running On-Demand P instances", Decimal(768), "vCPU", Decimal(576)),
    NewQuota(
        "L-DB2E81BA", "Running On-Demand G and VT instances", Decimal(192), "vCPU", Decimal(192)
    ),
    NewQuota(
        "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", Decimal(192), "vCPU", Decimal(96)
    ),
)
HELD = (
    NewQuota(
        "reservation/cr-0demo24c0ffee5", "p5.48xlarge in us-east-1a", Decimal(3), "", Decimal(3)
    ),
)


def read_limits(company: Company) -> None:
    """The cloud's limits: one of them is used up."""
    record_quotas(place=PLACE, quotas=LIMITS, at=company.week.at)
    record_held_capacity(place=PLACE, held=HELD, at=company.week.at)
