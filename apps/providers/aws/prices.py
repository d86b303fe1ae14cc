"""AWS's prices: the history of spot prices, and on-demand prices as its price list has them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3

from apps.economics.purchase import PurchaseOption
from apps.providers.aws.access import CONFIG, in_words, session_of
from apps.providers.pace import Pace
from apps.providers.reading import CloudFact, CloudPrice, PricesRead, ReadingRequest

if TYPE_CHECKING:  # the types come with the tools of development only
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_pricing import PricingClient

LINUX = "Linux/UNIX"
ROWS_A_PAGE = 1000
PRICE_LIST_REGION = "us-east-1"
"""The price list of all regions is served from a few of them."""

KEPT_BY_AWS = timedelta(days=90)
AT_ONCE = timedelta(days=7)


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


def read_spot_prices(request: ReadingRequest) -> Iterator[CloudFact]:
    """A week at a time: AWS tells each page from the newest back, a price needs its end."""
    cursor, aws_session = dict(request.cursor), session_of(request.account)
    for want in request.wanted:
        key = f"{want.region}/{want.instance_type}"
        position = cursor.get(key, {})
        since = request.began_at - KEPT_BY_AWS
        if position.get("until"):
            since = datetime.fromisoformat(position["until"])
        zones = {zone: Decimal(amount) for zone, amount in position.get("zones", {}).items()}
        market = spot_market(aws_session, want.region)
        while since < request.began_at:
            until = min(since + AT_ONCE, request.began_at)
            points = spot_points(
                market, instance_type=want.instance_type, starts_at=since, ends_at=until
            )
            prices = tuple(_spot_prices(points, want.places, zones))
            since = until
            zone_amounts = {zone: str(amount) for zone, amount in zones.items()}
            cursor[key] = {"until": until.isoformat(), "zones": zone_amounts}
            yield PricesRead(prices, cursor=dict(cursor))


def read_on_demand_prices(request: ReadingRequest) -> Iterator[CloudFact]:
    """Yield what the price list says of each; where it has several prices for one, none is taken."""
    cursor = dict(request.cursor)
    offered = price_list(session_of(request.account))
    for want in request.wanted:
        key = f"{want.region}/{want.instance_type}"
        if key in cursor:
            continue
        list_prices = on_demand_prices(
            offered, region=want.region, instance_type=want.instance_type
        )
        cursor[key] = request.began_at.isoformat()
        if len({price.amount for price in list_prices}) == 1:
            prices = tuple(_listed_price(list_prices[0], place) for place in want.places)
            yield PricesRead(prices, cursor=dict(cursor))
        else:
            reason = f"the price list has {len(list_prices)} prices for {key}"
            yield PricesRead(unpriced=reason, cursor=dict(cursor))
    # All of it was asked: the next time begins from the first again.
    yield PricesRead(cursor={})


def spot_market(aws_session: boto3.Session, region: str) -> "EC2Client":
    """Whom to ask for the spot prices of a region."""
    return aws_session.client("ec2", region_name=region, config=CONFIG)


def price_list(aws_session: boto3.Session) -> "PricingClient":
    """Whom to ask for on-demand prices, of every region."""
    return aws_session.client("pricing", region_name=PRICE_LIST_REGION, config=CONFIG)


def spot_points(
    market: "EC2Client", *, instance_type: str, starts_at: datetime, ends_at: datetime
) -> list[SpotPoint]:
    """The changes in `[starts_at, ends_at]` and what held when it began, oldest first.

    Refuses CloudRefused.
    """
    points, pace = [], Pace(per_second=5)
    with in_words():
        pages = market.get_paginator("describe_spot_price_history").paginate(
            InstanceTypes=[instance_type],  # type: ignore[list-item]  # new ones come out weekly
            ProductDescriptions=[LINUX],
            StartTime=starts_at,
            EndTime=ends_at,
            PaginationConfig={"PageSize": ROWS_A_PAGE},
        )
        for page in pages:
            points += [_spot_point(row) for row in page["SpotPriceHistory"]]
            pace.wait()
    return sorted(points, key=lambda point: (point.at, point.zone))


def on_demand_prices(
    offered: "PricingClient", *, region: str, instance_type: str
) -> list[OnDemandPrice]:
    """Return the prices that the price list asks for a machine; none where it does not know it. Refuses CloudRefused."""
    return _offered_prices(offered, region, instance_type, "OnDemand")


def block_prices(
    offered: "PricingClient", *, region: str, instance_type: str
) -> list[OnDemandPrice]:
    """Return the prices that the price list asks for an hour of one in a capacity block. Refuses CloudRefused."""
    return _offered_prices(offered, region, instance_type, "CapacityBlock")


def _offered_prices(
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
    prices, pace = [], Pace(per_second=5)
    with in_words():
        pages = offered.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2",
            Filters=[
                {"Type": "TERM_MATCH", "Field": field, "Value": value}
                for field, value in wanted.items()
            ],
        )
        for page in pages:
            prices += [
                price
                for text in page["PriceList"]
                for price in _prices_of_product(json.loads(text), market)
            ]
            pace.wait()
    return prices


def _spot_prices(
    points: Sequence[SpotPoint], places: Iterable[str], zones: dict[str, Decimal]
) -> Iterator[CloudPrice]:
    """Each zone by its own points; a place without a zone by the dearest zone of the moment.

    `zones` are the prices that held before, and afterwards those that hold then.
    """
    named = set(places)
    for point in points:
        if point.zone in named:
            yield _spot_price(point, point.zone, point.amount)
        dearest = max(zones.values(), default=None)
        zones[point.zone] = point.amount
        peak = max(zones.values())
        if peak != dearest:
            for place in named:
                if point.zone.startswith(place) and place != point.zone:
                    yield _spot_price(point, place, peak)


def _spot_price(point: SpotPoint, place: str, amount: Decimal) -> CloudPrice:
    return CloudPrice(
        place=place,
        instance_type=point.instance_type,
        option=PurchaseOption.SPOT,
        amount=amount,
        currency="USD",
        starts_at=point.at,
        source="AWS spot price history",
    )


def _listed_price(price: OnDemandPrice, place: str) -> CloudPrice:
    return CloudPrice(
        place=place,
        instance_type=price.instance_type,
        option=PurchaseOption.ON_DEMAND,
        amount=price.amount,
        currency="USD",
        starts_at=price.begins_at,
        source=f"AWS price list {price.sku}",
    )


def _spot_point(row: Mapping[str, Any]) -> SpotPoint:
    return SpotPoint(
        row["AvailabilityZone"], row["InstanceType"], Decimal(row["SpotPrice"]), row["Timestamp"]
    )


def _prices_of_product(product: Mapping[str, Any], market: str) -> Iterator[OnDemandPrice]:
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
