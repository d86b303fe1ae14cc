"""An offer as a value, and what every kind of offer is made from."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.money import MICROS
from apps.economics.placement.estimates import LikelyRange
from apps.economics.purchase import PurchaseOption
from apps.pricing.queries.converting import Conversion
from apps.pricing.queries.price_age import price_age
from apps.show.entries import Entry, Micros, Ratio

HOUR_SECONDS = 3600
GIB = 1 << 30
STALE_SPOT_DAYS, STALE_LIST_DAYS = 7, 400
"""A spot price that was last said longer ago, and any other, is called stale."""
STALE_EVIDENCE_DAYS = 30
"""So are interruptions on spot that were last looked at longer ago."""
Place: TypeAlias = tuple[str, str, str]
"""Provider, region and GPU model."""
POOL_KEY, COMMITMENT_KEY = "pool:", "commitment:"
PARTS_OF_A_DOLLAR = Decimal("0.000001")


def pool_key(pool_id: int) -> str:
    """The key of a pool's offer."""
    return f"{POOL_KEY}{pool_id}"


def pool_of_key(key: str) -> int | None:
    """The id of the pool whose offer has this key; None of another offer."""
    number = key.removeprefix(POOL_KEY)
    return int(number) if key.startswith(POOL_KEY) else None


def is_of_commitment(key: str) -> bool:
    """Whether the offer of this key is of what a commitment has left."""
    return key.startswith(COMMITMENT_KEY)


@dataclass(frozen=True, slots=True)
class OfferFact:
    """An offer of the book; see its table for what each field is."""

    key: str
    name: str
    option: Annotated[str, Entry(help="owned, reserved, on_demand or spot")]
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    gpus_per_node: int
    gpu_memory_gib: Ratio | None = None
    watts_per_gpu: float | None = None
    measured_watts: float | None = None
    pue: float | None = None
    pool_id: int | None = None
    micros: int | None = None
    paid_micros: Micros | None = None
    low_micros: int | None = None
    high_micros: int | None = None
    there_gpus: int | None = None
    free_gpus: int | None = None
    idle_by_node: list[int] = field(default_factory=list)
    most_held_gpus: int | None = None
    median_wait_hours: Ratio | None = None
    ninth_wait_hours: float | None = None
    waits_counted: int = 0
    waits_by_priority: dict[str, list[float]] = field(default_factory=dict)
    interruptions: dict[str, Any] | None = None
    rates: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        """`aws:us-east-1`, as prices of egress name it."""
        return f"{self.provider}:{self.region}"

    @property
    def price_range(self) -> LikelyRange | None:
        """Micro-units a GPU-hour, with how far it moved in the last week; None: not known."""
        if self.micros is None:
            return None
        low = self.micros if self.low_micros is None else min(self.low_micros, self.micros)
        high = self.micros if self.high_micros is None else max(self.high_micros, self.micros)
        return LikelyRange(low, self.micros, high)

    @property
    def model_place(self) -> Place:
        """Where GPUs of its model are."""
        return self.provider, self.region, self.gpu_model

    @property
    def charged_micros(self) -> int | None:
        """Return the cost of a GPU-hour as the ledger will say it: of what is owned its cost anyway and its power."""
        if self.option != PurchaseOption.OWNED or self.paid_micros is None:
            return self.paid_micros
        return self.paid_micros + (self.micros or 0)


OFFER_FIELDS = tuple(offer_field.name for offer_field in fields(OfferFact))


def hardware_fields(model_name: str) -> dict[str, Any]:
    """Memory and rated power of a model that the catalogue knows; nothing of another."""
    model = gpu_model(model_name)
    if model is None:
        return {}
    return {"gpu_memory_gib": model.memory_bytes / GIB, "watts_per_gpu": float(model.tdp_watts)}


def rate_evidence(rate: dict[str, Any], at: datetime) -> dict[str, Any]:
    """A price row by which an offer is priced: which, from where, since when, and whether that is long ago."""
    age = price_age(rate, at)
    limit = STALE_SPOT_DAYS if rate["purchase_option"] == "spot" else STALE_LIST_DAYS
    return {
        "rate": rate["id"],
        "kind": rate["kind"],
        "source": rate["source"],
        "said_on": age.said_on.isoformat(),
        "age_days": age.days,
        "is_stale": age.days > limit,
    }


def micros_of_rate(
    amount: Decimal, rate: dict[str, Any], gpus: int, foreign: dict[str, list[Conversion]]
) -> int | None:
    """An amount as this rate quotes it, for a GPU-hour in micro-units; None without a rate of exchange."""
    exchange: Fraction | None = Fraction(1)
    if rate["currency"] in foreign:
        exchange = foreign[rate["currency"]][0].rate
    if exchange is None:
        return None
    per_node: Fraction = (
        Fraction(amount) * exchange * MICROS * HOUR_SECONDS / rate["quantity_seconds"]
    )
    per_gpu: Fraction = per_node if rate["unit"] == "gpu" else per_node / gpus
    return round(per_gpu)


def machine_dollars(micros: int, gpus_per_node: int, per_dollar: Decimal) -> Decimal:
    """US dollars for an hour of a whole machine, to the millionth; from micro-units of the organisation's currency a GPU-hour."""
    dollars = Decimal(micros) * gpus_per_node / MICROS / per_dollar
    return dollars.quantize(PARTS_OF_A_DOLLAR)
