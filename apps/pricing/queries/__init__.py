"""Which rate holds for which pool, when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

from django.db.models import Q

from apps.economics import rates as economics
from apps.fleet.queries import PoolFact
from apps.pricing.models import Rate, RateKind, RateUnit, SharedCost, Standing
from apps.pricing.queries.converting import Conversion, conversions
from apps.pricing.queries.tiers import tiers_of

__all__ = ["Conversion", "RateKind", "RateUnit", "conversions"]

# A contract beats a list price, a pool's own rate beats both; below that, what is said more
# exactly wins: an instance type over a GPU model, a region over none.
OWN, CONTRACT, INSTANCE_TYPE, REGION = 8, 4, 2, 1


@dataclass(frozen=True, slots=True)
class RateSpan:
    """The rates of a pool in `[starts_at, ends_at)`.

    `contract_rate` is None where the list rate is what is paid. Both None: unpriced.
    """

    starts_at: datetime
    ends_at: datetime
    list_rate: economics.Rate | None
    contract_rate: economics.Rate | None


@dataclass(frozen=True, slots=True)
class RateFact:
    """A rate as it was entered, with where it comes from."""

    id: int
    target: str
    kind: str
    amount: Decimal
    currency: str
    quantity_seconds: int
    unit: str
    starts_at: datetime | None
    ends_at: datetime | None
    source: str
    source_date: date | None


@dataclass(frozen=True, slots=True)
class SharedCostFact:
    """A monthly amount that every hour's lines carry a part of, inside the span asked for."""

    id: int
    name: str
    amount: Decimal
    currency: str
    method: str
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class _Offer:
    rate: economics.Rate
    kind: str
    priority: int
    starts_at: datetime
    ends_at: datetime


def pool_rates(
    pools: Mapping[int, PoolFact], starts_at: datetime, ends_at: datetime
) -> dict[int, list[RateSpan]]:
    """For each pool, spans that tile `[starts_at, ends_at)` without gap, cut where a rate changes."""
    return spans_of_pools(rates_of_pools(pools, starts_at, ends_at), pools, starts_at, ends_at)


def rates_of_pools(
    pools: Mapping[int, PoolFact], starts_at: datetime, ends_at: datetime
) -> list[Rate]:
    """The rates that may price one of these pools in `[starts_at, ends_at)`, by id."""
    rows = Rate.objects.filter(standing=Standing.IN_FORCE, period__overlap=(starts_at, ends_at))
    return list(rows.filter(_of_pools(pools.values())).order_by("id"))


def spans_of_pools(
    rows: Sequence[Rate], pools: Mapping[int, PoolFact], starts_at: datetime, ends_at: datetime
) -> dict[int, list[RateSpan]]:
    """As `pool_rates`, by these rates."""
    foreign = conversions({row.currency for row in rows}, starts_at, ends_at)
    return {
        pool_id: _spans(_offers(rows, pool, (starts_at, ends_at), foreign), starts_at, ends_at)
        for pool_id, pool in pools.items()
    }


def rates_in_force(at: datetime) -> list[RateFact]:
    """Every rate that holds at `at`, by what it prices."""
    rows = Rate.objects.filter(standing=Standing.IN_FORCE, period__contains=at).order_by(
        "target", "id"
    )
    return [
        RateFact(*row)
        for row in rows.values_list(
            "id",
            "target",
            "kind",
            "amount",
            "currency",
            "quantity_seconds",
            "unit",
            "period__startswith",
            "period__endswith",
            "source",
            "source_date",
        )
    ]


def has_prices() -> bool:
    """Whether any amount of the organisation's currency was entered."""
    return Rate.objects.exists() or SharedCost.objects.exists()


def shared_costs(starts_at: datetime, ends_at: datetime) -> list[SharedCostFact]:
    """The shared costs that run in `[starts_at, ends_at)`, clipped to it, by id."""
    rows = SharedCost.objects.filter(period__overlap=(starts_at, ends_at)).order_by("id")
    return [
        SharedCostFact(
            id=row.id,
            name=row.name,
            amount=row.amount,
            currency=row.currency,
            method=row.method,
            starts_at=_later(row.period.lower, starts_at),
            ends_at=_sooner(row.period.upper, ends_at),
        )
        for row in rows
    ]


