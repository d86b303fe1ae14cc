"""The waste that the ledger has in the weeks of a look: by what it is, of what, and how it was paid."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.economics.moves.saving import monthly
from apps.economics.moves.spare_machines import best_plan, spare_plans
from apps.economics.purchase import PAID_BY_THE_HOUR, PurchaseOption
from apps.economics.waste_reasons import WasteReason, rare_and_headroom
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.commitments import commitment_use
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.kinds import ChargeKind
from apps.ledger.queries.paid_states import committed_shares
from apps.placement.queries.moves.work import FleetWork, move_week
from apps.review.queries.recommending.pool_capacity import PoolCapacity, pool_capacities
from apps.review.queries.recommending.proposal import commitment_cell, unheld_cell
from apps.review.queries.recommending.weeks import stretches_of, work_of_week
from apps.unit_economics.queries.waste import NOT_HELD, WastePart, waste_by
from apps.workloads.queries import WorkloadFact, workloads

UNUSED_COMMITMENT = "unused_commitment"
UNUSED_OWNED = "unused_owned"


@dataclass(frozen=True, slots=True)
class WasteCell:
    """Waste of one sort, of one workload on a pool, or of what nobody holds of it: micro-units of a month of 730 h.

    `part` is a WastePart's name in lower case, or one of the two above; `money_cell` the dollars that it is, as
    recommendations name them. `committed` of them are covered by commitments. `causes` are what else its hours tell of why it stood, at
    most so many: they are taken in their order.
    """

    part: str
    money_cell: str
    micros: int
    pool: PoolFact | None = None
    workload: WorkloadFact | None = None
    committed: int = 0
    is_gone: bool = False
    causes: tuple[tuple[WasteReason, int], ...] = ()

    @property
    def key(self) -> str:
        """One of its sort of its dollars."""
        return f"{self.part} {self.money_cell}"

    @property
    def option(self) -> str:
        """How its pool is bought; a commitment's own is none."""
        return self.pool.purchase_option if self.pool else ""

    @property
    def paid_anyway(self) -> tuple[tuple[WasteReason, int], ...]:
        """The part of the waste that is paid whatever is done, by reason."""
        if self.part == UNUSED_OWNED or self.option == PurchaseOption.OWNED:
            return ((WasteReason.OWNED, self.micros),)
        if self.part == UNUSED_COMMITMENT or self.option == PurchaseOption.RESERVED:
            return ((WasteReason.COMMITTED, self.micros),)
        return ((WasteReason.COMMITTED, self.committed),) if self.committed else ()


@dataclass(frozen=True, slots=True)
class DetectedWaste:
    """All of it, the days that it is of, and GPU-hours wasted of which nobody knows the price."""

    first_day: str
    end_day: str
    hours: int
    cells: tuple[WasteCell, ...]


def detect_waste(at: datetime) -> DetectedWaste | None:
    """Of the whole weeks before the one that a moment is in; None where the ledger has none."""
    work = work_of_week(move_week(at))
    if not work.span.weeks:
        return None
    window = work.span.window
    cells = (*_of_pools(work), *_of_commitments(work, at), *_of_owned(work))
    return DetectedWaste(
        window.first_day.isoformat(),
        window.end_day.isoformat(),
        work.span.hours,
        tuple(cell for cell in cells if cell.micros > 0),
    )


def _of_pools(work: FleetWork) -> Iterator[WasteCell]:
    window = work.span.window
    known_pools, known_work = pools(), workloads()
    shares = committed_shares(window.starts_at, window.ends_at)
    capacities = {
        pool_capacity.pool.id: pool_capacity for pool_capacity in pool_capacities(work.span)
    }
    short = _short_parts(work)
    question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
    unheld: dict[tuple[int, str], int] = defaultdict(int)
    question = question.of(kind=[str(ChargeKind.NODE_HOUR)])
    for (workload_id, pool_id), waste in waste_by(question).items():
        pool, workload = known_pools.get(pool_id), known_work.get(workload_id)
        if pool is None:
            continue
        for part, micros in waste.parts.items():
            amount = monthly(micros, work.span.hours)
            if workload is None and part in NOT_HELD:
                unheld[pool.id, part.name.lower()] += amount
                continue
            too_short = short.get((workload_id, pool_id)) if part is WastePart.HELD_IDLE else None
            yield WasteCell(
                part.name.lower(),
                f"{workload.id if workload else 0}:{pool.id}",
                amount,
                pool,
                workload,
                _committed(amount, pool, part, shares),
                causes=((WasteReason.TOO_SHORT, round(amount * too_short)),) if too_short else (),
            )
    for (pool_id, name), amount in unheld.items():
        yield _unheld_cell(known_pools[pool_id], name, amount, shares, capacities.get(pool_id))


