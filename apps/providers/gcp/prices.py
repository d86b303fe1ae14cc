"""Google Cloud's prices: what a machine type is made of, and what its parts cost."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from google.cloud.billing_v1 import CloudCatalogClient
from google.cloud.compute_v1 import AggregatedListMachineTypesRequest, MachineTypesClient

from apps.economics.google_parts import MachinePrice, Shape, Sku, machine_price
from apps.economics.purchase import PurchaseOption
from apps.providers.gcp import access
from apps.providers.gcp.access import GoogleAccess, in_words
from apps.providers.reading import (
    CloudFact,
    CloudPrice,
    PricesRead,
    ReadingRequest,
    WantedPrice,
)

COMPUTE_ENGINE = "services/6F81-5844-456A"
NANOS = Decimal(10) ** 9
MIB_A_GIB = 1024


def read_spot_prices(request: ReadingRequest) -> Iterator[CloudFact]:
    """Yield what preemptible machines cost now; Google keeps no history of it."""
    return _read_prices(request, PurchaseOption.SPOT)


def read_on_demand_prices(request: ReadingRequest) -> Iterator[CloudFact]:
    """Yield what machines cost on demand now."""
    return _read_prices(request, PurchaseOption.ON_DEMAND)


def machine_shapes(google_access: GoogleAccess, *, project: str, name: str) -> dict[str, Shape]:
    """Return what the machine type is made of, by the zones that have it. Refuses CloudRefused."""
    request = AggregatedListMachineTypesRequest(project=project, filter=f'name = "{name}"')
    with in_words("compute.machineTypes.list"):
        client = MachineTypesClient(
            credentials=google_access.credentials, client_options=google_access.options
        )
        return {
            zone.removeprefix("zones/"): _machine_shape(row)
            for zone, scoped in client.aggregated_list(request=request)
            for row in scoped.machine_types
        }


def compute_skus(google_access: GoogleAccess) -> list[Sku]:
    """Every SKU of Compute Engine that is a core, memory or a GPU. Refuses CloudRefused."""
    with in_words("cloudbilling: the catalogue of SKUs"):
        client = CloudCatalogClient(
            credentials=google_access.credentials,
            client_options=google_access.options,
            transport="rest",
        )
        rows = client.list_skus(parent=COMPUTE_ENGINE)
        return [sku for row in rows for sku in _skus_of_row(row)]


def _read_prices(request: ReadingRequest, option: PurchaseOption) -> Iterator[CloudFact]:
    google_access = access.default_access()
    skus = compute_skus(google_access) if request.wanted else []
    for want in request.wanted:
        price = _price_of(google_access, request.account.account, want, skus, option)
        if isinstance(price, str):
            yield PricesRead(unpriced=f"{want.instance_type}: {price}")
        else:
            yield PricesRead(
                tuple(_listed_price(price, want, place, option) for place in want.places)
            )


def _price_of(
    google_access: GoogleAccess,
    project: str,
    want: WantedPrice,
    skus: Sequence[Sku],
    option: PurchaseOption,
) -> MachinePrice | str:
    """The price in the last zone of the region that has it, or in words why there is none."""
    price: MachinePrice | str = f"no zone of {want.region} has {want.instance_type}"
    for zone, shape in machine_shapes(
        google_access, project=project, name=want.instance_type
    ).items():
        if zone.startswith(want.region):
            price = machine_price(shape, skus, region=want.region, purchase_option=option)
    return price


def _listed_price(
    price: MachinePrice, want: WantedPrice, place: str, option: PurchaseOption
) -> CloudPrice:
    return CloudPrice(
        place=place,
        instance_type=want.instance_type,
        option=option,
        amount=price.amount,
        currency="USD",
        starts_at=price.begins_at,
        source=f"Google Cloud SKUs {', '.join(price.skus)}",
    )


def _machine_shape(row: Any) -> Shape:
    accelerators = list(row.accelerators)
    return Shape(
        name=row.name,
        cores=row.guest_cpus,
        memory_gib=Decimal(row.memory_mb) / MIB_A_GIB,
        gpu=accelerators[0].guest_accelerator_type if accelerators else "",
        gpus=accelerators[0].guest_accelerator_count if accelerators else 0,
    )


def _skus_of_row(row: Any) -> Iterator[Sku]:
    if row.category.resource_group not in {"CPU", "RAM", "GPU"} or not row.pricing_info:
        return
    pricing = row.pricing_info[-1]
    rates = pricing.pricing_expression.tiered_rates
    # The last step is what more than a free allowance costs.
    if rates and pricing.pricing_expression.usage_unit in {"h", "GiBy.h"}:
        price = rates[-1].unit_price
        yield Sku(
            id=row.sku_id,
            description=row.description,
            group=row.category.resource_group,
            usage=row.category.usage_type,
            regions=frozenset(row.service_regions),
            amount=Decimal(price.units) + Decimal(price.nanos) / NANOS,
            begins_at=pricing.effective_time,
        )
