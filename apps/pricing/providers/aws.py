"""AWS's prices: the history of spot prices, and on-demand prices as its price list has them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3

from apps.fleet.providers.aws import CONFIG, Pace, in_words

if TYPE_CHECKING:  # the types come with the tools of development only
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_pricing import PricingClient

LINUX = "Linux/UNIX"
ROWS_A_PAGE = 1000
PRICE_LIST_REGION = "us-east-1"
"""The price list of all regions is served from a few of them."""


@dataclass(frozen=True, slots=True)
class SpotPoint:
    """From `at` on an instance in this zone costs so many dollars an hour, until the next."""

    zone: str
    instance_type: str
    amount: Decimal
    at: datetime


@dataclass(frozen=True, slots=True)
class OnDemandPrice:
    """Dollars an hour for an instance with Linux, shared hardware, no licence, since `begins_at`."""

    region: str
    instance_type: str
    amount: Decimal
    begins_at: datetime
    sku: str


def spot_market(session: boto3.Session, region: str) -> "EC2Client":
    """Whom to ask for the spot prices of a region."""
    return session.client("ec2", region_name=region, config=CONFIG)


def price_list(session: boto3.Session) -> "PricingClient":
    """Whom to ask for on-demand prices, of every region."""
    return session.client("pricing", region_name=PRICE_LIST_REGION, config=CONFIG)


def spot_points(
    market: "EC2Client", *, instance_type: str, starts_at: datetime, ends_at: datetime
) -> list[SpotPoint]:
    """The changes in `[starts_at, ends_at]` and what held when it began, oldest first.

    Refuses CloudRefused.
    """
    found, pace = [], Pace(per_second=5)
    with in_words():
        pages = market.get_paginator("describe_spot_price_history").paginate(
            InstanceTypes=[instance_type],  # type: ignore[list-item]  # new ones come out weekly
            ProductDescriptions=[LINUX],
            StartTime=starts_at,
            EndTime=ends_at,
            PaginationConfig={"PageSize": ROWS_A_PAGE},
        )
        for page in pages:
            found += [_spot_point(row) for row in page["SpotPriceHistory"]]
            pace.wait()
    return sorted(found, key=lambda point: (point.at, point.zone))


def on_demand_prices(
    offered: "PricingClient", *, region: str, instance_type: str
) -> list[OnDemandPrice]:
    """What the price list asks for it; none where it does not know it. Refuses CloudRefused."""
    return _offered(offered, region, instance_type, "OnDemand")


def block_prices(
    offered: "PricingClient", *, region: str, instance_type: str
) -> list[OnDemandPrice]:
    """What it asks for an hour of one in a capacity block. Refuses CloudRefused."""
    return _offered(offered, region, instance_type, "CapacityBlock")


def _offered(
    offered: "PricingClient", region: str, instance_type: str, market: str
) -> list[OnDemandPrice]:
    wanted = {
        "instanceType": instance_type,
        "regionCode": region,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    found, pace = [], Pace(per_second=5)
    with in_words():
        pages = offered.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2",
            Filters=[
                {"Type": "TERM_MATCH", "Field": field, "Value": value}
                for field, value in wanted.items()
            ],
        )
        for page in pages:
            found += [
                price for text in page["PriceList"] for price in _offers(json.loads(text), market)
            ]
            pace.wait()
    return found


def _spot_point(row: Mapping[str, Any]) -> SpotPoint:
    return SpotPoint(
        row["AvailabilityZone"], row["InstanceType"], Decimal(row["SpotPrice"]), row["Timestamp"]
    )


def _offers(product: Mapping[str, Any], market: str) -> Iterator[OnDemandPrice]:
    """Capacity blocks are products of the same instance type; they are not on demand."""
    attributes = product["product"]["attributes"]
    if attributes.get("marketoption", "OnDemand") != market:
        return
    for term in product["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            dollars = Decimal(dimension["pricePerUnit"].get("USD", "0"))
            if dimension["unit"] == "Hrs" and dollars:
                yield OnDemandPrice(
                    region=attributes["regionCode"],
                    instance_type=attributes["instanceType"],
                    amount=dollars,
                    begins_at=datetime.fromisoformat(term["effectiveDate"]),
                    sku=product["product"]["sku"],
                )
