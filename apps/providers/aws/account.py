"""Commitments, capacity and limits of an AWS account: read from EC2, Savings Plans, Quotas."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3

from apps.providers.aws.access import CONFIG, in_words
from apps.providers.pace import Pace

if TYPE_CHECKING:  # the types come with the tools of development only
    from mypy_boto3_savingsplans import SavingsPlansClient

GLOBAL_REGION = "us-east-1"
"""Savings plans hold everywhere and are served from one place."""

ACCELERATED = re.compile(r"^(p|g|gr|trn|inf|dl)\d")
"""Families of instance types that have GPUs or their like."""

QUOTA = re.compile(
    r"\b(P\d?|P\d, P\d and P\d|G and VT|Trn|Inf|DL)\b.*(instances|Spot Instance Requests)$"
    r"|capacity.block",
    re.IGNORECASE,
)
PLANS_A_PAGE = 100


@dataclass(frozen=True, slots=True)
class ReservedInstance:
    """`count` instances for a term; amounts are for all of them together.

    `zone` is empty where it holds in the whole region.
    """

    id: str
    region: str
    zone: str
    instance_type: str
    count: int
    upfront: Decimal
    hourly: Decimal
    currency: str
    starts_at: datetime
    ends_at: datetime
    full_term_seconds: int
    state: str
    is_linux: bool
    tenancy: str


@dataclass(frozen=True, slots=True)
class SavingsPlan:
    """`commitment` an hour at the plan's own prices, paid `upfront` and by the hour."""

    id: str
    arn: str
    kind: str
    region: str
    family: str
    currency: str
    commitment: Decimal
    upfront: Decimal
    hourly: Decimal
    starts_at: datetime
    ends_at: datetime
    state: str


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """The price that a plan asks for an hour of an instance type with Linux on shared hardware."""

    region: str
    instance_type: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class CapacityReservation:
    """Machines that are held; a capacity block has a term and was paid for ahead."""

    id: str
    arn: str
    is_block: bool
    zone: str
    instance_type: str
    total: int
    available: int
    starts_at: datetime
    ends_at: datetime | None
    state: str


@dataclass(frozen=True, slots=True)
class ServiceQuota:
    """The most of something in a region, by AWS's own code."""

    code: str
    name: str
    value: Decimal
    unit: str


def reserved_instances(aws_session: boto3.Session, region: str) -> list[ReservedInstance]:
    """All that AWS still tells of, past ones too. Refuses CloudRefused."""
    client = aws_session.client("ec2", region_name=region, config=CONFIG)
    with in_words():
        rows = client.describe_reserved_instances()["ReservedInstances"]
        return [_reserved_instance(row, region) for row in rows]


def savings_plans(aws_session: boto3.Session) -> list[SavingsPlan]:
    """All of the account, past ones too. Refuses CloudRefused."""
    client = plans_of(aws_session)
    plans: list[SavingsPlan] = []
    params: dict[str, Any] = {"maxResults": PLANS_A_PAGE}
    pace = Pace(per_second=2)
    while True:
        pace.wait()
        with in_words():
            page = client.describe_savings_plans(**params)
            plans += [_savings_plan(row) for row in page["savingsPlans"]]
        if not page.get("nextToken"):
            return plans
        params["nextToken"] = page["nextToken"]


def plan_prices(
    aws_session: boto3.Session, plan_id: str, instance_types: Sequence[str]
) -> list[PlanPrice]:
    """Return the prices that the plan asks for these instance types, in every region. Refuses CloudRefused."""
    client = plans_of(aws_session)
    prices: list[PlanPrice] = []
    params: dict[str, Any] = {
        "savingsPlanId": plan_id,
        "filters": [
            {"name": "instanceType", "values": list(instance_types)},
            {"name": "productDescription", "values": ["Linux/UNIX"]},
            {"name": "tenancy", "values": ["shared"]},
        ],
    }
    pace = Pace(per_second=2)
    while True:
        pace.wait()
        with in_words():
            page = client.describe_savings_plan_rates(**params)
            prices += [price for row in page["searchResults"] for price in _plan_price(row)]
        if not page.get("nextToken"):
            return prices
        params["nextToken"] = page["nextToken"]


def capacity_reservations(aws_session: boto3.Session, region: str) -> list[CapacityReservation]:
    """Capacity blocks, and capacity held on demand, past ones too. Refuses CloudRefused."""
    client = aws_session.client("ec2", region_name=region, config=CONFIG)
    reservations, pace = [], Pace(per_second=5)
    with in_words():
        for page in client.get_paginator("describe_capacity_reservations").paginate():
            reservations += [_capacity_reservation(row) for row in page["CapacityReservations"]]
            pace.wait()
    return reservations


