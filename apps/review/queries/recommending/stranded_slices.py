"""GPUs that are cut into slices of a size that nobody asks for."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.urls import reverse

from apps.economics.hours import HOUR
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.queues import Room
from apps.economics.moves.saving import MONTH_HOURS, month_of_weeks
from apps.ledger.queries.slice_use import SliceUse
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.cut_gpus import part_of_gpu, slice_uses, unheld_slice_gpus
from apps.review.queries.recommending.pool_capacity import (
    PoolCapacity,
    is_within_reach,
    pool_capacities,
    why_no_machines,
)
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.queued_beside_idle import match_queues_with_idle
from apps.review.queries.recommending.queues import Queues, met_of
from apps.review.queries.recommending.weeks import weekly_detector

KIND = "stranded_mig"
EFFORT_HOURS = 2
"""To drain a GPU and cut it anew: ours, not measured."""
MOST_HELD = 0.05
"""Of the time of slices of one size: below it nobody asks for them."""
COMPUTED = (
    "Hours of slices of this size that no job held × the part of a GPU that each is. Where others waited meanwhile for the same GPUs and the pool is paid by the"
    " hour, what they waited for × what a GPU-hour cost is saved: it would not have to be rented"
)


@weekly_detector(KIND, "sizes of MIG slices of a pool")
def detect_stranded_slices(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every size of slices of every pool; those that hardly a job held are to be cut otherwise."""
    capacities = {
        pool_capacity.pool.id: pool_capacity for pool_capacity in pool_capacities(work.span)
    }
    # What would run on GPUs that stand needs no machine that is cut anew.
    queues = match_queues_with_idle(work.span).queues
    for use in slice_uses(work.span):
        capacity = capacities.get(use.pool_id)
        key = f"{use.pool_id}:{use.compute_slices}"
        part = part_of_gpu(use, capacity.pool if capacity else None)
        if capacity is None or part is None:
            detected.pass_over("how its GPUs can be cut is not known", key)
        elif why := why_no_machines(capacity):
            detected.pass_over(why, key)
        elif use.is_unclear:
            detected.pass_over("which slices its jobs held is not known", key)
        elif use.held_hours >= MOST_HELD * use.hours:
            detected.pass_over("jobs hold slices of this size", key)
        elif _freed_month(use, part, work) < MONTH_HOURS / 10:
            detected.pass_over("they are less than a tenth of a GPU", key)
        else:
            idle_gpus = _freed_month(use, part, work) / MONTH_HOURS
            met, queues = _met(capacity, capacities, queues, idle_gpus)
            detected.propose(_proposal_of(capacity, use, part, (met, work)))


def _freed_month(use: SliceUse, part: float, work: FleetWork) -> float:
    return unheld_slice_gpus(use, part, work.span) * MONTH_HOURS


def _proposal_of(
    capacity: PoolCapacity,
    use: SliceUse,
    part: float,
    machines: tuple[Mapping[datetime, float], FleetWork],
) -> RecommendationProposal:
    met_hours, work = machines
    pool, days, met = capacity.pool, work.span.hours // 24, sum(met_hours.values())
    freed = _freed_month(use, part, work)
    # Without any by the hour there is no price, and nothing that has to be rented.
    price = (capacity.price or 0.0) / capacity.of_machine
    spend = capacity.spend_micros
    saved = month_of_weeks(_weeks_of(met_hours, work), price).capped(round(freed * price))
    return RecommendationProposal(
        key=f"{pool.id}:{use.compute_slices}",
        title=f"Cut GPUs of {pool.name} otherwise: nobody takes their slices of {part:.0%} of a GPU",
        subject=pool.name,
        team_id=pool.owner_team_id,
        workload_id=None,
        pool_id=pool.id,
        spend_micros=spend,
        saving=saved.capped(spend),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="a GPU is drained before it is cut anew",
        why=f"{use.slices} slices of this size were held in {use.held_hours / use.hours:.1%} of their time.",
        computed=COMPUTED,
        cells=frozenset([capacity.cell]),
        evidence=_evidence_of(use),
        doubts=(
            f"looked for jobs that held such a slice, in the last {days} days: {use.held_hours:,.0f} of {use.hours:,.0f} hours",
            f"looked for jobs that waited for the same GPUs meanwhile, and would have fitted there: {met:,.0f} GPU-hours that no other recut serves",
        ),
        one_time_micros=effort_cost(EFFORT_HOURS),
        frees_gpu_hours=freed,
        baseline={
            "slices": use.slices,
            "compute_slices": use.compute_slices,
            "queued_gpu_hours": met,
        },
    )


def _weeks_of(met: Mapping[datetime, float], work: FleetWork) -> list[tuple[float, int]]:
    """Return what jobs waited for of each whole week, and its hours: how far weeks differ is the width of the saving."""
    return [
        (
            sum(gpus for hour, gpus in met.items() if week.starts_at <= hour < week.ends_at),
            (week.ends_at - week.starts_at) // HOUR,
        )
        for week in work.span.weeks
    ]


def _met(
    capacity: PoolCapacity,
    capacities: Mapping[int, PoolCapacity],
    queues: Queues,
    idle_gpus: float,
) -> tuple[dict[datetime, float], Queues]:
    """By hour GPU-hours that jobs waited for the same GPUs within reach and that so many would have served; the queues that are left.

    Which hours the slices stood in is not kept: they are taken to have stood alike in all.
    """
    rooms = {
        use.hour: Room(0.0, capacity.of_machine, idle_gpus, use.nodes) for use in capacity.used
    }
    hours, left = defaultdict[datetime, float](float), dict(queues)
    for pool_id, queue in sorted(queues.items()):
        waited = capacities.get(pool_id)
        if waited is not None and is_within_reach(waited.pool, capacity.pool):
            met, left[pool_id], rooms = met_of(queue, rooms)
            for hour, amount in met.items():
                hours[hour] += amount
    return hours, left


def _evidence_of(use: SliceUse) -> tuple[RecommendationEvidence, ...]:
    hours = f"{use.hours:,.0f}, {use.held_hours:,.0f}"
    return (
        RecommendationEvidence("Slices of this size", f"{use.slices}", reverse("fleet")),
        RecommendationEvidence("Hours in service, and held", hours, reverse("fleet")),
    )
