"""Rates that hold for pools, and when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from django.db import connection
from django.db.models import Q

from apps.economics import rates as economics
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact, first_node_started_at
from apps.pricing.models import (
    Commitment,
    OwnedPlan,
    Rate,
    RateKind,
    RateStanding,
    RateUnit,
    SharedCost,
)
from apps.pricing.queries.converting import Conversion, conversions
from apps.pricing.queries.shared import EnteredSharedCost
from apps.pricing.queries.tiers import tiers_of

# A contract beats a list price, a pool's own rate beats both; below that, what is said more
# exactly wins: an instance type over a GPU model, a region over none.
OWN, CONTRACT, INSTANCE_TYPE, REGION = 8, 4, 2, 1
# Bought at a discount on the public price of the same machine on demand.
DISCOUNTED = frozenset({PurchaseOption.RESERVED, PurchaseOption.SPOT})


@dataclass(frozen=True, slots=True)
class RateSpan:
    """The rates of a pool in `[starts_at, ends_at)`.

    `contract_rate` is None where the list rate is what is paid. Both None: unpriced. List is the
    public on-demand price of the machine, also of a pool that is bought in advance or on the spot
    market; there it is None where nobody knows one. `list_is_paid` is false of a list rate
    that prices none of the pool's time.
    """

    starts_at: datetime
    ends_at: datetime
    list_rate: economics.QuotedRate | None
    contract_rate: economics.QuotedRate | None
    list_is_paid: bool = True

    @property
    def paid_rate(self) -> economics.QuotedRate | None:
        """Return the rate that is paid, before commitments; None: nobody knows."""
        return self.contract_rate or self.list_rate

    @property
    def pricing_rates(self) -> tuple[economics.QuotedRate, ...]:
        """The rates that count this pool's time as theirs: on whose terms it may be bought."""
        candidates = (self.list_rate if self.list_is_paid else None, self.contract_rate)
        return tuple(rate for rate in candidates if rate is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCostFact(EnteredSharedCost):
    """A monthly amount that every hour's lines carry a part of, inside the span asked for."""

    id: int
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class _Offer:
    """A rate for a pool: one to pay by, one that is the list price, or both."""

    rate: economics.QuotedRate
    is_paid: bool
    is_list: bool
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
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, period__overlap=(starts_at, ends_at))
    return list(rows.filter(_of_pools(pools.values())).order_by("id"))


def spans_of_pools(
    rows: Sequence[Rate], pools: Mapping[int, PoolFact], starts_at: datetime, ends_at: datetime
) -> dict[int, list[RateSpan]]:
    """As `pool_rates`, by these rates."""
    foreign = conversions({row.currency for row in rows}, starts_at, ends_at)
    return {
        pool_id: _spans_of_offers(
            _offers_of_pool(rows, pool, (starts_at, ends_at), foreign), starts_at, ends_at
        )
        for pool_id, pool in pools.items()
    }


def rests_on_organisation() -> bool:
    """Whether anything is on record that rests on the currency and the zone."""
    kinds = (Rate, SharedCost, Commitment, OwnedPlan)
    return first_node_started_at() is not None or any(kind.objects.exists() for kind in kinds)


def has_prices() -> bool:
    """Whether any amount of the organisation's currency was entered."""
    return Rate.objects.exists() or SharedCost.objects.exists()


def owed_spans() -> list[tuple[datetime, datetime | None]]:
    """The spans, in order and apart, in which something is owed whether or not any node lives."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT lower(span), upper(span) FROM unnest((
                SELECT range_agg(period) FROM (
                    SELECT period FROM pricing_sharedcost
                    UNION ALL SELECT period FROM pricing_commitment
                    UNION ALL SELECT period FROM pricing_ownedplan
                ) AS owed
            )) AS span ORDER BY span
            """
        )
        return list(cursor.fetchall())


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
            starts_at=_later_moment(row.period.lower, starts_at),
            ends_at=_sooner_moment(row.period.upper, ends_at),
        )
        for row in rows
    ]


def _of_pools(pools: Iterable[PoolFact]) -> Q:
    wanted = list(pools)
    return Q(pool_id__in=[pool.id for pool in wanted]) | Q(
        pool=None, provider__in={pool.provider for pool in wanted}
    )


def _offers_of_pool(
    rows: Sequence[Rate],
    pool: PoolFact,
    span: tuple[datetime, datetime],
    foreign: Mapping[str, Sequence[Conversion]],
) -> list[_Offer]:
    return [
        offer
        for row in rows
        if any(bases := (_is_paid(row, pool), _is_list(row, pool)))
        for offer in _offers_of_rate(row, bases, span, foreign.get(row.currency))
    ]


