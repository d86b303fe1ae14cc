"""How much of a node's price rides on its GPUs: what holds in an hour, and a pool's history."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.pricing.models import NodePricePolicy

MILLIONTHS = 1_000_000


@dataclass(frozen=True, slots=True)
class PricePolicyFact:
    """The price policy that was said for a pool; `ends_at` None: until something else is."""

    id: int
    pool_id: int
    gpu_share: Decimal
    starts_at: datetime | None
    ends_at: datetime | None
    note: str
    created_at: datetime


def gpu_shares(hour: datetime) -> dict[int, int]:
    """Millionths of a node's price by pool, where not all of it rides on GPUs in that hour.

    What holds when the hour begins holds for all of it.
    """
    rows = NodePricePolicy.objects.filter(period__contains=hour, gpu_share__lt=1)
    return {
        pool_id: int(share * MILLIONTHS)
        for pool_id, share in rows.order_by("pool_id").values_list("pool_id", "gpu_share")
    }


def policies_of_pool(pool_id: int) -> list[PricePolicyFact]:
    """Everything that was said for a pool, the newest first; nothing: all of the price."""
    rows = NodePricePolicy.objects.filter(pool_id=pool_id).order_by("-period", "-id")
    columns = ("id", "pool_id", "gpu_share", "period__startswith", "period__endswith")
    return [PricePolicyFact(*row) for row in rows.values_list(*columns, "note", "created_at")]