def _unheld_cell(
    pool: PoolFact,
    name: str,
    amount: int,
    shares: Mapping[tuple[int, int], float],
    capacity: PoolCapacity | None,
) -> WasteCell:
    causes: tuple[tuple[WasteReason, int], ...] = ()
    committed = _committed(amount, pool, WastePart[name.upper()], shares)
    if capacity is not None and name == WastePart.UNALLOCATED.name.lower():
        parts = _unallocated_parts(capacity)
        causes = tuple((why, round((amount - committed) * part)) for why, part in parts)
    return WasteCell(
        name,
        unheld_cell(pool.id),
        amount,
        pool,
        None,
        committed,
        is_gone=capacity is not None and capacity.is_gone,
        causes=causes,
    )


def _unallocated_parts(capacity: PoolCapacity) -> Iterator[tuple[WasteReason, float]]:
    """Parts of what is unallocated in a pool, as its hours tell them."""
    used, size = capacity.used, capacity.of_machine
    total = sum(use.unallocated for use in used) or 1.0
    free, rested = sum(use.free_gpus for use in used), sum(use.rested_gpus for use in used)
    rare, headroom = rare_and_headroom(
        [use.nodes for use in used],
        [use.free_gpus / size for use in used],
        [use.rested_gpus / size for use in used],
    )
    yield WasteReason.GONE, capacity.gone_free / total
    yield WasteReason.PARTLY_HELD, max(0.0, 1 - free / total)
    yield WasteReason.TOO_SHORT, (free - rested + rare * size) / total
    plans = spare_plans(capacity.hours)
    if best_plan(capacity.hours) is None:
        yield WasteReason.TOO_LITTLE, max(plan.total for plan in plans) * size / total
    yield WasteReason.HEADROOM, headroom * size / total


def _short_parts(work: FleetWork) -> dict[tuple[int, int], float]:
    """Of what a workload held idle on a pool, the part that was no longer than an hour."""
    idle: dict[tuple[int, int], float] = defaultdict(float)
    after: dict[tuple[int, int], float] = defaultdict(float)
    for (workload_id, pool_id, _), stretch in stretches_of(work.span).items():
        idle[workload_id, pool_id] += stretch.idle
        after[workload_id, pool_id] += stretch.after_an_hour
    return {key: max(0.0, 1 - after[key] / hours) for key, hours in idle.items() if hours > 0}


def _committed(
    amount: int, pool: PoolFact, part: WastePart, shares: Mapping[tuple[int, int], float]
) -> int:
    """Return the part of an amount that commitments cover: by the state that it is, else as of all of the pool."""
    if pool.purchase_option not in PAID_BY_THE_HOUR:
        return 0
    return round(amount * shares.get((pool.id, int(part)), shares.get((pool.id, 0), 0.0)))


def _of_commitments(work: FleetWork, at: datetime) -> Iterator[WasteCell]:
    cuts = [work.span.window.starts_at, work.span.window.ends_at]
    use = commitment_use(cuts, at)
    pools_by_id = pools()
    for commitment_id, fact in use.commitments.items():
        unused = use.figures(commitment_id).unused_cost or 0
        pool = pools_by_id.get(fact.pool_id or 0)
        amount = monthly(unused, work.span.hours)
        yield WasteCell(UNUSED_COMMITMENT, commitment_cell(commitment_id), amount, pool)
    nameless = monthly(use.nameless_unused or 0, work.span.hours)
    yield WasteCell(UNUSED_COMMITMENT, "commitment:", nameless)


def _of_owned(work: FleetWork) -> Iterator[WasteCell]:
    question = CubeQuestion(work.span.window, ("pool",), is_bounded=False)
    pools_by_id = pools()
    for row in explore(question.of(kind=[str(ChargeKind.OWNED_UNUSED)])).rows:
        amount = monthly(row.sums.micros or 0, work.span.hours)
        pool_id = row.keys[0].value
        pool = pools_by_id.get(pool_id) if isinstance(pool_id, int) else None
        yield WasteCell(UNUSED_OWNED, f"owned:{pool.id if pool else ''}", amount, pool)