def service_quotas(aws_session: boto3.Session, region: str) -> list[ServiceQuota]:
    """EC2's limits on machines with GPUs or their like there. Refuses CloudRefused."""
    client = aws_session.client("service-quotas", region_name=region, config=CONFIG)
    quotas, pace = [], Pace(per_second=5)
    with in_words():
        for page in client.get_paginator("list_service_quotas").paginate(ServiceCode="ec2"):
            quotas += [quota for row in page["Quotas"] for quota in _service_quotas(row)]
            pace.wait()
    return quotas


def is_accelerated(instance_type: str, also: frozenset[str]) -> bool:
    """Whether machines of this type have GPUs or their like, or are one of the types `also`."""
    return instance_type in also or ACCELERATED.match(instance_type) is not None


def plans_of(aws_session: boto3.Session) -> "SavingsPlansClient":
    """Whom to ask for savings plans."""
    return aws_session.client("savingsplans", region_name=GLOBAL_REGION, config=CONFIG)


def _reserved_instance(row: Mapping[str, Any], region: str) -> ReservedInstance:
    count = row["InstanceCount"]
    hourly = _exact_decimal(row["UsagePrice"]) + sum(
        _exact_decimal(charge["Amount"])
        for charge in row.get("RecurringCharges", [])
        if charge.get("Frequency", "Hourly") == "Hourly"
    )
    return ReservedInstance(
        id=row["ReservedInstancesId"],
        region=region,
        zone=row.get("AvailabilityZone", ""),
        instance_type=row["InstanceType"],
        count=count,
        upfront=_exact_decimal(row["FixedPrice"]) * count,
        hourly=hourly * count,
        currency=row.get("CurrencyCode", "USD"),
        starts_at=row["Start"],
        ends_at=row["End"],
        full_term_seconds=row["Duration"],
        state=row["State"],
        is_linux=row.get("ProductDescription", "").startswith("Linux/UNIX"),
        tenancy=row.get("InstanceTenancy", ""),
    )


def _savings_plan(row: Mapping[str, Any]) -> SavingsPlan:
    return SavingsPlan(
        id=row["savingsPlanId"],
        arn=row["savingsPlanArn"],
        kind=row["savingsPlanType"],
        region=row.get("region", ""),
        family=row.get("ec2InstanceFamily", ""),
        currency=row["currency"],
        commitment=_exact_decimal(row["commitment"]),
        upfront=_exact_decimal(row["upfrontPaymentAmount"]),
        hourly=_exact_decimal(row["recurringPaymentAmount"]),
        starts_at=datetime.fromisoformat(row["start"]),
        ends_at=datetime.fromisoformat(row["end"]),
        state=row["state"],
    )


def _plan_price(row: Mapping[str, Any]) -> Iterator[PlanPrice]:
    """Only boxes as they are used: dedicated hosts and unused reservations are other usage."""
    properties = {item["name"]: item["value"] for item in row.get("properties", [])}
    is_box = "BoxUsage" in row.get("usageType", "BoxUsage")
    if is_box and row["unit"] == "Hrs" and {"instanceType", "region"} <= properties.keys():
        yield PlanPrice(
            properties["region"], properties["instanceType"], _exact_decimal(row["rate"])
        )


def _capacity_reservation(row: Mapping[str, Any]) -> CapacityReservation:
    return CapacityReservation(
        id=row["CapacityReservationId"],
        arn=row.get("CapacityReservationArn", row["CapacityReservationId"]),
        is_block=row.get("ReservationType", "default") == "capacity-block",
        zone=row["AvailabilityZone"],
        instance_type=row["InstanceType"],
        total=row["TotalInstanceCount"],
        available=row["AvailableInstanceCount"],
        starts_at=row.get("StartDate") or row["CreateDate"],
        ends_at=row.get("EndDate"),
        state=row["State"],
    )


def _service_quotas(row: Mapping[str, Any]) -> Iterator[ServiceQuota]:
    if QUOTA.search(row["QuotaName"]):
        unit = row.get("Unit", "None")
        # "None" is AWS's word for a bare number; of instances it counts virtual processors.
        counted = "vCPUs" if row["QuotaName"].lower().endswith(("instances", "requests")) else ""
        yield ServiceQuota(
            code=row["QuotaCode"],
            name=row["QuotaName"],
            value=_exact_decimal(row["Value"]),
            unit=counted if unit == "None" else unit,
        )


def _exact_decimal(number: Any) -> Decimal:
    """To nine decimals: AWS's own library makes floats of some."""
    return round(Decimal(str(number)), 9)
