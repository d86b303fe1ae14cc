"""The cloud's bills, a file for each week: of every hour up to two days ago."""

import contextlib
import csv
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import LiteralString

from django.core.management import call_command

from apps.economics.hours import HOUR, HOUR_MS, hour_of
from apps.fleet import queries as fleet
from apps.ledger import actions as ledger
from apps.ledger.queries.tables import rows
from apps.marks.queries import Pass
from apps.pricing.queries import pool_rates
from controlplane.demo.company import Company
from controlplane.demo.database import BILL
from controlplane.demo.fleet import DemoSpan

DAY = timedelta(days=1)
BILLED_DAYS = 5
"""The last week's first days are on a bill: the cloud has not billed the last two yet."""
MICROS = 10**6
# The cloud asks for more than the price list said, of one machine, where no commitment sets its
# price; one it forgot for a day.
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
# Of charges and not of lines: nothing is split before its bill is there.
CHARGED: LiteralString = """
SELECT charge.hour, node.provider_id, node.name, pool.region, pool.instance_type,
       coalesce(bought.external_id, ''), coalesce(bought.name, ''),
       sum(piece.end_ms - piece.start_ms)::int8, coalesce(sum(piece.list_micros), 0)::int8,
       coalesce(sum(piece.contracted_micros), 0)::int8,
       coalesce(sum(piece.effective_micros), 0)::int8
FROM ledger_charge AS charge
JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
JOIN fleet_node_fact AS node ON node.id = charge.node_id
JOIN fleet_pool_fact AS pool ON pool.id = charge.pool_id
LEFT JOIN pricing_commitment_fact AS bought ON bought.id = piece.commitment_id
WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL AND pool.provider = 'aws'
  AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
GROUP BY charge.id, node.provider_id, node.name, pool.region, pool.instance_type,
         bought.external_id, bought.name
UNION ALL
SELECT charge.hour, '', '', 'us-east-1', '', bought.external_id, bought.name, 0, 0, 0,
       coalesce(charge.effective_micros, 0)
FROM ledger_charge AS charge
JOIN pricing_commitment_fact AS bought ON bought.id = charge.commitment_id
WHERE charge.kind = 'commitment_unused' AND charge.corrects_id IS NULL
  AND charge.billed_charge_id IS NULL
  AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
ORDER BY 1, 3, 6
"""


@dataclass(frozen=True, slots=True)
class BilledMachine:
    """An hour of a machine, or of a commitment that nobody used: no machine; in micro-units."""

    starts_at: datetime
    provider_id: str
    node: str
    region: str
    instance_type: str
    commitment_id: str
    commitment: str
    lived_ms: int
    list_micros: int
    contracted_micros: int
    effective_micros: int


def take_bill(company: Company, span: DemoSpan) -> None:
    """Of a week: what was charged, as the cloud asks for it; beside what came before."""
    charging = {Pass.CHARGE: ledger.PASSES[Pass.CHARGE]}
    # A bill is made from what was charged: of hours after which others are alike, for all is
    # charged once more, and split, when its bill is there.
    for hour in _hours_unlike(span):
        ledger.settle_window(passes=charging, starts_at=hour, ends_at=hour + HOUR, at=span.at)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        bill = Path(folder) / f"{BILL}-{span.starts_at:%Y-%m-%d}.csv"
        with bill.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="NULL")
            writer.writeheader()
            for month in _months(span):
                writer.writerows(_of_month(month, company, span))
        call_command("import_focus", str(bill), add=True)
        call_command("reconcile_bills")


def _hours_unlike(span: DemoSpan) -> list[datetime]:
    """Hours of the span in which machines or prices are not as in the hour before, and the next."""
    cuts = {span.starts_at, *(_first_of(month) for month in _months(span))}
    for node in fleet.nodes_alive_between(span.starts_at, span.ends_at):
        cuts |= {node.lived_from, node.lived_to}
    for rates in pool_rates(fleet.pools(), span.starts_at, span.ends_at).values():
        cuts |= {moment for rate in rates for moment in (rate.starts_at, rate.ends_at)}
    hours = {hour_of(cut) + after for cut in cuts for after in (timedelta(0), HOUR)}
    return sorted(hour for hour in hours if span.starts_at <= hour < span.ends_at)


def _of_month(month: date, company: Company, span: DemoSpan) -> Iterator[Cells]:
    until = company.week.starts_at + BILLED_DAYS * DAY
    starts_at = max(span.starts_at, _first_of(month))
    ends_at = min(until, span.ends_at, _next(month))
    if starts_at >= ends_at:
        return
    about = _about(month)
    for machine in _machines(starts_at, ends_at):
        if not _is_forgotten(machine, company):
            yield about | _machine(machine)
    hours = (ends_at - starts_at) // HOUR
    for service, category, amount in (
        ("Amazon Elastic Block Store", "Storage", Decimal("2.1733") * hours),
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


def _machines(starts_at: datetime, ends_at: datetime) -> Iterator[BilledMachine]:
    """Of every hour; one that was not charged yet is like the last one before it that was."""
    found = (
        BilledMachine(*row) for row in rows(CHARGED, {"starts_at": starts_at, "ends_at": ends_at})
    )
    charged = {hour: list(of_hour) for hour, of_hour in groupby(found, attrgetter("starts_at"))}
    alike: list[BilledMachine] = []
    for number in range((ends_at - starts_at) // HOUR):
        hour = starts_at + number * HOUR
        alike = charged.get(hour, alike)
        yield from (replace(each, starts_at=hour) for each in alike)


def _is_forgotten(machine: BilledMachine, company: Company) -> bool:
    since_week = machine.starts_at - company.week.starts_at
    return machine.node == FORGOTTEN and timedelta(0) <= since_week < DAY


def _machine(machine: BilledMachine) -> Cells:
    """An hour as the cloud bills it: by the price list, but for the machine that is dearer."""
    is_dearer = machine.instance_type == DEARER and not machine.commitment_id
    factor = DEARER_BY if is_dearer else Decimal(1)
    listed, contracted, effective = (
        factor * micros / MICROS
        for micros in (machine.list_micros, machine.contracted_micros, machine.effective_micros)
    )
    is_unused = not machine.provider_id
    hours = Decimal(machine.lived_ms) / HOUR_MS
    cells: Cells = {
        "BilledCost": effective,
        "EffectiveCost": effective,
        "ContractedCost": contracted,
        "ListCost": listed,
        "ChargeCategory": "Usage",
        "ChargeDescription": machine.commitment if is_unused else f"{machine.instance_type} Linux",
        "ChargePeriodStart": _text(machine.starts_at),
        "ChargePeriodEnd": _text(machine.starts_at + HOUR),
        "PricingCategory": "Committed" if machine.commitment_id else "Standard",
        "RegionId": machine.region,
        "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "SkuId": machine.instance_type or "commitment",
    }
    if machine.commitment_id:
        cells["CommitmentDiscountId"] = machine.commitment_id
        cells["CommitmentDiscountStatus"] = "Unused" if is_unused else "Used"
    if not is_unused:
        cells |= {"ResourceId": machine.provider_id, "ConsumedQuantity": hours}
        cells |= {"ConsumedUnit": "Hours", "PricingQuantity": hours, "PricingUnit": "Hours"}
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


def _first_of(month: date) -> datetime:
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def _next(month: date) -> datetime:
    return _first_of(month + timedelta(days=31))


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
