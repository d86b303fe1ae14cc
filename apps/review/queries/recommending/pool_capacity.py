"""Pools hour by hour: what stood on their machines, what waited for them, and what a machine-hour costs. Read once for all kinds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from apps.accounts.queries.reading import once
from apps.economics.hours import HOUR
from apps.economics.moves.saving import MONTH_HOURS, WEEK_HOURS, SavingRange, mean_with_ends
from apps.economics.moves.spare_machines import PoolHour
from apps.economics.purchase import PAID_BY_THE_HOUR
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.pool_hours import PoolUse, pool_use
from apps.ledger.queries.tables import named_rows
from apps.ledger.queries.windows import Window
from apps.placement.queries.moves.work import MoveSpan
from apps.planning.queries.measured import QUEUED
from apps.review.queries.recommending.proposal import DetectedKind, unheld_cell

NO_PRICE = "what its machines cost by the hour is not known"
GONE = "it has no machines any more"


@dataclass(frozen=True)
class PoolCapacity:
    """A pool in the weeks that are looked at: every hour from its first on, in order.

    `price` is what a machine-hour costs that is paid by the hour, in micro-units; None where it is not known, or none is.
    `queued` are GPUs that jobs waited for, by hour.
    """

    pool: PoolFact
    of_machine: float
    used: tuple[PoolUse, ...]
    hours: tuple[PoolHour, ...]
    price: float | None
    queued: Mapping[datetime, float]

    @property
    def is_by_hour(self) -> bool:
        """Whether any of it is paid by the hour."""
        return self.pool.purchase_option in PAID_BY_THE_HOUR and any(
            use.gpus - use.committed > 0 for use in self.used
        )

    @property
    def weeks(self) -> int:
        """How many there are of it."""
        return len({hour.week for hour in self.hours})

    @property
    def is_gone(self) -> bool:
        """Whether it had no machines in its last hour."""
        return self.used[-1].gpus <= 0

    def by_week(self, machine_hours: Sequence[float]) -> list[float]:
        """The sums of each week that the ledger has whole."""
        sums: dict[int, float] = defaultdict(float)
        counts: dict[int, int] = defaultdict(int)
        for hour, amount in zip(self.hours, machine_hours, strict=True):
            sums[hour.week] += amount
            counts[hour.week] += 1
        return [sums[week] * WEEK_HOURS / counts[week] for week in sorted(sums)]

    def saving_of(self, machine_hours: Sequence[float]) -> SavingRange:
        """A month of what these cost, with 1.28 standard errors over the weeks at both ends; none without a price."""
        scale = (self.price or 0.0) * MONTH_HOURS / WEEK_HOURS
        ends = mean_with_ends(self.by_week(machine_hours))
        return SavingRange(*(round(max(0.0, end) * scale) for end in ends))

    @property
    def spend_micros(self) -> int:
        """What its machines cost in a month that are paid by the hour."""
        paid = [use_by_hour(use) / self.of_machine for use in self.used]
        return self.saving_of(paid).likely

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
    known = pools()
    of_pool: dict[int, list[PoolUse]] = defaultdict(list)
    for use in pool_use(window.starts_at, window.ends_at):
        if use.pool_id in known:
            of_pool[use.pool_id].append(use)
    queued: dict[int, dict[datetime, float]] = defaultdict(dict)
    for row in named_rows(QUEUED, {"from": window.starts_at, "to": window.ends_at}):
        queued[row.pool_id][row.hour] = row.gpu_hours
    return tuple(
        _capacity_of(known[pool_id], uses, window, queued.get(pool_id, {}))
        for pool_id, uses in sorted(of_pool.items())
        if any(use.nodes for use in uses)
    )


def _capacity_of(
    pool: PoolFact, uses: Sequence[PoolUse], window: Window, queued: Mapping[datetime, float]
) -> PoolCapacity:
    of_machine = sum(use.gpus for use in uses) / sum(use.nodes for use in uses)
    by_hour = {use.hour: use for use in uses}
    first, end = uses[0].hour, window.ends_at
    whole = [
        by_hour.get(hour) or PoolUse(pool.id, hour)
        for hour in (first + place * HOUR for place in range((end - first) // HOUR))
    ]
    is_by_hour = pool.purchase_option in PAID_BY_THE_HOUR
    zone = ZoneInfo(window.zone)
    hours = [
        PoolHour(
            week=(use.hour - window.starts_at) // timedelta(weeks=1),
            slot=slot_of(use.hour.astimezone(zone)),
            nodes=use.nodes,
            free=use.free_nodes,
            givable=min(use.free_gpus, use_by_hour(use)) / of_machine if is_by_hour else 0.0,
            rested=min(use.rested_gpus, use_by_hour(use)) / of_machine if is_by_hour else 0.0,
        )
        for use in whole
    ]
    paid = [use for use in uses if use_by_hour(use) and use.paid_micros is not None]
    gpus = sum(use_by_hour(use) for use in paid)
    price = sum(use.paid_micros or 0 for use in paid) / gpus * of_machine if gpus else None
    if not is_by_hour or not price:
        price = None
    return PoolCapacity(pool, of_machine, tuple(whole), tuple(hours), price, queued)


def slot_of(local: datetime) -> int:
    """The hour of the week from Monday's first on."""
    return local.weekday() * 24 + local.hour


def is_within_reach(waited: PoolFact, beside: PoolFact) -> bool:
    """Whether the same GPUs are of the same cluster, or of the same place of a provider: where a job's data is."""
    is_there = (waited.provider, waited.region) == (beside.provider, beside.region)
    is_same_cluster = waited.cluster_id is not None and waited.cluster_id == beside.cluster_id
    return beside.gpu_model == waited.gpu_model and (is_there or is_same_cluster)


def why_no_machines(found: PoolCapacity) -> str:
    """Why nothing is given back of a pool, whatever stands in it; empty: it may be."""
    if found.is_gone:
        return GONE
    return NO_PRICE if found.is_by_hour and found.price is None else ""


def pass_over_pool(found: DetectedKind, capacity: PoolCapacity, why: str) -> None:
    """Looked at, and no proposal."""
    found.pass_over(why, str(capacity.pool.id))
