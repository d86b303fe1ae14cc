"""A price as somebody quotes it, and what it is a price of."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated

from apps.economics.tiers import Tier
from apps.pricing.models import RateUnit
from apps.pricing.queries.kept_amounts import rounding_remark, stored_amount
from apps.pricing.queries.listing import KINDS
from apps.show.entries import Entry
from apps.show.words import OPTIONS

UNITS = {"node": "one node", "gpu": "one GPU"}


@dataclass(frozen=True, slots=True)
class EnteredRate:
    """`amount` of `currency` for `quantity_seconds` (1 or 3600) of one node or one GPU.

    It prices one pool, or every pool of this provider, purchase option and instance type (else GPU
    model), in this region or, where none is said, in any. `tiers` are what more of it costs in a month.
    Amounts are rounded to the decimals that are kept, and `remark` says so.
    """

    kind: Annotated[
        str,
        Entry(
            "Kind",
            "A contract beats a list price; a pool’s own, both.",
            choices=KINDS,
            initial="contract",
        ),
    ]
    amount: Annotated[Decimal, Entry("Amount as quoted", example="98.32")]
    currency: Annotated[
        str,
        Entry(
            "Currency",
            "Another than the organisation’s is converted by the month’s rate of exchange.",
        ),
    ]
    starts_at: Annotated[datetime | None, Entry("Valid from", "Empty: since ever.")]
    purchase_option: Annotated[str, Entry("Bought as", choices=OPTIONS, initial="on_demand")]
    provider: Annotated[
        str, Entry("Provider", "This and the rest: only where no pool is named.")
    ] = ""
    region: Annotated[str, Entry("Region", "Empty: any.")] = ""
    instance_type: Annotated[str, Entry("Instance type")] = ""
    gpu_model: Annotated[str, Entry("Or GPU model", "One of the two.")] = ""
    pool_id: int | None = None
    quantity_seconds: int = 3600
    unit: Annotated[str, Entry("It is the price of", choices=UNITS, initial="node")] = RateUnit.NODE
    ends_at: Annotated[datetime | None, Entry("Until", "Empty: open-ended.")] = None
    source: Annotated[str, Entry("Where the figure comes from")] = ""
    source_date: Annotated[date | None, Entry("Read on")] = None
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


def target_of(rate: EnteredRate) -> str:
    """Return what a rate prices, at which priority, in words: two rates of one target may not overlap."""
    if rate.pool_id is not None:
        return f"{rate.kind} pool {rate.pool_id}"
    machine = rate.instance_type or rate.gpu_model
    kind = "instance" if rate.instance_type else "gpu"
    place = rate.region or "any region"
    return f"{rate.kind} {rate.provider} / {place} / {kind} {machine} / {rate.purchase_option}"
