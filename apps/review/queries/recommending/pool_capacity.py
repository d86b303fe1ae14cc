"""Pools hour by hour: what stood on their machines, what waited for them, and what a machine-hour costs. Read once for all kinds."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple
from zoneinfo import ZoneInfo

from apps.accounts.queries.reading import once
from apps.economics.hours import DAY_HOURS, HOUR
from apps.economics.moves.presence import level_at_end, present_parts
from apps.economics.moves.saving import WEEK_HOURS, SavingRange, month_of_weeks, sums_by_week
from apps.economics.moves.spare_machines import PoolHour, gpus_of_machines, machines_within
from apps.economics.purchase import PAID_BY_THE_HOUR
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.pool_hours import PoolUse, pool_use
from apps.ledger.queries.tables import named_rows
from apps.placement.queries.moves.margin import is_twin
from apps.placement.queries.moves.work import MoveSpan
from apps.planning.queries.measured import QUEUED
from apps.review.queries.recommending.proposal import DetectedKind, unheld_cell

NO_PRICE = "what its machines cost by the hour is not known"
GONE = "it has no machines any more"
TOO_YOUNG = "less than two whole weeks of it are known"
LEAST_HOURS = 2 * WEEK_HOURS
RELEASED_PRICE = "released_gpu_hour_micros"
"""In a baseline: what a GPU-hour saves that is given back, where a commitment covers others instead."""
LAST_HOURS = 24
"""At whose price a machine-hour is given back, the last of which it is known."""


@dataclass(frozen=True, slots=True)
class ReleasedGpus:
    """By hour: GPUs of a pool that a commitment covers while jobs hold alike ones on demand, in the pools `to`.

    Given back, the commitment covers those instead: `price` of a GPU-hour there, in micro-units, is paid no more.
    """

    gpus: Mapping[datetime, float]
    price: float
    to: frozenset[int]


NOTHING_RELEASED = ReleasedGpus({}, 0.0, frozenset())


@dataclass(frozen=True)
class PoolCapacity:
    """A pool in the weeks that are looked at: every hour from its first on, in order.

    `used` is what was; `hours` is the same with no more machines than are there at the end, and paid by the hour still.
    `by_hour` are GPUs of these that are paid by the hour. `price` is what a machine-hour costs that is paid by the hour, in
    micro-units, at the end and no more than in all weeks; None where it is not known, or none is. `queued` are GPUs that
    jobs waited for, by hour. `released` is what commitments that cover its machines would cover instead.
    """

    pool: PoolFact
    of_machine: float
    used: tuple[PoolUse, ...]
    hours: tuple[PoolHour, ...]
    by_hour: tuple[float, ...]
    price: float | None
    queued: Mapping[datetime, float]
    released: ReleasedGpus = NOTHING_RELEASED

    @cached_property
    def saved_by_hour(self) -> tuple[float, ...]:
        """GPUs for which something is paid no more once they are given back: paid by the hour, or a commitment covers others then."""
        released = self.released.gpus
        return tuple(
            gpus + released.get(use.hour, 0.0)
            for gpus, use in zip(self.by_hour, self.used, strict=True)
        )

    @property
    def is_by_hour(self) -> bool:
        """Whether any of it is paid by the hour, at the end still."""
        return any(gpus > 0 for gpus in self.by_hour)

    @property
    def is_covered_in_part(self) -> bool:
        """Whether commitments cover some of it beside what is paid by the hour: no machine is surely the one or the other."""
        return self.is_by_hour and any(use.committed > 0 for use in self.used)

    @cached_property
    def is_gone(self) -> bool:
        """Whether it has no machines at the end, and none that may come back."""
        return level_at_end([use.gpus for use in self.used]) <= 0

    @property
    def gone_free(self) -> float:
        """GPU-hours with nothing on them of machines that are there no more, or are covered since."""
        paid = [use_by_hour(use) for use in self.used] if self.is_rented else []
        there = zip(self.used, paid, self.by_hour, strict=True) if paid else ()
        return sum(min(use.free_gpus, own_gpus - left) for use, own_gpus, left in there)

    @property
    def is_rented(self) -> bool:
        """Whether its machines are bought by the hour, as far as no commitment covers them."""
        return self.pool.purchase_option in PAID_BY_THE_HOUR

    @property
    def is_young(self) -> bool:
        """Whether too few hours of it are known for a month to be told from them."""
        return len(self.used) < LEAST_HOURS

    def by_week(self, amounts: Sequence[float]) -> list[float]:
        """The sums of each week, of as many hours of it as there are."""
        return [amount for amount, _ in self._weeks(amounts)]

    def _weeks(self, amounts: Sequence[float]) -> list[tuple[float, int]]:
        return sums_by_week((hour.week for hour in self.hours), amounts)

    def saving_of(self, gpu_hours: Sequence[float]) -> SavingRange:
        """A month of what these cost, with 1.28 standard errors over the weeks at both ends; none without a price.

        Those that are paid by the hour go first; of the rest what the commitment covers instead.
        """
        return month_of_weeks(self._weeks(self._saved_micros(gpu_hours)), 1.0)

    def _saved_micros(self, gpu_hours: Sequence[float]) -> list[float]:
        price = (self.price or 0.0) / self.of_machine
        return [
            min(gpus, own_gpus) * price
            + min(max(0.0, gpus - own_gpus), all_gpus - own_gpus) * self.released.price
            for gpus, own_gpus, all_gpus in zip(
                gpu_hours, self.by_hour, self.saved_by_hour, strict=True
            )
        ]

    def given_gpus(self, machines: Sequence[float]) -> list[float]:
        """GPUs of so many of the machines that nothing was on, hour by hour."""
        return [
            min(gpus_of_machines(use.free_sizes, machine), most)
            for use, machine, most in zip(self.used, machines, self.saved_by_hour, strict=True)
        ]

    @property
    def spend_micros(self) -> int:
        """The cost in a month of its machines that are paid by the hour, and of alike ones that its commitments would cover."""
        return self.saving_of(self.saved_by_hour).likely

    def released_baseline(self, gpu_hours: Sequence[float]) -> dict[str, float]:
        """Return the average saving of a GPU-hour of these, for what comes of it; nothing where no commitment frees any."""
        total = sum(gpu_hours)
        if not self.released.gpus or not total:
            return {}
        return {RELEASED_PRICE: sum(self._saved_micros(gpu_hours)) / total}

    @property
    def released_cells(self) -> frozenset[str]:
        """The dollars of pools that its commitments would cover instead."""
        return frozenset(f"pool:{pool_id}" for pool_id in self.released.to)

    @property
    def cell(self) -> str:
        """The dollars of what no job holds of it."""
        return unheld_cell(self.pool.id)


def use_by_hour(use: PoolUse) -> float:
    """GPUs that no commitment covers."""
    return max(0.0, use.gpus - use.committed)


@once
def pool_capacities(span: MoveSpan) -> tuple[PoolCapacity, ...]:
    """Every pool of GPUs of which the ledger has machines in the weeks, by id. Two statements."""
    window = span.window
    pools_by_id = pools()
    of_pool: dict[int, list[PoolUse]] = defaultdict(list)
    for use in pool_use(window.starts_at, window.ends_at):
        if use.pool_id in pools_by_id:
            of_pool[use.pool_id].append(use)
    queued: dict[int, dict[datetime, float]] = defaultdict(dict)
    for row in named_rows(QUEUED, {"from": window.starts_at, "to": window.ends_at}):
        queued[row.pool_id][row.hour] = row.gpu_hours
    capacities = {
        pool_id: _capacity_of(pools_by_id[pool_id], uses, span, queued.get(pool_id, {}))
        for pool_id, uses in sorted(of_pool.items())
        if any(use.nodes for use in uses)
    }
    for capacity in list(capacities.values()):
        released = _released(capacity, capacities.values())
        if released.gpus:
            pool = capacity.pool
            capacities[pool.id] = _capacity_of(
                pool, of_pool[pool.id], span, queued.get(pool.id, {}), released
            )
    return tuple(capacities.values())


def _released(capacity: PoolCapacity, others: Iterable[PoolCapacity]) -> ReleasedGpus:
    """The cheapest of alike ones first, so that no more is promised than is surely saved; of those that jobs hold, as free ones go by themselves."""
    covered = [use.committed for use in capacity.used]
    if not any(covered):
        return NOTHING_RELEASED
    left = {
        use.hour: gpus - present_part
        for use, gpus, present_part in zip(
            capacity.used, covered, present_parts(covered), strict=True
        )
    }
    alike = [
        other
        for other in others
        if other.pool.id != capacity.pool.id and other.price and is_twin(capacity.pool, other.pool)
    ]
    gpus: dict[datetime, float] = defaultdict(float)
    micros, to = 0.0, set()
    for twin in sorted(
        alike, key=lambda twin: ((twin.price or 0.0) / twin.of_machine, twin.pool.id)
    ):
        for use, by_hour in zip(twin.used, twin.by_hour, strict=True):
            moved = min(left.get(use.hour, 0.0), max(0.0, by_hour - use.free_gpus))
            if moved > 0:
                left[use.hour] -= moved
                gpus[use.hour] += moved
                micros += moved * (twin.price or 0.0) / twin.of_machine
                to.add(twin.pool.id)
    return (
        ReleasedGpus(gpus, micros / sum(gpus.values()), frozenset(to)) if gpus else NOTHING_RELEASED
    )


def _capacity_of(
    pool: PoolFact,
    uses: Sequence[PoolUse],
    span: MoveSpan,
    queued: Mapping[datetime, float],
    released: ReleasedGpus = NOTHING_RELEASED,
) -> PoolCapacity:
    of_machine = sum(use.gpus for use in uses) / sum(use.nodes for use in uses)
    by_hour = {use.hour: use for use in uses}
    places = places_from(uses[0].hour, span)
    hourly_uses = [by_hour.get(place.hour) or PoolUse(pool.id, place.hour) for place in places]
    is_by_hour = pool.purchase_option in PAID_BY_THE_HOUR
    paid = [use_by_hour(use) if is_by_hour else 0.0 for use in hourly_uses]
    lost_parts = present_parts(paid)
    nodes_gone = present_parts([use.nodes for use in hourly_uses])
    freed = [released.gpus.get(use.hour, 0.0) for use in hourly_uses]
    hours = [
        PoolHour(
            week=place.week,
            slot=place.slot,
            nodes=use.nodes - fewer,
            free=max(0.0, use.free_nodes - fewer),
            givable=_givable(use, use.free_gpus, gpus + other, queued.get(use.hour, 0.0) + lost),
            rested=_givable(use, use.rested_gpus, gpus + other, queued.get(use.hour, 0.0) + lost),
        )
        for place, use, gpus, lost, fewer, other in zip(
            places, hourly_uses, paid, lost_parts, nodes_gone, freed, strict=True
        )
    ]
    present = tuple(gpus - lost for gpus, lost in zip(paid, lost_parts, strict=True))
    price = _price_of(hourly_uses) if is_by_hour else None
    return PoolCapacity(
        pool,
        of_machine,
        tuple(hourly_uses),
        tuple(hours),
        present,
        price * of_machine if price else None,
        queued,
        released,
    )


def _givable(use: PoolUse, free: float, by_hour: float, reserved: float) -> float:
    """Machines of what is free and for which something is paid no more, without `reserved` GPUs: what is gone since, and what jobs wait for."""
    return machines_within(use.free_sizes, max(0.0, min(free, by_hour) - reserved))


def _price_of(uses: Sequence[PoolUse]) -> float | None:
    """Of a GPU-hour, at the end; no more than it was, so that no more is promised than was paid."""
    priced_uses = [use for use in uses if use_by_hour(use) and use.paid_micros is not None]
    if not priced_uses:
        return None
    return min(
        sum(use.paid_micros or 0 for use in part) / sum(use_by_hour(use) for use in part)
        for part in (priced_uses, priced_uses[-LAST_HOURS:])
    )


class PlacedHour(NamedTuple):
    """An hour, in which of the weeks it is, and which hour of a week from Monday's first on, by the local clock."""

    hour: datetime
    week: int
    slot: int


