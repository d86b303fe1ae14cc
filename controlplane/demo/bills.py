"""The cloud's bills, a file for each week: of every hour up to two days ago."""

import contextlib
import csv
import io
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from django.core.management import call_command

from apps.economics.focus.making import ChargeFacts, PartFacts
from apps.economics.hours import HOUR, HOUR_MS
from apps.ledger import actions as ledger
from apps.ledger.queries.focus_rows import charges_of_month
from apps.marks.queries import Pass
from controlplane.demo.company import Company
from controlplane.demo.database import BILL
from controlplane.demo.fleet import DemoSpan

DAY = timedelta(days=1)
BILLED_DAYS = 5
"""The last week's first days are on a bill: the cloud has not billed the last two yet."""
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


def take_bill(company: Company, span: DemoSpan) -> None:
    """Of a week: what was charged, as the cloud asks for it; beside what came before."""
    charging = {Pass.CHARGE: ledger.PASSES[Pass.CHARGE]}
    # A bill is made from what was charged; split is each hour once, when its bill is there.
    ledger.settle_window(
        passes=charging, starts_at=span.starts_at, ends_at=span.ends_at, at=span.at
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        bill = Path(folder) / f"{BILL}-{span.starts_at:%Y-%m-%d}.csv"
        with bill.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="NULL")
            writer.writeheader()
            for month in _months(span):
                writer.writerows(_of_month(month, company, span))
        call_command("import_focus", str(bill), add=True)
        call_command("reconcile_bills")


def _of_month(month: date, company: Company, span: DemoSpan) -> Iterator[Cells]:
    until = company.week.starts_at + BILLED_DAYS * DAY
    starts_at = max(span.starts_at, datetime.combine(month, datetime.min.time(), UTC))
    ends_at = min(until, span.ends_at, _next(month))
    if starts_at >= ends_at:
        return
    about = _about(month)
    for charge, parts in charges_of_month(month):
        is_in = starts_at <= charge.starts_at and charge.ends_at <= ends_at
        if is_in and _is_billed(charge, company):
            yield about | _machine(charge, parts)
    hours = (ends_at - starts_at) // HOUR
    for service, category, amount in (
        ("Amazon Elastic Block Store", "Storage", Decimal("0.0411") * hours),
        ("AWS Data Transfer", "Networking", Decimal("0.2817") * hours),
    ):
        yield about | _beside(starts_at, ends_at, amount) | {
            "ServiceName": service, "ServiceCategory": category, "ChargeDescription": service,
        }  # fmt: skip
    if span.weeks_ago:
        return
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


def _is_billed(charge: ChargeFacts, company: Company) -> bool:
    if charge.kind == "commitment_unused":
        return True
    since_week = charge.starts_at - company.week.starts_at
    is_forgotten = charge.node == FORGOTTEN and timedelta(0) <= since_week < DAY
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
    days = (span.ends_at - span.starts_at) // DAY + 1
    return sorted({(span.starts_at + day * DAY).date().replace(day=1) for day in range(days + 1)})


def _next(month: date) -> datetime:
    first = (month + timedelta(days=31)).replace(day=1)
    return datetime(first.year, first.month, 1, tzinfo=UTC)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