def _offers_of_rate(
    row: Rate,
    bases: tuple[bool, bool],
    span: tuple[datetime, datetime],
    converted: Sequence[Conversion] | None,
) -> Iterable[_Offer]:
    """One offer; of a foreign rate one for each month, at that month's rate of exchange."""
    rate = economics.QuotedRate(
        id=row.id,
        amount=row.amount,
        quantity_seconds=row.quantity_seconds,
        per=economics.Per(row.unit),
        tiers=tiers_of(row.tiers),
    )
    starts_at, ends_at = (
        _later_moment(row.period.lower, span[0]),
        _sooner_moment(row.period.upper, span[1]),
    )
    if converted is None:
        yield _Offer(rate, *bases, _priority_of_rate(row), starts_at, ends_at)
        return
    for conversion in converted:
        begins, ends = max(starts_at, conversion.starts_at), min(ends_at, conversion.ends_at)
        if begins < ends:
            there = replace(
                rate,
                exchange=conversion.rate,
                detail=conversion.detail,
                is_provisional=conversion.is_provisional,
            )
            yield _Offer(there, *bases, _priority_of_rate(row), begins, ends)


def _is_paid(row: Rate, pool: PoolFact) -> bool:
    """Whether a rate may be what a pool pays: its own, or one for machines bought as its are."""
    if row.pool_id is not None:
        return row.pool_id == pool.id
    return row.purchase_option == pool.purchase_option and _is_of_machine(row, pool)


def _is_list(row: Rate, pool: PoolFact) -> bool:
    """Whether a rate is a public price of the pool's machines on demand.

    What machines cost reserved or on the spot market is a discount on that, however public.
    """
    if row.kind != RateKind.LIST:
        return False
    if pool.purchase_option not in DISCOUNTED:
        return _is_paid(row, pool)
    if row.purchase_option != PurchaseOption.ON_DEMAND:
        return False
    return row.pool_id == pool.id if row.pool_id is not None else _is_of_machine(row, pool)


def _is_of_machine(row: Rate, pool: PoolFact) -> bool:
    machine = (
        (row.instance_type, pool.instance_type)
        if row.instance_type
        else (row.gpu_model, pool.gpu_model)
    )
    is_there = row.provider == pool.provider and row.region in ("", pool.region)
    return is_there and machine[0] == machine[1]


def _priority_of_rate(row: Rate) -> int:
    return (
        OWN * (row.pool_id is not None)
        + CONTRACT * (row.kind == RateKind.CONTRACT)
        + INSTANCE_TYPE * bool(row.instance_type)
        + REGION * bool(row.region)
    )


def _spans_of_offers(
    offers: Sequence[_Offer], starts_at: datetime, ends_at: datetime
) -> list[RateSpan]:
    cuts = {starts_at, ends_at}
    for offer in offers:
        cuts.update((offer.starts_at, offer.ends_at))
    moments = sorted(cuts)
    spans: list[RateSpan] = []
    for start, end in pairwise(moments):
        span = _span_of_offers(offers, start, end)
        last = spans[-1] if spans else None
        if last and replace(last, starts_at=start, ends_at=end) == span:
            spans[-1] = replace(last, ends_at=end)
        else:
            spans.append(span)
    return spans


def _span_of_offers(offers: Sequence[_Offer], start: datetime, end: datetime) -> RateSpan:
    valid_offers = [offer for offer in offers if offer.starts_at <= start and offer.ends_at >= end]
    paid = _best_offer(offer for offer in valid_offers if offer.is_paid)
    listed = _best_offer(offer for offer in valid_offers if offer.is_list)
    if paid is None or listed is None:
        # Without a price of its own a pool is unpriced: nobody pays the list for it.
        return RateSpan(start, end, None, None if paid is None else paid.rate)
    contract = None if paid.rate == listed.rate else paid.rate
    return RateSpan(start, end, listed.rate, contract, list_is_paid=listed.is_paid)


def _best_offer(offers: Iterable[_Offer]) -> _Offer | None:
    return max(offers, key=lambda offer: offer.priority, default=None)


def _later_moment(moment: datetime | None, other: datetime) -> datetime:
    return other if moment is None else max(moment, other)


def _sooner_moment(moment: datetime | None, other: datetime) -> datetime:
    return other if moment is None else min(moment, other)
