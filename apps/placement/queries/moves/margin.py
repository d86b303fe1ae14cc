"""Saving of a GPU-hour that is given back: by how its pool is bought, hour by hour."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.economics.hours import HOUR_MS
from apps.economics.moves.presence import level_at_end
from apps.economics.moves.saving import WorkWeek
from apps.economics.purchase import PAID_BY_THE_HOUR, PurchaseOption
from apps.fleet.queries import PoolFact
from apps.ledger.queries.purchases import BoughtHour

HourGpus = dict[datetime, float]
LAST_HOURS = 24
"""At whose price a GPU-hour is given back, the last of which it is known."""


@dataclass(frozen=True, slots=True)
class PoolMargin:
    """Of a pool's GPU-hours as it is at the end: the part that is paid by the hour at `price`, and the part that a commitment covers and would

    cover elsewhere at `released_price`; in micro-units a GPU-hour, None where it is not known.
    """

    by_hour: float = 0.0
    price: float | None = None
    released: float = 0.0
    released_price: float = 0.0
    released_to: frozenset[int] = frozenset()

    @property
    def part(self) -> float:
        """For which something is paid no more."""
        return self.by_hour + self.released

    def week_of(self, week: WorkWeek, price_then: float | None = None) -> WorkWeek:
        """Return what giving back a week's work saves: what it was charged, where all of it is paid by the hour; where that is cheaper

        since than `price_then`, so much less of it.
        """
        saving = week.micros * self.by_hour
        if self.price is not None and price_then and price_then > self.price:
            saving *= self.price / price_then
        if 0 < self.by_hour < 1 and self.price is not None and week.micros:
            # What commitments cover is cheaper: a mean of both is what neither costs.
            saving = week.gpu_hours * self.by_hour * self.price
        released = week.gpu_hours * self.released * self.released_price
        return WorkWeek(saving + released, week.gpu_hours * self.part)


@dataclass(frozen=True)
class RentedHours:
    """By pool: GPUs in service that are paid by the hour, hour by hour; what one of them costs; and the margin."""

    rented: Mapping[int, HourGpus] = field(default_factory=dict)
    prices: Mapping[int, float] = field(default_factory=dict)
    margins: Mapping[int, PoolMargin] = field(default_factory=dict)
    paid: Mapping[int, Mapping[datetime, tuple[float, float]]] = field(default_factory=dict)

    def price_in(self, pool_id: int, starts_at: datetime, ends_at: datetime) -> float | None:
        """Return the price of a GPU-hour of a pool by the hour in `[starts_at, ends_at)`; None where that is not known."""
        hours = self.paid.get(pool_id, {}).items()
        return _price_of([paid for hour, paid in hours if starts_at <= hour < ends_at])

    def margin_of(self, pool_id: int) -> PoolMargin:
        """Of a pool of which nothing was bought in these hours nothing is saved."""
        return self.margins.get(pool_id, PoolMargin())


def rented_hours(bought: Sequence[BoughtHour], pools: Mapping[int, PoolFact]) -> RentedHours:
    """Of all capacity of these hours."""
    rented: dict[int, HourGpus] = defaultdict(dict)
    covered: dict[int, HourGpus] = defaultdict(dict)
    times: dict[int, float] = defaultdict(float)
    paid: dict[int, dict[datetime, tuple[float, float]]] = defaultdict(dict)
    for hour in bought:
        pool = pools.get(hour.pool_id or 0)
        if pool is None or hour.is_unused:
            continue
        gpus = hour.gpu_ms / HOUR_MS
        times[pool.id] += gpus
        if pool.purchase_option in PAID_BY_THE_HOUR and not hour.is_committed:
            _add(rented[pool.id], hour.hour, gpus)
            if hour.paid_micros is not None:
                before = paid[pool.id].get(hour.hour, (0.0, 0.0))
                paid[pool.id][hour.hour] = (before[0] + gpus, before[1] + hour.paid_micros)
        elif hour.is_committed:
            _add(covered[pool.id], hour.hour, gpus)
    means = {pool_id: _price_of(list(of_hour.values())) for pool_id, of_hour in paid.items()}
    prices = {pool_id: price for pool_id, price in means.items() if price is not None}
    hours = sorted({hour.hour for hour in bought})
    still_covered = {pool_id: _still(of_hour, hours) for pool_id, of_hour in covered.items()}
    margins = {}
    for pool_id, time in times.items():
        by_hour = sum(_still(rented.get(pool_id, {}), hours).values())
        ended_hours = sum(rented.get(pool_id, {}).values()) - by_hour
        ended_hours += sum(covered.get(pool_id, {}).values())
        ended_hours -= sum(still_covered.get(pool_id, {}).values())
        left = time - ended_hours
        if left <= 0:
            continue
        margins[pool_id] = PoolMargin(
            min(1.0, by_hour / left),
            _last_price(paid.get(pool_id, {}), prices.get(pool_id)),
            *_released(pools, pool_id, still_covered, rented, prices, left),
        )
    return RentedHours(rented, prices, margins, paid)


def _still(of_hour: HourGpus, hours: Sequence[datetime]) -> HourGpus:
    """No more of them than are there at the end of these hours."""
    level = level_at_end([of_hour.get(hour, 0.0) for hour in hours])
    return {hour: min(gpus, level) for hour, gpus in of_hour.items()}


def _price_of(paid: Sequence[tuple[float, float]]) -> float | None:
    gpus = sum(gpu_hours for gpu_hours, _ in paid)
    return sum(micros for _, micros in paid) / gpus if gpus else None


def _last_price(paid: Mapping[datetime, tuple[float, float]], mean: float | None) -> float | None:
    """At the end, and no more than in all hours: no more is promised than was paid."""
    last = _price_of([paid[hour] for hour in sorted(paid)[-LAST_HOURS:]])
    return last if last is None or mean is None else min(last, mean)


def _add(of: HourGpus, hour: datetime, gpus: float) -> None:
    of[hour] = of.get(hour, 0.0) + gpus


def _released(
    pools: Mapping[int, PoolFact],
    pool_id: int,
    covered: Mapping[int, HourGpus],
    rented: Mapping[int, HourGpus],
    prices: Mapping[int, float],
    total_hours: float,
) -> tuple[float, float, frozenset[int]]:
    """The part of a pool's GPU-hours that a commitment covers while alike ones are on demand beside it, at what price, and whose.

    No more in an hour than both have; the cheapest of them first, so that no more is promised than is surely saved.
    """
    twins = sorted(
        (one for one in rented if one != pool_id and is_twin(pools[pool_id], pools[one])),
        key=lambda one: (prices.get(one, 0.0), one),
    )
    hours = micros = 0.0
    used = set()
    for hour, left in covered.get(pool_id, {}).items():
        for twin in twins:
            moved = min(left, rented[twin].get(hour, 0.0))
            if not moved or twin not in prices:
                continue
            hours, micros, left = hours + moved, micros + moved * prices[twin], left - moved
            used.add(twin)
    return (
        (hours / total_hours, micros / hours, frozenset(used)) if hours else (0.0, 0.0, frozenset())
    )


def is_twin(covered: PoolFact, other: PoolFact) -> bool:
    """Whether what covers the one may cover the other: the same machines of the same place, on demand. Never spot."""
    return other.purchase_option == PurchaseOption.ON_DEMAND and all(
        getattr(covered, name) == getattr(other, name)
        for name in ("provider", "region", "instance_type", "gpu_model")
    )
