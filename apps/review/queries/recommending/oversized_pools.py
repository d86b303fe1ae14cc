"""Pools with more machines than what runs there and waits for them needs, packed onto as few as do."""

from dataclasses import dataclass
from datetime import datetime
from math import floor

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.presence import present_parts
from apps.economics.moves.saving import MONTH_HOURS
from apps.economics.moves.spare_machines import (
    AS_GOOD,
    HEADROOM,
    best_plan,
    gpus_of_machines,
    level_above,
    level_below,
    machines_within,
    packed_machines,
    scales,
)
from apps.ledger.queries.pool_hours import PoolUse
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.pool_capacity import (
    LAST_HOURS,
    PoolCapacity,
    pass_over_pool,
    pool_capacities,
    why_no_machines,
)
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector
from apps.show.amounts import counted

KIND = "pool_too_large"
EFFORT_HOURS = 8
"""To drain machines and have jobs packed: ours, not measured."""
COMPUTED = (
    "Machines beyond those that do in all but one hour of a hundred, as each job's GPUs on a machine and what waits are packed largest first, and beyond a tenth more GPUs"
    " than are asked for × what a machine-hour cost that is paid by the hour; the ends are 1.28 standard errors over the weeks below and above the mean"
)


@dataclass(frozen=True, slots=True)
class OversizedPool:
    """A pool, the machines that do for it, those that are spare with their GPUs, and for how many of these GPUs something is paid no more, hour by hour."""

    capacity: PoolCapacity
    needed: int
    spare: int
    gpus: float
    paid: tuple[float, ...]

    @property
    def freed_month(self) -> float:
        """GPU-hours on spare machines that are paid anyway."""
        left = self.gpus * len(self.paid) - sum(self.paid)
        return left * MONTH_HOURS / len(self.paid)


@weekly_detector(KIND, "pools of GPUs")
def detect_oversized_pools(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every pool; those whose jobs and queue would fit on fewer machines, whoever pays for them."""
    for capacity in pool_capacities(work.span):
        why = why_no_machines(capacity)
        if not why and scales(capacity.hours):
            why = "it scales with what it is asked for"
        pool = None if why else _oversized(capacity)
        if pool is None or pool.spare < 1:
            pass_over_pool(
                detected, capacity, why or "what runs and waits there needs its machines"
            )
        elif why := _why_by_itself(pool):
            pass_over_pool(detected, capacity, why)
        else:
            detected.propose(_proposal_of(pool))


def _oversized(capacity: PoolCapacity) -> OversizedPool:
    """By the machines that it has at the end; what is out of service, or cut off, no job could have: it is nothing that stands."""
    sizes = max((use.sizes for use in capacity.used[-LAST_HOURS:]), key=sum)
    largest = max(sizes, default=1.0)
    needed = packed_machines([_pieces(capacity, use, largest) for use in capacity.used], sizes)
    lost_parts = present_parts([use.gpus for use in capacity.used])
    usable = [
        machines_within(sizes, use.held + use.unallocated - lost)
        for use, lost in zip(capacity.used, lost_parts, strict=True)
    ]
    spare = floor(level_below(usable) + 1e-9) - needed
    gpus = gpus_of_machines(sizes, float(spare))
    paid = tuple(min(gpus, saved) for saved in capacity.saved_by_hour)
    return OversizedPool(capacity, needed, spare, gpus, paid)


def _pieces(capacity: PoolCapacity, use: PoolUse, largest: float) -> list[float]:
    """Return the pieces that jobs held on a machine, and what waited, of which whole machines are filled first."""
    waited = capacity.queued.get(use.hour, 0.0)
    full = int(waited // largest)
    return [*use.pieces, *[largest] * full, waited - full * largest]


def _why_by_itself(pool: OversizedPool) -> str:
    """Where about as many machine-hours stand with nothing on them, that is said by itself: nothing needs to be packed."""
    plan = best_plan(pool.capacity.hours)
    is_same = plan is not None and (
        sum(pool.capacity.given_gpus(plan.hours)) >= AS_GOOD * sum(pool.paid) > 0
    )
    return "its spare machines have nothing on them: that is looked at by itself" if is_same else ""


def _proposal_of(pool: OversizedPool) -> RecommendationProposal:
    capacity, spend = pool.capacity, pool.capacity.spend_micros
    name, days = capacity.pool.name, len(capacity.hours) // 24
    asked_gpus = level_above([use.held for use in capacity.used])
    most = max(use.held + capacity.queued.get(use.hour, 0.0) for use in capacity.used)
    freed = pool.freed_month
    return RecommendationProposal(
        key=str(capacity.pool.id),
        title=f"Make {name} smaller by {counted(pool.spare, 'machine')}: {pool.needed} do for what it is asked for",
        subject=name,
        team_id=capacity.pool.owner_team_id,
        workload_id=None,
        pool_id=capacity.pool.id,
        spend_micros=spend,
        saving=capacity.saving_of(pool.paid).capped(spend),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.MEDIUM,
        risk_reason="jobs are packed onto fewer machines; those that are spread now are moved",
        why=f"In 99 hours of 100 at most {asked_gpus:,.0f} of its {capacity.used[-1].gpus:,.0f} GPUs were held, spread over its machines.",
        computed=COMPUTED,
        cells=frozenset([capacity.cell, *capacity.released_cells]),
        evidence=(
            RecommendationEvidence(
                "GPUs held and waited for, in 99 hours of 100 at most",
                f"{asked_gpus:,.1f}",
                reverse("fleet"),
            ),
            RecommendationEvidence(
                "Machines that do for them", f"{pool.needed}, with {HEADROOM - 1:.0%} of headroom"
            ),
        ),
        doubts=(
            f"looked for more than that in the last {days} days, held and waiting: at most {most:,.0f} GPUs, on {pool.needed} machines of {capacity.of_machine:,.0f}",
            f"looked for jobs that waited there: {sum(capacity.queued.values()):,.0f} GPU-hours",
        ),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=freed if freed >= MONTH_HOURS / 10 else None,
        baseline={
            "machines": pool.spare,
            "needed": pool.needed,
            "machine_hour_micros": capacity.price,
            "paid_by_hour": sum(pool.paid) / (pool.gpus * len(pool.paid)),
            **capacity.released_baseline(pool.paid),
        },
    )
