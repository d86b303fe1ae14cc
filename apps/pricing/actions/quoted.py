"""A price as somebody quotes it, and what it is a price of."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from apps.economics.tiers import Tier
from apps.pricing.actions.checking import rounding_remark, stored_amount
from apps.pricing.models import RateUnit


@dataclass(frozen=True, slots=True)
class NewRate:
    """`amount` of `currency` for `quantity_seconds` (1 or 3600) of one node or one GPU.

    It prices one pool, or every pool of this provider, purchase option and instance type (else GPU
    model), in this region or, where none is said, in any. `tiers` are what more of it costs in a month.
    Amounts are rounded to the decimals that are kept, and `remark` says so.
    """

    kind: str
    amount: Decimal
    currency: str
    starts_at: datetime | None
    purchase_option: str
    provider: str = ""
    region: str = ""
    instance_type: str = ""
    gpu_model: str = ""
    pool_id: int | None = None
    quantity_seconds: int = 3600
    unit: str = RateUnit.NODE
    ends_at: datetime | None = None
    source: str = ""
    source_date: date | None = None
    tiers: tuple[Tier, ...] = ()
    remark: str = ""

    def __post_init__(self) -> None:
        """Whichever way a price comes in: the same amount is compared, judged, shown and kept."""
        rounded_amount = stored_amount(self.amount)
        tiers = tuple(replace(tier, amount=stored_amount(tier.amount)) for tier in self.tiers)
        amounts = [(self.amount, rounded_amount)]
        amounts += [
            (tier.amount, rounded_tier.amount)
            for tier, rounded_tier in zip(self.tiers, tiers, strict=True)
        ]
        remark = next(filter(None, (rounding_remark(*pair) for pair in amounts)), "")
        object.__setattr__(self, "amount", rounded_amount)
        object.__setattr__(self, "tiers", tiers)
        object.__setattr__(self, "remark", self.remark or remark)


def target_of(rate: NewRate) -> str:
    """Return what a rate prices, at which priority, in words: two rates of one target may not overlap."""
    if rate.pool_id is not None:
        return f"{rate.kind} pool {rate.pool_id}"
    machine = rate.instance_type or rate.gpu_model
    kind = "instance" if rate.instance_type else "gpu"
    place = rate.region or "any region"
    return f"{rate.kind} {rate.provider} / {place} / {kind} {machine} / {rate.purchase_option}"
