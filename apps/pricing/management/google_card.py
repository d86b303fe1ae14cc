"""Google Cloud's price catalogue (Cloud Billing Catalog API, services.skus.list): SKUs of parts, as prices of machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from apps.economics.google_parts import SHAPES, Shape, Sku, machine_price
from apps.economics.purchase import PurchaseOption
from apps.pricing.actions import EnteredRate, RefusedRow
from apps.pricing.queries import RateKind

NANOS = Decimal(10) ** 9
PARTS = {"CPU", "RAM", "GPU"}
UNITS = {"h", "GiBy.h"}
WAYS = {"OnDemand": PurchaseOption.ON_DEMAND, "Preemptible": PurchaseOption.SPOT}


@dataclass(frozen=True, slots=True)
class GoogleCard:
    """Rates by the row of the SKU of their GPU, rows that could not be read, and in words what has no single price."""

    rows: tuple[tuple[int, EnteredRate], ...]
    rejected: tuple[RefusedRow, ...]
    others: int
    remarks: tuple[str, ...]


def rates_of_card(rows: Sequence[Any], read_on: date) -> GoogleCard:
    """Every machine of SHAPES in every region where its GPU has a SKU; local disks are SKUs of their own, and are not in it."""
    skus: list[tuple[int, Sku, str]] = []
    rejected, others = [], 0
    for number, row in enumerate(rows, 1):
        try:
            sku_entry = _sku_of(row)
        except (KeyError, TypeError, ValueError, ArithmeticError, IndexError) as broken:
            rejected.append(RefusedRow(number, f"a SKU that is not understood: {broken}"))
            continue
        if sku_entry is None:
            others += 1
        else:
            skus.append((number, *sku_entry))
    priced, remarks = [], []
    for way, option in WAYS.items():
        plain = [sku for _, sku, _ in skus if sku.usage == way]
        for shape in SHAPES.values():
            for region, number, currency in _places(shape, skus, way):
                price = machine_price(shape, plain, region=region, purchase_option=option)
                if isinstance(price, str):
                    remarks.append(f"gcp {region} {shape.name} {way}: {price}")
                    continue
                rate = EnteredRate(
                    kind=RateKind.LIST,
                    amount=price.amount,
                    currency=currency,
                    starts_at=price.begins_at,
                    purchase_option=option,
                    provider="gcp",
                    region=region,
                    instance_type=shape.name,
                    source=f"Google Cloud SKUs {', '.join(price.skus)}; without local SSD",
                    source_date=read_on,
                )
                priced.append((number, rate))
    return GoogleCard(tuple(priced), tuple(rejected), others, tuple(remarks))


def _places(
    shape: Shape, skus: Sequence[tuple[int, Sku, str]], way: str
) -> Iterator[tuple[str, int, str]]:
    """Regions that have the shape's GPU for sale, with the row and currency of its SKU."""
    seen_regions: set[str] = set()
    for number, sku, currency in skus:
        if sku.usage != way or sku.group != "GPU" or not sku.is_gpu_of(shape):
            continue
        for region in sorted(sku.regions - seen_regions):
            seen_regions.add(region)
            yield region, number, currency


def _sku_of(row: Any) -> tuple[Sku, str] | None:
    """A SKU of a core, memory or a GPU for an hour, with its currency; None: it is of something else."""
    if not isinstance(row, Mapping):
        raise TypeError("it is no object")
    category = row["category"]
    if category.get("resourceGroup") not in PARTS or category.get("usageType") not in WAYS:
        return None
    pricing_info = row["pricingInfo"][-1]
    expression = pricing_info["pricingExpression"]
    if expression.get("usageUnit") not in UNITS:
        return None
    # The last step is what more than a free allowance costs.
    price = expression["tieredRates"][-1]["unitPrice"]
    amount = (
        Decimal(str(price.get("units", 0) or 0)) + Decimal(str(price.get("nanos", 0) or 0)) / NANOS
    )
    begins_at = datetime.fromisoformat(pricing_info["effectiveTime"])
    sku = Sku(
        id=row["skuId"],
        description=row["description"],
        group=category["resourceGroup"],
        usage=category["usageType"],
        regions=frozenset(row["serviceRegions"]),
        amount=amount,
        begins_at=begins_at if begins_at.tzinfo else begins_at.replace(tzinfo=UTC),
    )
    return sku, str(price.get("currencyCode") or "USD")
