"""Prices beside a price: of the same machine elsewhere and at other times, and the one before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import F, Q, Value

from apps.fleet.queries import PoolFact, pools
from apps.pricing.models import Rate, RateStanding
from apps.pricing.queries.listing import Rows, rate_table

HOUR_SECONDS = 3600
MOST_SHOWN = 8
MOST_MACHINES = 20


@dataclass(frozen=True, slots=True)
class NeighbourMachine:
    """The machine that prices are compared of: one machine, bought in one way and quoted in one way."""

    kind: str
    purchase_option: str
    unit: str
    currency: str
    provider: str
    instance_type: str
    gpu_model: str
    pool_id: int | None


@dataclass(frozen=True, slots=True)
class QuotedPrice:
    """A price as it was quoted, so that two can be told apart."""

    amount: Decimal
    currency: str
    quantity_seconds: int
    unit: str


@dataclass(frozen=True, slots=True)
class LatestPrice:
    """The price last said of one place since `starts_at`; `amount` is for an hour."""

    starts_at: datetime | None
    amount: Decimal
    is_quarantined: bool


def hourly(amount: Decimal, quantity_seconds: int) -> Decimal:
    """An amount as quoted, for an hour; without needless zeros, for people to read."""
    for_an_hour = amount * HOUR_SECONDS / quantity_seconds
    return Decimal(f"{for_an_hour.normalize():f}")


def comparable_amounts(machine: NeighbourMachine, *, except_target: str = "") -> list[Decimal]:
    """Return the costs of an hour of the machine by the rates in force, in all places and at all times."""
    pools_by_id = {} if machine.pool_id is None else pools()
    rows = _comparable_rates(machine, Rate.objects.all(), pools_by_id).exclude(target=except_target)
    return [hourly(*row) for row in rows.values_list("amount", "quantity_seconds")]


def neighbours_of(rates: Sequence[Mapping[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    """The rates in force beside each, by its id: rows of the listing, the newest first.

    Of more than MOST_MACHINES the rest are left out.
    """
    pools_by_id = pools() if any(rate["pool_id"] is not None for rate in rates) else {}
    of_each = {rate["id"]: _machine_of(rate) for rate in rates}
    machines = list(dict.fromkeys(of_each.values()))[:MOST_MACHINES]
    rows_by_machine: dict[NeighbourMachine, list[dict[str, Any]]] = defaultdict(list)
    for row in _latest_rates(machines, pools_by_id):
        rows_by_machine[machines[row.pop("machine")]].append(row)
    return {
        rate_id: [row for row in rows_by_machine[machine] if row["id"] != rate_id][:MOST_SHOWN]
        for rate_id, machine in of_each.items()
    }


def _latest_rates(
    machines: Sequence[NeighbourMachine], pools_by_id: Mapping[int, PoolFact]
) -> Rows:
    """In one question, however many machines there are."""
    newest = F("period__startswith").desc(nulls_last=True)
    parts = [
        _comparable_rates(machine, rate_table(), pools_by_id)
        .annotate(machine=Value(index))
        .order_by(newest, "target", "id")[: MOST_SHOWN + 1]
        for index, machine in enumerate(machines)
    ]
    return parts[0].union(*parts[1:], all=True) if parts else rate_table().none()


def _machine_of(rate: Mapping[str, Any]) -> NeighbourMachine:
    return NeighbourMachine(**{name: rate[name] for name in NeighbourMachine.__slots__})


def price_before(
    target: str, starts_at: datetime | None, *, last_id: int | None = None
) -> QuotedPrice | None:
    """The price in force of this very thing that began last until then, though it has ended.

    Only ones of an id up to `last_id` are asked, where one is said.
    """
    if starts_at is None:
        return None
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=target)
    if last_id is not None:
        rows = rows.filter(id__lte=last_id)
    began = Q(period__startswith__lte=starts_at) | Q(period__startswith=None)
    row = (
        rows.filter(began)
        .order_by(F("period__startswith").desc(nulls_last=True), "id")
        .values_list("amount", "currency", "quantity_seconds", "unit")
        .first()
    )
    return None if row is None else QuotedPrice(*row)


def price_history(target: str) -> list[LatestPrice]:
    """Everything that was said of the price of one thing, the first first; refused ones are not."""
    rows = Rate.objects.filter(target=target).exclude(standing=RateStanding.REFUSED)
    ordered_rows = rows.order_by(F("period__startswith").asc(nulls_first=True), "id")
    return [
        LatestPrice(starts_at, hourly(amount, seconds), state == RateStanding.QUARANTINED)
        for starts_at, amount, seconds, state in ordered_rows.values_list(
            "period__startswith", "amount", "quantity_seconds", "standing"
        )
    ]


def last_rate_id() -> int:
    """The id of the rate that was entered last; 0 where none was."""
    return Rate.objects.order_by("-id").values_list("id", flat=True).first() or 0


def _comparable_rates(
    machine: NeighbourMachine, rows: Rows, pools_by_id: Mapping[int, PoolFact]
) -> Rows:
    return rows.filter(
        standing=RateStanding.IN_FORCE,
        kind=machine.kind,
        purchase_option=machine.purchase_option,
        unit=machine.unit,
        currency=machine.currency,
    ).filter(_same_machine(machine, pools_by_id))


def _same_machine(machine: NeighbourMachine, pools_by_id: Mapping[int, PoolFact]) -> Q:
    if machine.pool_id is None:
        return Q(
            pool=None,
            provider=machine.provider,
            instance_type=machine.instance_type,
            gpu_model=machine.gpu_model,
        )
    pool = pools_by_id[machine.pool_id]
    described = Q(pool=machine.pool_id)
    if pool.instance_type:
        described |= Q(pool=None, provider=pool.provider, instance_type=pool.instance_type)
    return described
