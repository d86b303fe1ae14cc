"""What a GPU-hour that is given back saves: by how its pool is bought, hour by hour."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.economics.hours import HOUR_MS
from apps.economics.moves.saving import WorkWeek
from apps.economics.purchase import PAID_BY_THE_HOUR, PurchaseOption
from apps.fleet.queries import PoolFact
from apps.ledger.queries.purchases import BoughtHour

HourGpus = dict[datetime, float]


@dataclass(frozen=True, slots=True)
class PoolMargin:
    """Of a pool's GPU-hours: the part that is paid by the hour at `price`, and the part that a commitment covers and would

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

    def week_of(self, week: WorkWeek) -> WorkWeek:
        """What giving back a week's work saves. Where all of it is paid by the hour, what it was charged."""
        own = week.micros * self.by_hour
        if 0 < self.by_hour < 1 and self.price is not None and week.micros:
            # What commitments cover is cheaper: a mean of both is what neither costs.
            own = week.gpu_hours * self.by_hour * self.price
        released = week.gpu_hours * self.released * self.released_price
        return WorkWeek(own + released, week.gpu_hours * self.part)


@dataclass(frozen=True)
class RentedHours:
    """By pool: GPUs in service that are paid by the hour, hour by hour; what one of them costs; and the margin."""

    rented: Mapping[int, HourGpus] = field(default_factory=dict)
    prices: Mapping[int, float] = field(default_factory=dict)
    margins: Mapping[int, PoolMargin] = field(default_factory=dict)

    def margin_of(self, pool_id: int) -> PoolMargin:
        """Of a pool of which nothing was bought in these hours nothing is saved."""
        return self.margins.get(pool_id, PoolMargin())


def rented_hours(bought: Sequence[BoughtHour], pools: Mapping[int, PoolFact]) -> RentedHours:
    """Of all capacity of these hours."""
    rented: dict[int, HourGpus] = defaultdict(dict)
    covered: dict[int, HourGpus] = defaultdict(dict)
    times: dict[int, float] = defaultdict(float)
    paid: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for hour in bought:
        pool = pools.get(hour.pool_id or 0)
        if pool is None or hour.is_unused:
            continue
        gpus = hour.gpu_ms / HOUR_MS
        times[pool.id] += gpus
        if pool.purchase_option in PAID_BY_THE_HOUR and not hour.is_committed:
            _add(rented[pool.id], hour.hour, gpus)
            if hour.paid_micros is not None:
                paid[pool.id][0] += gpus
                paid[pool.id][1] += hour.paid_micros
        elif hour.is_committed:
            _add(covered[pool.id], hour.hour, gpus)
    prices = {pool_id: micros / gpus for pool_id, (gpus, micros) in paid.items() if gpus}
    margins = {
        pool_id: PoolMargin(
            sum(rented.get(pool_id, {}).values()) / whole,
            prices.get(pool_id),
            *_released(pools, pool_id, covered, rented, prices, whole),
        )
        for pool_id, whole in times.items()
        if whole
    }
    return RentedHours(rented, prices, margins)


def _add(of: HourGpus, hour: datetime, gpus: float) -> None:
    of[hour] = of.get(hour, 0.0) + gpus


def _released(
    pools: Mapping[int, PoolFact],
    pool_id: int,
    covered: Mapping[int, HourGpus],
    rented: Mapping[int, HourGpus],
    prices: Mapping[int, float],
    whole: float,
) -> tuple[float, float, frozenset[int]]:
    """The part of a pool's GPU-hours that a commitment covers while alike ones are on demand beside it, at what price, and whose.

    No more in an hour than both have; the cheapest of them first, so that no more is promised than is surely saved.
    """
    twins = sorted(
        (one for one in rented if one != pool_id and _is_twin(pools[pool_id], pools[one])),
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
    return (hours / whole, micros / hours, frozenset(used)) if hours else (0.0, 0.0, frozenset())


def _is_twin(covered: PoolFact, beside: PoolFact) -> bool:
    """Whether what covers the one may cover the other: the same machines of the same place, on demand. Never spot."""
    return beside.purchase_option == PurchaseOption.ON_DEMAND and all(
        getattr(covered, name) == getattr(beside, name)
        for name in ("provider", "region", "instance_type", "gpu_model")
    )
