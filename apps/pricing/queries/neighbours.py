"""Prices beside a price: of the same machine elsewhere and at other times, and the one before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import F, Q

from apps.fleet.queries import pools
from apps.pricing.models import Rate, Standing
from apps.pricing.queries.listing import Rows, rate_table

HOUR_SECONDS = 3600
MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Machine:
    """What prices are compared of: one machine, bought in one way and quoted in one way."""

    kind: str
    purchase_option: str
    unit: str
    currency: str
    provider: str
    instance_type: str
    gpu_model: str
    pool_id: int | None


@dataclass(frozen=True, slots=True)
class PriceBefore:
    """The price of the same thing when another begins, as it was quoted."""

    amount: Decimal
    currency: str
    quantity_seconds: int
    unit: str


@dataclass(frozen=True, slots=True)
class SaidOfPlace:
    """What was last said of one place since `starts_at`; `amount` is for an hour."""

    starts_at: datetime | None
    amount: Decimal
    is_quarantined: bool


def hourly(amount: Decimal, quantity_seconds: int) -> Decimal:
    """An amount as quoted, for an hour; without needless zeros, for people to read."""
    for_an_hour = amount * HOUR_SECONDS / quantity_seconds
    return Decimal(f"{for_an_hour.normalize():f}")


def amounts_beside(machine: Machine, *, except_target: str = "") -> list[Decimal]:
    """What an hour of the machine costs by the rates in force, in all places and at all times."""
    rows = _beside(machine, Rate.objects.all()).exclude(target=except_target)
    return [hourly(*row) for row in rows.values_list("amount", "quantity_seconds")]


def neighbours_of(rate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rates in force beside one, as rows of the listing: the newest of other places first."""
    machine = Machine(**{name: rate[name] for name in Machine.__slots__})
    rows = _beside(machine, rate_table()).exclude(id=rate["id"])
    newest = F("period__startswith").desc(nulls_last=True)
    return list(rows.order_by(newest, "target", "id")[:MOST_SHOWN])


def price_before(
    target: str, starts_at: datetime | None, *, last_id: int | None = None
) -> PriceBefore | None:
    """The price in force of this very thing that began last until then, though it has ended.

    Only ones of an id up to `last_id` are asked, where one is said.
    """
    if starts_at is None:
        return None
    rows = Rate.objects.filter(standing=Standing.IN_FORCE, target=target)
    if last_id is not None:
        rows = rows.filter(id__lte=last_id)
    began = Q(period__startswith__lte=starts_at) | Q(period__startswith=None)
    found = (
        rows.filter(began)
        .order_by(F("period__startswith").desc(nulls_last=True), "id")
        .values_list("amount", "currency", "quantity_seconds", "unit")
        .first()
    )
    return None if found is None else PriceBefore(*found)


def said_of_place(target: str) -> list[SaidOfPlace]:
    """Everything that was said of the price of one thing, the first first; refused ones are not."""
    rows = Rate.objects.filter(target=target).exclude(standing=Standing.REFUSED)
    told = rows.order_by(F("period__startswith").asc(nulls_first=True), "id")
    return [
        SaidOfPlace(starts_at, hourly(amount, seconds), standing == Standing.QUARANTINED)
        for starts_at, amount, seconds, standing in told.values_list(
            "period__startswith", "amount", "quantity_seconds", "standing"
        )
    ]


def last_rate_id() -> int:
    """The id of the rate that was entered last; 0 where none was."""
    return Rate.objects.order_by("-id").values_list("id", flat=True).first() or 0


def _beside(machine: Machine, rows: Rows) -> Rows:
    return rows.filter(
        standing=Standing.IN_FORCE,
        kind=machine.kind,
        purchase_option=machine.purchase_option,
        unit=machine.unit,
        currency=machine.currency,
    ).filter(_same_machine(machine))


def _same_machine(machine: Machine) -> Q:
    if machine.pool_id is None:
        return Q(
            pool=None,
            provider=machine.provider,
            instance_type=machine.instance_type,
            gpu_model=machine.gpu_model,
        )
    pool = pools()[machine.pool_id]
    described = Q(pool=machine.pool_id)
    if pool.instance_type:
        described |= Q(pool=None, provider=pool.provider, instance_type=pool.instance_type)
    return described
