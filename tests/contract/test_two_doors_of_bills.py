"""Two doors, one dollar: a line of a month's bill costs the same in AWS's own report and in any FOCUS."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.ledger.models import Charge, Line
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import take
from tests.contract.sampling import by_turns

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
THEN = datetime(2026, 7, 3, 10, tzinfo=UTC)
AT = THEN + timedelta(days=40)
PLAN = "arn:aws:savingsplans::1234:savingsplan/sp-1"
RESERVED = "arn:aws:ec2:us-east-1:1234:reserved-instances/ri-1"
JUNE = {"start": "2026-06-20T10:00:00Z", "end": "2026-06-20T11:00:00Z"}


@dataclass(frozen=True)
class BillLine:
    """One thing that is paid for, in both spellings: cells of rows, one or several."""

    cur: tuple[Mapping[str, str], ...]
    focus: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class BillFact:
    """Lines of a bill, and what the ledger says of them: by kind of charge, listed to billed."""

    lines: tuple[BillLine, ...]
    charges: Mapping[str, tuple[str, str, str, str]]
    statuses: frozenset[str] = frozenset({"reconciled"})
    gpu_hours: int = 0
    hours: Mapping[str, datetime] = field(default_factory=dict)


def usage(cost: str, kind: str = "BoxUsage", **given: str) -> tuple[dict[str, str], dict[str, str]]:
    """Both spellings of an hour of the machine i-01."""
    meter = f"{kind}:p5.48xlarge"
    cur = {"lineItem/UsageType": meter, "lineItem/UnblendedCost": cost} | {
        "pricing/publicOnDemandCost": "98.32"
    }
    focus = {"SkuMeter": meter, "ListCost": "98.32", "ContractedCost": cost} | {
        "EffectiveCost": cost, "BilledCost": cost,
    }  # fmt: skip
    return cur, focus | given


def plain(cost: str, category: str, line_item: str, **given: Any) -> BillLine:
    """A line of its own, of no machine, that costs the same on every basis."""
    service, description = given.pop("service", "AWS"), given.pop("description", "")
    period = given.pop("period", {})
    cur = {
        "lineItem/LineItemType": line_item,
        "lineItem/UnblendedCost": cost,
        "lineItem/ResourceId": "",
        "lineItem/UsageType": given.pop("meter", ""),
        "lineItem/ProductCode": given.pop("code", service),
        "lineItem/LineItemDescription": description,
        "product/ProductName": service,
        "pricing/publicOnDemandCost": "",
        "pricing/unit": "",
    }
    if period:
        cur |= {"lineItem/UsageStartDate": period["start"], "lineItem/UsageEndDate": period["end"]}
    focus = {
        "ChargeCategory": category,
        "ServiceCategory": "Other",
        "ServiceName": service,
        "SkuMeter": cur["lineItem/UsageType"],
        "ChargeDescription": description,
        "ResourceId": "",
        "PricingUnit": "",
        "ConsumedUnit": "",
        **dict.fromkeys(("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"), cost),
    }
    if period:
        focus |= {"ChargePeriodStart": period["start"], "ChargePeriodEnd": period["end"]}
    return BillLine((cur,), (focus | given,))


ON_DEMAND, SPOT = usage("90.5"), usage("31", "SpotUsage", PricingCategory="Dynamic")
COVERED = (
    {"lineItem/LineItemType": "SavingsPlanCoveredUsage"}
    | {"savingsPlan/SavingsPlanARN": PLAN, "savingsPlan/SavingsPlanEffectiveCost": "55.04"},
    {"CommitmentDiscountId": PLAN, "CommitmentDiscountStatus": "Used"}
    | {"PricingCategory": "Committed", "BilledCost": "0", "EffectiveCost": "55.04"}
    | {"ContractedCost": "98.32"},
)
NEGATION = {
    "lineItem/LineItemType": "SavingsPlanNegation",
    "lineItem/UnblendedCost": "-98.32",
    "pricing/publicOnDemandCost": "",
    "savingsPlan/SavingsPlanARN": PLAN,
}
OF_PLAN = {"CommitmentDiscountId": PLAN, "ResourceId": "", "PricingUnit": "", "ConsumedUnit": ""}
FEE = (
    {
        "lineItem/LineItemType": "SavingsPlanRecurringFee",
        "lineItem/UnblendedCost": "60",
        "lineItem/ResourceId": PLAN,
        "lineItem/UsageType": "ComputeSP:1yrNoUpfront",
        "pricing/publicOnDemandCost": "",
        "pricing/unit": "",
        "savingsPlan/SavingsPlanARN": PLAN,
        "savingsPlan/TotalCommitmentToDate": "60",
        "savingsPlan/UsedCommitment": "55.04",
    },
    OF_PLAN
    | {"ChargeCategory": "Purchase", "BilledCost": "60", "EffectiveCost": "0", "ListCost": "0"}
    | {"ContractedCost": "0", "SkuMeter": "ComputeSP:1yrNoUpfront"},
    OF_PLAN
    | {"CommitmentDiscountStatus": "Unused", "BilledCost": "0", "EffectiveCost": "4.96"}
    | {"ListCost": "0", "ContractedCost": "0", "SkuMeter": "ComputeSP:1yrNoUpfront"},
)
OF_RESERVED = OF_PLAN | {"CommitmentDiscountId": RESERVED}
FACTS = {
    "an hour on demand": BillFact(
        (BillLine((ON_DEMAND[0],), (ON_DEMAND[1],)),),
        {"node_hour": ("98.32", "90.5", "90.5", "90.5")},
        gpu_hours=8,
    ),
    "an hour of Spot": BillFact(
        (BillLine((SPOT[0],), (SPOT[1],)),),
        {"node_hour": ("98.32", "31", "31", "31")},
        gpu_hours=8,
    ),
    "use that a savings plan covers, and its fee": BillFact(
        (
            BillLine(
                (usage("98.32")[0] | COVERED[0], NEGATION),
                (usage("98.32")[1] | COVERED[1],),
            ),
            BillLine((FEE[0],), FEE[1:]),
        ),
        {
            "node_hour": ("98.32", "98.32", "55.04", "0"),
            "commitment_unused": ("0", "0", "4.96", "0"),
            "purchase": ("0", "0", "0", "60"),
        },
        gpu_hours=8,
    ),
    "use that a reservation covers, and its fee": BillFact(
        (
            BillLine(
                (
                    usage("0")[0]
                    | {"lineItem/LineItemType": "DiscountedUsage"}
                    | {"reservation/ReservationARN": RESERVED, "reservation/EffectiveCost": "40"},
                ),
                (
                    usage("98.32")[1]
                    | {"CommitmentDiscountId": RESERVED, "CommitmentDiscountStatus": "Used"}
                    | {"PricingCategory": "Committed", "BilledCost": "0", "EffectiveCost": "40"},
                ),
            ),
            BillLine(
                (
                    FEE[0]
                    | {"lineItem/LineItemType": "RIFee", "lineItem/UnblendedCost": "65"}
                    | {"lineItem/ResourceId": RESERVED, "savingsPlan/SavingsPlanARN": ""}
                    | {"savingsPlan/TotalCommitmentToDate": "", "savingsPlan/UsedCommitment": ""}
                    | {"reservation/ReservationARN": RESERVED}
                    | {"reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "5"}
                    | {"reservation/UnusedRecurringFee": "20"},
                ),
                (
                    FEE[1] | OF_RESERVED | {"BilledCost": "65"},
                    FEE[2] | OF_RESERVED | {"EffectiveCost": "25"},
                ),
            ),
        ),
        {
            "node_hour": ("98.32", "98.32", "40", "0"),
            "commitment_unused": ("0", "0", "25", "0"),
            "purchase": ("0", "0", "0", "65"),
        },
        gpu_hours=8,
    ),
    "what was paid upfront": BillFact(
        (
            BillLine(
                (
                    FEE[0]
                    | {"lineItem/LineItemType": "Fee", "lineItem/UnblendedCost": "900"}
                    | {"lineItem/ResourceId": RESERVED, "savingsPlan/SavingsPlanARN": ""}
                    | {"reservation/ReservationARN": RESERVED},
                ),
                (FEE[1] | OF_RESERVED | {"BilledCost": "900"},),
            ),
        ),
        {"purchase": ("0", "0", "0", "900")},
    ),
    "a credit": BillFact(
        (plain("-50", "Credit", "Credit"),), {"credit": ("-50", "-50", "-50", "-50")}
    ),
    "a tax": BillFact((plain("19", "Tax", "Tax"),), {"tax": ("19", "19", "19", "19")}),
    "a refund of an earlier month": BillFact(
        (plain("-7", "Credit", "Refund", period=JUNE, ChargeClass="Correction"),),
        {"credit": ("-7", "-7", "-7", "-7")},
        hours={"credit": datetime(2026, 6, 20, tzinfo=UTC)},
    ),
    "reserved capacity that nobody ran in": BillFact(
        (
            BillLine(
                (
                    usage("98.32", "UnusedBox")[0]
                    | {
                        "lineItem/ResourceId": "arn:aws:ec2:us-east-1:1234:capacity-reservation/cr-0"
                    },
                ),
                (
                    usage("98.32", "UnusedBox")[1]
                    | {"CapacityReservationStatus": "Unused", "CapacityReservationId": "cr-0"}
                    | {"ResourceId": "arn:aws:ec2:us-east-1:1234:capacity-reservation/cr-0"},
                ),
            ),
        ),
        {"service": ("98.32", "98.32", "98.32", "98.32")},
    ),
    "software of the marketplace on a machine": BillFact(
        (
            BillLine(
                (
                    usage("4", "SoftwareUsage")[0]
                    | {"pricing/publicOnDemandCost": "4", "lineItem/ProductCode": "8f2c1"}
                    | {"product/ProductName": "A Trainer", "bill/BillingEntity": "AWS Marketplace"},
                ),
                (
                    usage("4", "SoftwareUsage")[1]
                    | {"ListCost": "4", "ServiceName": "A Trainer"}
                    | {"ServiceCategory": "AI and Machine Learning"}
                    | {"HostProviderName": "A Trainer Inc"},
                ),
            ),
        ),
        {"node_hour": ("60", "60", "60", "0"), "service": ("4", "4", "4", "4")},
        statuses=frozenset({"estimated", "reconciled"}),
        gpu_hours=8,
    ),
    "support": BillFact(
        (
            plain(
                "50",
                "Purchase",
                "Fee",
                service="AWS Support (Business)",
                code="AWSSupportBusiness",
                description="Monthly support",
            ),
        ),
        {"service": ("50", "50", "50", "50")},
    ),
    "storage of no machine": BillFact(
        (
            plain(
                "12",
                "Usage",
                "Usage",
                service="Amazon Simple Storage Service",
                code="AmazonS3",
                meter="TimedStorage-ByteHrs",
            ),
        ),
        {"service": ("12", "12", "12", "12")},
    ),
    "everything of a month": BillFact(
        (
            BillLine((ON_DEMAND[0],), (ON_DEMAND[1],)),
            plain("-50", "Credit", "Credit"),
            plain("19", "Tax", "Tax"),
            BillLine((FEE[0],), FEE[1:]),
        ),
        {
            "node_hour": ("98.32", "90.5", "90.5", "90.5"),
            "credit": ("-50", "-50", "-50", "-50"),
            "tax": ("19", "19", "19", "19"),
            "commitment_unused": ("0", "0", "4.96", "0"),
            "purchase": ("0", "0", "0", "60"),
        },
        gpu_hours=8,
    ),
}

CUR = {
    "bill/PayerAccountId": "1234",
    "bill/BillingEntity": "AWS",
    "bill/BillingPeriodStartDate": "2026-07-01T00:00:00Z",
    "bill/BillingPeriodEndDate": "2026-08-01T00:00:00Z",
    "bill/InvoiceId": "INV-7",
    "lineItem/UsageAccountId": "5678",
    "lineItem/LineItemType": "Usage",
    "lineItem/UsageStartDate": "2026-07-03T10:00:00Z",
    "lineItem/UsageEndDate": "2026-07-03T11:00:00Z",
    "lineItem/ProductCode": "AmazonEC2",
    "lineItem/UsageType": "",
    "lineItem/ResourceId": "i-01",
    "lineItem/UsageAmount": "1",
    "lineItem/CurrencyCode": "USD",
    "lineItem/UnblendedCost": "",
    "lineItem/LineItemDescription": "",
    "product/ProductName": "Amazon Elastic Compute Cloud",
    "product/region": "us-east-1",
    "pricing/publicOnDemandCost": "",
    "pricing/unit": "Hrs",
    "savingsPlan/SavingsPlanARN": "",
    "savingsPlan/SavingsPlanEffectiveCost": "",
    "savingsPlan/TotalCommitmentToDate": "",
    "savingsPlan/UsedCommitment": "",
    "reservation/ReservationARN": "",
    "reservation/EffectiveCost": "",
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "",
    "reservation/UnusedRecurringFee": "",
}
FOCUS = {
    "InvoiceIssuerName": "Amazon Web Services, Inc.",
    "ServiceProviderName": "AWS",
    "HostProviderName": "AWS",
    "BillingAccountId": "1234",
    "BillingCurrency": "USD",
    "BillingPeriodStart": "2026-07-01T00:00:00Z",
    "BillingPeriodEnd": "2026-08-01T00:00:00Z",
    "ChargePeriodStart": "2026-07-03T10:00:00Z",
    "ChargePeriodEnd": "2026-07-03T11:00:00Z",
    "ChargeCategory": "Usage",
    "ChargeClass": "",
    "ChargeDescription": "",
    "ServiceCategory": "Compute",
    "ServiceName": "Amazon Elastic Compute Cloud",
    "SkuMeter": "",
    "ResourceId": "i-01",
    "RegionId": "us-east-1",
    "SubAccountId": "5678",
    "PricingCategory": "Standard",
    "PricingQuantity": "1",
    "PricingUnit": "Hours",
    "ConsumedQuantity": "1",
    "ConsumedUnit": "Hours",
    "CommitmentDiscountId": "",
    "CommitmentDiscountStatus": "",
    "CapacityReservationId": "",
    "CapacityReservationStatus": "",
    "InvoiceId": "INV-7",
    "InvoiceDetailId": "INV-7-1",
    "ListCost": "",
    "ContractedCost": "",
    "EffectiveCost": "",
    "BilledCost": "",
}
SINCE = {
    "1.1": ("SkuMeter", "CapacityReservationId", "CapacityReservationStatus"),
    "1.2": ("InvoiceId",),
    "1.3": ("ServiceProviderName", "HostProviderName"),
    "1.4": ("InvoiceDetailId",),
}
"""Columns by the version that brought them."""


def cur_rows(fact: BillFact) -> list[dict[str, str]]:
    return [CUR | cells for line in fact.lines for cells in line.cur]


def focus_rows(fact: BillFact, version: str) -> list[dict[str, str]]:
    """The lines as that version has them, with the columns that AWS added to its first."""
    late = {name for since, names in SINCE.items() if since > version for name in names}
    found = []
    for line in fact.lines:
        for given in line.focus:
            cells = FOCUS | dict(given)
            row = {name: cell for name, cell in cells.items() if name not in late}
            if version < "1.3":
                row |= {
                    "ProviderName": cells["ServiceProviderName"],
                    "PublisherName": cells["HostProviderName"],
                }
            if version < "1.1":
                row["x_UsageType"] = cells["SkuMeter"]
            found.append(row)
    return found


def as_csv(rows: Sequence[Mapping[str, str]], folder: Path) -> Path:
    path = folder / "bill.csv"
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_parquet(rows: Sequence[Mapping[str, str]], folder: Path) -> Path:
    """As exports write it: amounts are numbers, what is not there is null."""
    path = folder / "bill.parquet"
    columns: dict[str, list[object]] = {}
    for name in rows[0]:
        cells: list[object] = [row[name] or None for row in rows]
        if name.lower().endswith("cost"):
            cells = [None if cell is None else Decimal(str(cell)) for cell in cells]
        columns[name] = cells
    pq.write_table(pa.table(columns), path)
    return path


def as_second_kind(row: Mapping[str, str]) -> dict[str, str]:
    """A legacy report's row under the names of CUR 2.0."""
    named = {}
    for name, cell in row.items():
        group, _, rest = name.partition("/")
        words = "".join(f"_{c.lower()}" if c.isupper() else c for c in f"{group}/{rest}")
        plain_name = words.replace("/_", "_").replace("/", "_").replace("_a_r_n", "_arn")
        named[plain_name] = cell
    return named