def _of_pools(pools: Iterable[PoolFact]) -> Q:
    wanted = list(pools)
    return Q(pool_id__in=[pool.id for pool in wanted]) | Q(
        pool=None, provider__in={pool.provider for pool in wanted}
    )


def _offers(
    rows: Sequence[Rate],
    pool: PoolFact,
    asked: tuple[datetime, datetime],
    foreign: Mapping[str, Sequence[Conversion]],
) -> list[_Offer]:
    return [
        offer
        for row in rows
        if _prices(row, pool)
        for offer in _offered(row, asked, foreign.get(row.currency))
    ]


def _offered(
    row: Rate, asked: tuple[datetime, datetime], converted: Sequence[Conversion] | None
) -> Iterable[_Offer]:
    """One offer; of a foreign rate one for each month, at that month's rate of exchange."""
    rate = economics.Rate(
        id=row.id,
        amount=row.amount,
        quantity_seconds=row.quantity_seconds,
        per=economics.Per(row.unit),
        tiers=tiers_of(row.tiers),
    )
    starts_at, ends_at = _later(row.period.lower, asked[0]), _sooner(row.period.upper, asked[1])
    if converted is None:
        yield _Offer(rate, row.kind, _priority(row), starts_at, ends_at)
        return
    for each in converted:
        begins, ends = max(starts_at, each.starts_at), min(ends_at, each.ends_at)
        if begins < ends:
            there = replace(
                rate,
                exchange=each.rate,
                detail=each.detail,
                is_provisional=each.is_provisional,
            )
            yield _Offer(there, row.kind, _priority(row), begins, ends)


def _prices(row: Rate, pool: PoolFact) -> bool:
    if row.pool_id is not None:
        return row.pool_id == pool.id
    machine = (
        (row.instance_type, pool.instance_type)
        if row.instance_type
        else (
            row.gpu_model,
            pool.gpu_model,
        )
    )
    return (
        (row.provider, row.purchase_option) == (pool.provider, pool.purchase_option)
        and row.region in ("", pool.region)
        and machine[0] == machine[1]
    )


def _priority(row: Rate) -> int:
    return (
        OWN * (row.pool_id is not None)
        + CONTRACT * (row.kind == RateKind.CONTRACT)
        + INSTANCE_TYPE * bool(row.instance_type)
        + REGION * bool(row.region)
    )


def _spans(offers: Sequence[_Offer], starts_at: datetime, ends_at: datetime) -> list[RateSpan]:
    cuts = {starts_at, ends_at}
    for offer in offers:
        cuts.update((offer.starts_at, offer.ends_at))
    moments = sorted(cuts)
    spans: list[RateSpan] = []
    for start, end in pairwise(moments):
        span = _span(offers, start, end)
        last = spans[-1] if spans else None
        if last and (last.list_rate, last.contract_rate) == (span.list_rate, span.contract_rate):
            spans[-1] = RateSpan(last.starts_at, end, span.list_rate, span.contract_rate)
        else:
            spans.append(span)
    return spans


def _span(offers: Sequence[_Offer], start: datetime, end: datetime) -> RateSpan:
    held = [offer for offer in offers if offer.starts_at <= start and offer.ends_at >= end]
    listed = _best(offer for offer in held if offer.kind == RateKind.LIST)
    paid = _best(held)
    return RateSpan(start, end, listed, None if paid == listed else paid)


def _best(offers: Iterable[_Offer]) -> economics.Rate | None:
    best = max(offers, key=lambda offer: offer.priority, default=None)
    return None if best is None else best.rate


def _later(moment: datetime | None, other: datetime) -> datetime:
    return other if moment is None else max(moment, other)


def _sooner(moment: datetime | None, other: datetime) -> datetime:
    return other if moment is None else min(moment, other)
