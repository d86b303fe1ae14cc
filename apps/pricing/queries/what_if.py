"""Estimate of what the past would have cost with another price: asked before the price is entered or ended.

An estimate by nodes' lives and rates as they stand, without rounding by the hour.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from apps.accounts.queries import organisation
from apps.economics import rates as economics
from apps.economics.hours import HOUR
from apps.economics.tiers import Tier, graduated
from apps.fleet.queries import CapacitySpan, NodeFact, PoolFact, pools
from apps.pricing.models import Rate
from apps.pricing.queries import RateSpan, rates_of_pools, spans_of_pools
from apps.pricing.queries.converting import month_of_hour, months_of
from apps.pricing.queries.deciding import place_of
from apps.pricing.queries.reach import Prices, Reach, reach_of

MICROSECOND = timedelta(microseconds=1)
# No row has this id yet.
PROPOSED = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A price that somebody thinks of entering; `replaces` is the rate that would end with it."""

    prices: Prices
    kind: str
    amount: Decimal
    quantity_seconds: int
    unit: str
    starts_at: datetime | None
    ends_at: datetime | None
    currency: str
    replaces: int | None = None
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The cost of the reached hours as prices stand and as it would be then, in micro-units.

    Node-hours without any price are in neither amount and counted apart.
    """

    reach: Reach
    before_micros: int
    after_micros: int
    unpriced_before: float
    unpriced_after: float

    @property
    def changes(self) -> bool:
        """Whether any amount, or what is unpriced, would differ."""
        return (self.before_micros, self.unpriced_before) != (
            self.after_micros,
            self.unpriced_after,
        )


def if_entered(proposal: Proposal, at: datetime) -> WhatIf:
    """Return what entering this price would move, in hours before `at`."""
    prices = proposal.prices
    reach = reach_of(prices, proposal.starts_at, proposal.ends_at, at)
    entered = Rate(
        id=PROPOSED,
        **asdict(prices),
        kind=proposal.kind,
        amount=proposal.amount,
        currency=proposal.currency,
        quantity_seconds=proposal.quantity_seconds,
        unit=proposal.unit,
        tiers=[[str(tier.beyond), str(tier.amount)] for tier in proposal.tiers],
    )
    # A period as it comes from the database, which an unsaved row has not been to.
    entered.period = _Period(proposal.starts_at, proposal.ends_at)
    return _what_if(reach, lambda rows: [*_rates_without(rows, proposal.replaces), entered])


def if_accepted(rate_id: int, at: datetime) -> WhatIf:
    """Return what accepting this price, which waits, would move in hours before `at`."""
    row = Rate.objects.get(id=rate_id)
    place = place_of(row)
    reach = reach_of(Prices.of(row), place.starts_at, place.changes_until, at)
    row.period = _Period(place.starts_at, place.ends_at)
    # In the reach the price before is what ends.
    return _what_if(reach, lambda rows: [*_rates_without(rows, place.predecessor_id), row])


def if_ended(rate_id: int, ended_at: datetime, at: datetime) -> WhatIf:
    """Return what ending this price would move, in hours before `at`."""
    row = Rate.objects.get(id=rate_id)
    reach = reach_of(Prices.of(row), ended_at, row.period.upper, at)
    # In the reach the rate is what ends; before it nothing changes.
    return _what_if(reach, lambda rows: _rates_without(rows, rate_id))


def cost_of_added_nodes(
    pool: PoolFact, count: int, starts_at: datetime, ends_at: datetime
) -> tuple[int, float]:
    """Return what so many more nodes of a pool would have cost in a time: micro-units, whole, and the
    node-hours without any price, which are not in them. Commitments are left aside.
    """
    if not count or ends_at <= starts_at:
        return 0, 0.0
    units = pool.gpus_per_node or 0
    capacity = (CapacitySpan(starts_at, ends_at, units),)
    node = NodeFact(0, "", pool.id, "", starts_at, ends_at, units, capacity)
    rows = rates_of_pools({pool.id: pool}, starts_at, ends_at)
    reach = Reach(starts_at, ends_at, 0, 0.0, ((pool.id, pool.name),), (node,) * count)
    return _reach_cost(rows, {pool.id: pool}, reach)


def if_pool_were(corrected: PoolFact, at: datetime) -> WhatIf:
    """Return what the hours of a pool before `at` cost as it is on record, and would as `corrected`; commitments aside."""
    current_pool = pools()[corrected.id]
    reach = reach_of(Prices(current_pool.id, "", "", "", "", ""), None, None, at)
    if reach.starts_at is None or reach.ends_at is None:
        return WhatIf(reach, 0, 0, 0.0, 0.0)
    costs = []
    for pool in (current_pool, corrected):
        rows = rates_of_pools({pool.id: pool}, reach.starts_at, reach.ends_at)
        costs.append(_reach_cost(rows, {pool.id: pool}, reach))
    (before, unpriced_before), (after, unpriced_after) = costs
    return WhatIf(reach, before, after, unpriced_before, unpriced_after)


def _rates_without(rows: Sequence[Rate], rate_id: int | None) -> list[Rate]:
    return [row for row in rows if row.id != rate_id]


@dataclass(frozen=True, slots=True)
class _Period:
    lower: datetime | None
    upper: datetime | None


_Change = Callable[[Sequence[Rate]], Sequence[Rate]]


def _what_if(reach: Reach, change: _Change) -> WhatIf:
    if reach.starts_at is None or reach.ends_at is None:
        return WhatIf(reach, 0, 0, 0.0, 0.0)
    reached = {pool_id for pool_id, _ in reach.pools}
    chosen = {pool_id: pool for pool_id, pool in pools().items() if pool_id in reached}
    rows = rates_of_pools(chosen, reach.starts_at, reach.ends_at)
    before = _reach_cost(rows, chosen, reach)
    after = _reach_cost(change(rows), chosen, reach)
    return WhatIf(reach, before[0], after[0], before[1], after[1])


def _reach_cost(
    rows: Sequence[Rate], chosen: dict[int, PoolFact], reach: Reach
) -> tuple[int, float]:
    """Micro-units, and the node-hours without a price."""
    if reach.starts_at is None or reach.ends_at is None:
        return 0, 0.0
    spans = spans_of_pools(rows, chosen, reach.starts_at, reach.ends_at)
    zone = organisation().zone
    if any(row.tiers for row in rows):
        spans = {pool_id: _by_month(of_pool, zone) for pool_id, of_pool in spans.items()}
    microseconds_by_rate: dict[tuple[economics.QuotedRate, date | None], int] = {}
    unpriced = 0.0
    for node in reach.lived:
        for span in spans[node.pool_id]:
            paid = span.paid_rate
            if paid is None or paid.exchange is None:
                unpriced += _overlap_of_span(node.lived_from, node.lived_to, span) / HOUR
            else:
                key = (paid, month_of_hour(span.starts_at, zone) if paid.tiers else None)
                microseconds_by_rate[key] = microseconds_by_rate.get(
                    key, 0
                ) + _lifetime_microseconds(paid, node, span)
    micros = sum(
        (_exact_cost(rate, time) for (rate, _), time in microseconds_by_rate.items()), Fraction(0)
    )
    return round(micros), round(unpriced, 6)


def _by_month(spans: Sequence[RateSpan], zone: str) -> list[RateSpan]:
    """Cut where a local month begins: quantities of tiers are counted by the month."""
    return [
        replace(span, starts_at=begins, ends_at=ends)
        for span in spans
        for _, begins, ends in months_of(span.starts_at, span.ends_at, zone)
    ]


def _lifetime_microseconds(paid: economics.QuotedRate, node: NodeFact, span: RateSpan) -> int:
    """Microseconds of nodes, or of GPUs."""
    if paid.per is economics.Per.NODE:
        return _overlap_of_span(node.lived_from, node.lived_to, span) // MICROSECOND
    return sum(
        capacity_span.units
        * (_overlap_of_span(capacity_span.starts_at, capacity_span.ends_at, span) // MICROSECOND)
        for capacity_span in node.capacity_spans
    )


def _exact_cost(paid: economics.QuotedRate, microseconds: int) -> Fraction:
    """Microseconds of time times whole units of money: micro-units. Tiers begin with the reach."""
    amount = Fraction(paid.amount) * microseconds
    if paid.tiers:
        hours = Fraction(microseconds, HOUR // MICROSECOND)
        amount = graduated(paid.amount, paid.tiers, hours) * (HOUR // MICROSECOND)
    return amount * (paid.exchange or 0) / paid.quantity_seconds


def _overlap_of_span(starts_at: datetime, ends_at: datetime, span: RateSpan) -> timedelta:
    return max(timedelta(0), min(ends_at, span.ends_at) - max(starts_at, span.starts_at))
