"""A workload's work on all pools together: what of it is paid by the hour, and at which price."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.economics.moves.saving import MONTH_HOURS, WEEK_HOURS, monthly
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.placement.queries.moves.work import FleetWork, WorkCell
from apps.workloads.queries import WorkloadFact

LEAST_FREED = MONTH_HOURS / 10
"""GPU-hours a month: a tenth of a GPU."""
NO_PRICE = "what its GPUs cost by the hour is not known"
PAID_ANYWAY = "its GPUs are owned, reserved or committed: they are paid whether it runs or not"
LITTLE_FREED = "its GPUs are paid anyway, and less than a tenth of one would be freed"


@dataclass(frozen=True, slots=True)
class WorkloadTotals:
    """All cells of one workload. `paid_by_hour` is the part of what it is charged that is paid by the hour."""

    cells: tuple[WorkCell, ...]
    spend_micros: int

    @property
    def workload(self) -> WorkloadFact:
        """The workload that the work is of."""
        return self.cells[0].workload

    @property
    def paid_by_hour(self) -> float:
        """From 0 to 1; where nothing has a price, by the GPU time of the pool."""
        charged = sum(cell.charged_micros for cell in self.cells)
        if not charged:
            return max(cell.paid_by_hour for cell in self.cells)
        # What a commitment would cover elsewhere may cost more than what it covers here.
        return min(1.0, sum(cell.addressable_micros for cell in self.cells) / charged)

    @property
    def weeks_micros(self) -> list[float]:
        """The amounts that are paid by the hour, week by week."""
        return [
            sum(week.micros for week in weeks)
            for weeks in zip(*(cell.weeks for cell in self.cells), strict=True)
        ]

    @property
    def price(self) -> float:
        """Micro-units of a GPU-hour that is paid by the hour; 0 without any."""
        hours = sum(cell.gpu_hours for cell in self.cells)
        return sum(cell.addressable_micros for cell in self.cells) / hours if hours else 0.0

    @property
    def pool_id(self) -> int | None:
        """Of work on one pool alone."""
        pools = {cell.pool.id for cell in self.cells}
        return pools.pop() if len(pools) == 1 else None

    @property
    def money_cells(self) -> frozenset[str]:
        """The dollars that all of it is."""
        return frozenset().union(*(cell.money_cells for cell in self.cells))

    def freed(self, hours_week: float) -> float | None:
        """GPU-hours a month that others could have of so many a week that are saved, on GPUs that are paid anyway."""
        freed = hours_week * (1 - self.paid_by_hour) * MONTH_HOURS / WEEK_HOURS
        return freed if freed >= LEAST_FREED else None


def charged_for_calls(work: FleetWork) -> Mapping[int, int]:
    """Return the charges of workloads for calls to model APIs in the weeks, in micro-units of a month."""
    question = CubeQuestion(work.span.window, ("workload",), is_bounded=False)
    answer = explore(question.of(kind=[str(ChargeKind.API)]))
    return {
        row.keys[0].value: monthly(row.sums.micros, work.span.hours)
        for row in answer.rows
        if isinstance(row.keys[0].value, int) and row.sums.micros
    }


def workload_totals(work: FleetWork, kinds: Sequence[str] | None = None) -> list[WorkloadTotals]:
    """Every workload of these kinds (None: of any) that worked in the weeks, what costs most first."""
    cells_by_workload: dict[int, list[WorkCell]] = {}
    for cell in work.cells:
        if kinds is None or cell.workload.kind in kinds:
            cells_by_workload.setdefault(cell.workload.id, []).append(cell)
    return [
        WorkloadTotals(tuple(cells), work.monthly(cells)) for cells in cells_by_workload.values()
    ]
