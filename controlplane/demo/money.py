"""What the demo's organisation bought ahead, what all its teams share, and its cloud's bill."""

import csv
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from apps.accounts import queries as accounts
from apps.economics.focus.making import ChargeFacts, PartFacts
from apps.economics.hours import HOUR, HOUR_MS
from apps.ledger.queries.focus_rows import charges_of_month
from apps.pricing import actions as pricing
from controlplane.demo.fleet import DemoSpan

DAY, YEAR = timedelta(days=1), timedelta(days=365)
BILLED_DAYS = 5
"""The bill is of the week's first days: the cloud has not billed the last two yet."""
MICROS = 10**6
# The cloud asks for more than the price list said, of one machine; one it forgot for a day.
DEARER, DEARER_BY = "p4de.24xlarge", Decimal("1.03")
FORGOTTEN = "harbor-l4-02"
CLOUD = "Amazon Web Services, Inc."
COLUMNS = (
    *("BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "BillingAccountId"),
    *("BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargeCategory"),
    *("ChargeDescription", "ChargePeriodStart", "ChargePeriodEnd", "CommitmentDiscountId"),
    *("CommitmentDiscountStatus", "ConsumedQuantity", "ConsumedUnit", "InvoiceId"),
    *("InvoiceIssuerName", "PricingCategory", "PricingQuantity", "PricingUnit"),
    *("ProviderName", "PublisherName", "RegionId", "ResourceId", "ServiceCategory"),
    *("ServiceName", "SkuId", "SubAccountId"),
)
Cells = dict[str, object]


def buy(span: DemoSpan) -> None:
    """A savings plan that a machine uses up, and a reservation of one machine too many."""
    began = span.starts_at - 90 * DAY
    plan = pricing.NewCommitment(
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
    reservation = pricing.NewCommitment(
        name="Three g6.12xlarge, no upfront",
        kind="reserved",
        currency="USD",
        starts_at=began,
        ends_at=span.starts_at + 40 * DAY,
        provider="aws",
        region="us-east-1",
        instance_type="g6.12xlarge",
        units=3,
        hourly=Decimal("8.6976"),
        owner_id=_team("Assistant"),
        external_id="ri-demo-g6",
    )
    for commitment in (plan, reservation):
        pricing.add_commitment(commitment=commitment, at=span.at)


def share(span: DemoSpan) -> None:
    """What nobody holds and everybody needs."""
    weights = {"Language models": 5, "Vision": 3, "Ranking": 1, "Search": 1}
    for name, amount, method, of_teams in (
        ("Cloud support", 4_200, "by_cost", {}),
        ("Shared file system", 6_500, "weighted", weights),
    ):
        pricing.add_shared_cost(
            cost=pricing.NewSharedCost(
                name=name,
                amount=Decimal(amount),
                currency="USD",
                method=method,
                starts_at=span.starts_at,
                weights={_team(team): Decimal(weight) for team, weight in of_teams.items()},
            ),
            at=span.at,
        )


def write_bill(span: DemoSpan, path: Path) -> None:
    """The cloud's bill of the week's first days, as FOCUS 1.2."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="NULL")
        writer.writeheader()
        for month in _months(span):
            writer.writerows(_of_month(month, span))


def _of_month(month: date, span: DemoSpan) -> Iterator[Cells]:
    until = span.starts_at + BILLED_DAYS * DAY
    starts_at = max(span.starts_at, datetime.combine(month, datetime.min.time(), UTC))
    ends_at = min(until, _next(month))
    if starts_at >= ends_at:
        return
    about = _about(month)
    for charge, parts in charges_of_month(month):
        if charge.ends_at <= ends_at and _is_billed(charge, span):
            yield about | _machine(charge, parts)
    hours = (ends_at - starts_at) // HOUR
    for service, category, amount in (
        ("Amazon Elastic Block Store", "Storage", Decimal("0.0411") * hours),
        ("AWS Data Transfer", "Networking", Decimal("0.2817") * hours),
    ):
        yield about | _beside(starts_at, ends_at, amount) | {
            "ServiceName": service, "ServiceCategory": category, "ChargeDescription": service,
        }  # fmt: skip
    # A machine that nobody told Runrate of.
    yield about | _beside(starts_at, starts_at + HOUR, Decimal("12.2401")) | {
        "ServiceName": "Amazon Elastic Compute Cloud", "ServiceCategory": "Compute",
        "ResourceId": "i-0f00dfeed15a51de5", "ChargeDescription": "g5.12xlarge Linux",
        "ConsumedQuantity": 1, "ConsumedUnit": "Hours", "PricingQuantity": 1, "PricingUnit": "Hours",
    }  # fmt: skip
    yield about | _beside(starts_at, ends_at, Decimal("-150.25")) | {
        "ChargeCategory": "Credit", "ServiceName": "Amazon Elastic Compute Cloud",
        "ServiceCategory": "Compute", "ChargeDescription": "Migration credit",
    }  # fmt: skip


def _is_billed(charge: ChargeFacts, span: DemoSpan) -> bool:
    if charge.kind == "commitment_unused":
        return charge.starts_at >= span.starts_at
    is_forgotten = charge.node == FORGOTTEN and charge.starts_at - span.starts_at < DAY
    return charge.kind == "node_hour" and charge.provider == "aws" and not is_forgotten


def _machine(charge: ChargeFacts, parts: list[PartFacts]) -> Cells:
    """A charge as the cloud bills it: by the price list, but for the machine that is dearer."""
    factor = DEARER_BY if charge.instance_type == DEARER else Decimal(1)
    known = [each.costs for each in parts]
    listed, contracted, effective = (
        factor * sum(micros or 0 for micros in amounts) / MICROS
        for amounts in (
            [each.listed for each in known],
            [each.contracted for each in known],
            [each.effective for each in known],
        )
    )
    is_unused = charge.kind == "commitment_unused"
    hours = Decimal(charge.lived_ms) / HOUR_MS
    cells: Cells = {
        "BilledCost": effective,
        "EffectiveCost": effective,
        "ContractedCost": contracted,
        "ListCost": listed,
        "ChargeCategory": "Usage",
        "ChargeDescription": charge.commitment if is_unused else f"{charge.instance_type} Linux",
        "ChargePeriodStart": _text(charge.starts_at),
        "ChargePeriodEnd": _text(charge.starts_at + HOUR),
        "PricingCategory": "Committed" if charge.commitment_id else "Standard",
        "RegionId": charge.region or "us-east-1",
        "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "SkuId": charge.instance_type or "commitment",
    }
    if charge.commitment_id:
        cells["CommitmentDiscountId"] = charge.commitment_id
        cells["CommitmentDiscountStatus"] = "Unused" if is_unused else "Used"
    if not is_unused:
        cells |= {"ResourceId": charge.node_id, "ConsumedQuantity": hours, "ConsumedUnit": "Hours"}
        cells |= {"PricingQuantity": hours, "PricingUnit": "Hours"}
    return cells


def _beside(starts_at: datetime, ends_at: datetime, amount: Decimal) -> Cells:
    costs = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost")
    return dict.fromkeys(costs, amount) | {
        "ChargeCategory": "Usage",
        "ChargePeriodStart": _text(starts_at),
        "ChargePeriodEnd": _text(ends_at),
        "PricingCategory": "Standard",
    }


def _about(month: date) -> Cells:
    return {
        "BillingAccountId": "123456789012",
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{month}T00:00:00Z",
        "BillingPeriodEnd": _text(_next(month)),
        "InvoiceId": f"DEMO-{month:%Y-%m}",
        "InvoiceIssuerName": CLOUD,
        "ProviderName": "AWS",
        "PublisherName": "AWS",
        "SubAccountId": "210987654321",
    }


def _months(span: DemoSpan) -> list[date]:
    return sorted({span.starts_at.date().replace(day=1), span.ends_at.date().replace(day=1)})


def _next(month: date) -> datetime:
    first = (month + timedelta(days=31)).replace(day=1)
    return datetime(first.year, first.month, 1, tzinfo=UTC)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _team(name: str) -> int:
    return next(team.id for team in accounts.teams() if team.name == name)
