"""Work of the last weeks, whose it was and where it ran, and what of it was paid by the hour: what a move could save."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR, HOUR_MS, first_hour
from apps.economics.moves.saving import WorkWeek, monthly
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.ledger.queries.purchases import bought_hours
from apps.ledger.queries.windows import Window
from apps.placement.queries.moves.margin import RentedHours, rented_hours
from apps.workloads.queries import WorkloadFact, workloads

DAY, WEEK = timedelta(days=1), timedelta(days=7)
WEEKS = 4
MOST_CANDIDATES = 300
"""Of each kind so many are looked into, those that cost most; the others are counted."""


@dataclass(frozen=True, slots=True)
class MoveSpan:
    """The local week in which it is looked, and the whole weeks before it that the ledger has; at most WEEKS."""

    week: date
    weeks: tuple[Window, ...]

    @property
    def hours(self) -> int:
        """Of all of them."""
        return sum((week.ends_at - week.starts_at) // HOUR for week in self.weeks)

    @property
    def window(self) -> Window:
        """All of them as one; of none an empty one."""
        if not self.weeks:
            return Window("", self.week, self.week, organisation().zone)
        return Window("", self.weeks[0].first_day, self.week, self.weeks[0].zone)


@dataclass(frozen=True, slots=True)
class WorkCell:
    """A workload on a pool. `weeks` are what leaving it would save, week by week, at the marginal price.

    `paid_by_hour` is the part of its GPU-hours for which something is paid no more once they are given back: on demand and on
    spot what no commitment covers, and of the rest what a commitment would cover of `released_to`, other pools that are on demand.
    """

    workload: WorkloadFact
    pool: PoolFact
    weeks: tuple[WorkWeek, ...]
    charged_micros: int
    unpriced_ms: int
    paid_by_hour: float
    released_to: frozenset[int] = frozenset()

    @property
    def key(self) -> str:
        """Return the key that two moves that touch the same dollars have in common."""
        return f"{self.workload.id}:{self.pool.id}"

    @property
    def money_cells(self) -> frozenset[str]:
        """The dollars that leaving it saves: its own, and those of the pools that a commitment would cover instead."""
        return frozenset([self.key, *(f"pool:{pool_id}" for pool_id in self.released_to)])

    @property
    def addressable_micros(self) -> float:
        """Of all weeks together."""
        return sum(week.micros for week in self.weeks)

    @property
    def gpu_hours(self) -> float:
        """Of these, paid by the hour."""
        return sum(week.gpu_hours for week in self.weeks)


@dataclass(frozen=True)
class FleetWork:
    """All work of the span by workload and pool, what costs most first; GPUs rented by the hour by pool."""

    span: MoveSpan
    cells: tuple[WorkCell, ...]
    rented: Mapping[int, Mapping[datetime, float]] = field(default_factory=dict)
    rented_price: Mapping[int, float] = field(default_factory=dict)

    @property
    def addressable_micros(self) -> int:
        """Return the cost of a month of all GPUs that are paid by the hour, held by work or not, as far as it is priced."""
        if not self.span.weeks:
            return 0
        begins = self.span.window.starts_at
        paid = sum(
            gpus * self.rented_price.get(pool_id, 0.0)
            for pool_id, hours in self.rented.items()
            for hour, gpus in hours.items()
            if hour >= begins
        )
        return monthly(paid, self.span.hours)

    def monthly(self, cells: Sequence[WorkCell]) -> int:
        """Return the cost of these cells in a month at the margin."""
        return monthly(sum(cell.addressable_micros for cell in cells), self.span.hours)


def move_week(at: datetime) -> date:
    """The first local day of the week that a moment is in."""
    return first_day_of_week(local_day(at, organisation().zone))


def first_day_of_week(day: date) -> date:
    """The first day of its week, as the organisation's weeks begin."""
    return day - timedelta(days=(day.isoweekday() - organisation().week_starts_on) % 7)


def has_whole_week(week: date) -> bool:
    """Whether the ledger has anything of the first day of the week before: then there is something to look at."""
    before = week - WEEK
    zone = organisation().zone
    return bool(bought_hours(first_hour(before, zone), first_hour(before + DAY, zone)))


def fleet_work(week: date) -> FleetWork:
    """Return the work that ran in the WEEKS before a week; only whole ones that the ledger has from their first hour."""
    zone = organisation().zone
    windows = [
        Window("", week - WEEK * (back + 1), week - WEEK * back, zone)
        for back in reversed(range(WEEKS))
    ]
    bought = bought_hours(windows[0].starts_at, windows[-1].ends_at)
    begins = min((hour.hour for hour in bought), default=windows[-1].ends_at)
    span = MoveSpan(week, tuple(window for window in windows if window.starts_at >= begins))
    hours = rented_hours(bought, pools())
    cells = _work_cells(span, hours) if span.weeks else []
    cells.sort(key=lambda cell: (-cell.addressable_micros, cell.key))
    return FleetWork(span, tuple(cells), hours.rented, hours.prices)


def _work_cells(span: MoveSpan, hours: RentedHours) -> list[WorkCell]:
    """Shared costs and idle that is shared out are in none: leaving saves neither."""
    charged: dict[tuple[int, int], list[WorkWeek]] = {}
    unpriced: dict[tuple[int, int], int] = defaultdict(int)
    known_work, known_pools = workloads(), pools()
    for place, window in enumerate(span.weeks):
        question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
        for row in explore(question.of(kind=[str(ChargeKind.NODE_HOUR)])).rows:
            workload_id, pool_id = (key.value for key in row.keys)
            if workload_id not in known_work or pool_id not in known_pools:
                continue
            key = int(str(workload_id)), int(str(pool_id))
            of_key = charged.setdefault(key, [WorkWeek(0.0, 0.0) for _ in span.weeks])
            of_key[place] = WorkWeek(row.sums.micros or 0, row.sums.gpu_milliseconds / HOUR_MS)
            unpriced[key] += row.sums.unpriced_milliseconds
    cells = []
    prices = {
        pool_id: [hours.price_in(pool_id, week.starts_at, week.ends_at) for week in span.weeks]
        for pool_id in {key[1] for key in charged}
    }
    for key, weeks in charged.items():
        pool = known_pools[key[1]]
        if pool.counts_cores:
            continue
        margin = hours.margin_of(pool.id)
        cells.append(
            WorkCell(
                known_work[key[0]],
                pool,
                tuple(map(margin.week_of, weeks, prices[pool.id])),
                round(sum(week.micros for week in weeks)),
                unpriced[key],
                margin.part,
                margin.released_to,
            )
        )
    return cells