DOORS: dict[str, Callable[[BillFact, Path], Path]] = {
    "a report of AWS's, CSV": lambda fact, to: as_csv(cur_rows(fact), to),
    "a report of the second kind, CSV": lambda fact, to: as_csv(
        [as_second_kind(row) for row in cur_rows(fact)], to
    ),
    "a report of the second kind, Parquet": lambda fact, to: as_parquet(
        [as_second_kind(row) for row in cur_rows(fact)], to
    ),
    "FOCUS 1.0": lambda fact, to: as_csv(focus_rows(fact, "1.0"), to),
    "FOCUS 1.1": lambda fact, to: as_csv(focus_rows(fact, "1.1"), to),
    "FOCUS 1.2": lambda fact, to: as_csv(focus_rows(fact, "1.2"), to),
    "FOCUS 1.2, Parquet": lambda fact, to: as_parquet(focus_rows(fact, "1.2"), to),
    "FOCUS 1.3": lambda fact, to: as_csv(focus_rows(fact, "1.3"), to),
    "FOCUS 1.4": lambda fact, to: as_csv(focus_rows(fact, "1.4"), to),
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def add_machine(fact: BillFact) -> None:
    """Eight GPUs of one hour at 60, which is what the bill's machine was estimated at."""
    if not fact.gpu_hours:
        return
    pool_id = make.make_pool("p5")
    scene.make_rate(pool_id, Decimal(60))
    node = scene.fleet.NewNode("i-01", pool_id, THEN, 8, None, ended_at=THEN + HOUR)
    scene.fleet.add_node(node=node, at=AT)


def is_counted_as(fact: BillFact) -> None:
    """Hold every basis of every kind of charge, GPU-hours, status, and that the ledger adds up."""
    scene.settle_all(AT)
    charges = Charge.objects.filter(hour__gte=datetime(2026, 6, 1, tzinfo=UTC))
    found: dict[str, list[int]] = {}
    for each in charges:
        sums = found.setdefault(each.kind, [0, 0, 0, 0])
        amounts = (each.list_micros, each.contracted_micros, each.effective_micros)
        for place, micros in enumerate((*amounts, each.billed_micros)):
            sums[place] += micros or 0
    wanted = {
        kind: [int(Decimal(amount) * 10**6) for amount in amounts]
        for kind, amounts in fact.charges.items()
    }
    assert found == wanted
    assert {each.status for each in charges} == fact.statuses
    for kind, hour in fact.hours.items():
        assert {each.hour for each in charges if each.kind == kind} == {hour}
    lines = Line.objects.filter(hour__gte=datetime(2026, 6, 1, tzinfo=UTC))
    of_nodes = sum(line.unit_milliseconds for line in lines)
    assert of_nodes == fact.gpu_hours * 3_600_000
    effective = sum(line.effective_micros or 0 for line in lines)
    assert effective == sum(amounts[2] for amounts in wanted.values())
    assert audit_here().adds_up


@pytest.mark.parametrize(("fact", "told"), by_turns(FACTS, DOORS, 2))
def test_a_line_of_a_bill_costs_the_same_through_every_door(
    tmp_path: Path, fact: BillFact, told: Callable[[BillFact, Path], Path]
) -> None:
    add_machine(fact)
    assert take(told(fact, tmp_path)).flags == []
    is_counted_as(fact)


@pytest.mark.parametrize(
    ("fact", "doors"),
    by_turns(FACTS, {"reports first": [*DOORS], "FOCUS first": [*reversed(DOORS)]}, 1),
)
def test_a_months_bill_that_every_door_tells_is_one(
    tmp_path: Path, fact: BillFact, doors: Sequence[str]
) -> None:
    add_machine(fact)
    for door in doors:
        take(DOORS[door](fact, tmp_path))
    is_counted_as(fact)