def places_from(first: datetime, span: MoveSpan) -> list[PlacedHour]:
    """Every hour of the weeks from this one on."""
    zone, starts = ZoneInfo(span.window.zone), [week.starts_at for week in span.weeks]
    placed_hours = []
    for place in range((span.window.ends_at - first) // HOUR):
        hour = first + place * HOUR
        local = hour.astimezone(zone)
        slot = local.weekday() * DAY_HOURS + local.hour
        placed_hours.append(PlacedHour(hour, bisect_right(starts, hour) - 1, slot))
    return placed_hours


def is_within_reach(waited: PoolFact, other: PoolFact) -> bool:
    """Whether the same GPUs are of the same cluster, or of the same place of a provider: where a job's data is."""
    is_there = (waited.provider, waited.region) == (other.provider, other.region)
    is_same_cluster = waited.cluster_id is not None and waited.cluster_id == other.cluster_id
    return other.gpu_model == waited.gpu_model and (is_there or is_same_cluster)


def why_no_machines(capacity: PoolCapacity) -> str:
    """Why nothing is given back of a pool, whatever stands in it; empty: it may be."""
    if capacity.is_gone:
        return GONE
    if capacity.is_young:
        return TOO_YOUNG
    return NO_PRICE if capacity.is_by_hour and capacity.price is None else ""


def pass_over_pool(detected: DetectedKind, capacity: PoolCapacity, why: str) -> None:
    """Looked at, and no proposal."""
    detected.pass_over(why, str(capacity.pool.id))
