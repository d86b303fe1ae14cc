"""Machines rented by the hour that no job is on: to be given back, by a schedule, by scaling, or by a lower minimum."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.accounts.queries import organisation
from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import MONTH_HOURS, WEEK_HOURS
from apps.economics.moves.spare_machines import SparePlan, SpareWay, best_plan
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.pool_capacity import (
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
from apps.review.queries.recommending.slot_words import describe_slots
from apps.review.queries.recommending.weeks import weekly_detector
from apps.show.amounts import counted

UNALLOCATED, FLOOR = "unallocated_nodes", "autoscaling_floor"
LOOKED_AT = "pools of GPUs"
EFFORT_HOURS: Mapping[SpareWay, int] = {
    SpareWay.GIVE_BACK: 2,
    SpareWay.FLOOR: 1,
    SpareWay.SCHEDULE: 4,
    SpareWay.SCALE: 16,
}
"""To end machines; to lower a number; to set a schedule; to have a pool follow its queue: ours, not measured."""
COMPUTED = (
    "Machine-hours of the last weeks in which nothing was on a machine that is paid by the hour, as far as this way would have given them back × what a"
    " machine-hour cost; of machines that a commitment covers × what alike GPUs cost that jobs held on demand in the same hour, which it would cover instead; the ends are 1.28 standard errors over the weeks below and above the mean"
)
PAID_ANYWAY = "its machines are owned or reserved: they are paid whether they are used or not"
COVERED = "commitments cover its machines: they are paid whether they are used or not"
NEEDED = "nothing stands on a machine of it for long enough: what is free is its headroom"
OTHER_KIND = {
    UNALLOCATED: "what stands in it is its minimum: that is looked at by itself",
    FLOOR: "it does not scale, or its minimum is needed",
}


@dataclass(frozen=True, slots=True)
class _SparePool:
    capacity: PoolCapacity
    plan: SparePlan

    @property
    def subject(self) -> str:
        return self.capacity.pool.name

    @property
    def machines(self) -> str:
        return counted(self.plan.machines, "machine")


@weekly_detector(UNALLOCATED, LOOKED_AT)
def detect_unallocated_nodes(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every pool; machines paid by the hour with nothing on them are to be given back, stopped by a schedule, or scaled."""
    _detect(detected, work, is_floor=False)


@weekly_detector(FLOOR, LOOKED_AT)
def detect_needless_floors(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every pool; of one that scales, the part of its minimum that is never needed."""
    _detect(detected, work, is_floor=True)


def _detect(detected: DetectedKind, work: FleetWork, *, is_floor: bool) -> None:
    for capacity in pool_capacities(work.span):
        why = why_no_machines(capacity) or _why_paid_anyway(capacity)
        plan = None if why else best_plan(capacity.hours)
        if why or plan is None:
            pass_over_pool(detected, capacity, why or NEEDED)
        elif (plan.way is SpareWay.FLOOR) != is_floor:
            pass_over_pool(detected, capacity, OTHER_KIND[FLOOR if is_floor else UNALLOCATED])
        else:
            detected.propose(_proposal_of(_SparePool(capacity, plan)))


def _why_paid_anyway(capacity: PoolCapacity) -> str:
    if capacity.is_by_hour or capacity.released.gpus:
        return ""
    return COVERED if any(use.committed for use in capacity.used) else PAID_ANYWAY


def _proposal_of(spare_pool: _SparePool) -> RecommendationProposal:
    capacity, plan = spare_pool.capacity, spare_pool.plan
    spend = capacity.spend_micros
    effort = EFFORT_HOURS[plan.way]
    return RecommendationProposal(
        key=str(capacity.pool.id),
        title=_title(spare_pool),
        subject=spare_pool.subject,
        team_id=capacity.pool.owner_team_id,
        workload_id=None,
        pool_id=capacity.pool.id,
        spend_micros=spend,
        saving=capacity.saving_of(capacity.given_gpus(plan.hours)).capped(spend),
        effort_hours=effort,
        risk=DisruptionClass.LOW if plan.way is SpareWay.FLOOR else DisruptionClass.MEDIUM,
        risk_reason="what comes at once waits for a machine to start, or for capacity where none is to be had",
        why=_why(spare_pool),
        computed=COMPUTED,
        cells=_cells_of(capacity),
        evidence=_evidence_of(spare_pool),
        doubts=_against(spare_pool),
        one_time_micros=effort_cost(effort),
        baseline={
            "way": str(plan.way),
            "machines": plan.machines,
            "machine_hours_week": plan.total * WEEK_HOURS / len(plan.hours),
            "machine_hour_micros": capacity.price,
            "paid_by_hour": 1.0,
            **capacity.released_baseline(capacity.given_gpus(plan.hours)),
        },
    )


def _cells_of(capacity: PoolCapacity) -> frozenset[str]:
    """Return the cells that nobody holds; where commitments cover a part, work given back frees the same machines paid by the hour."""
    shared = [f"pool:{capacity.pool.id}"] if capacity.is_covered_in_part else []
    return frozenset([capacity.cell, *shared, *capacity.released_cells])


def _title(spare_pool: _SparePool) -> str:
    match spare_pool.plan.way:
        case SpareWay.GIVE_BACK:
            is_seldom = (
                spare_pool.plan.total < spare_pool.plan.machines * len(spare_pool.plan.hours) - 1e-6
            )
            when = "in 99 hours of 100 nothing is" if is_seldom else "nothing is ever"
            return f"Give back {spare_pool.machines} of {spare_pool.subject}: {when} on them"
        case SpareWay.FLOOR:
            return f"Lower the minimum of {spare_pool.subject} by {spare_pool.machines}"
        case SpareWay.SCHEDULE:
            return f"Stop up to {spare_pool.machines} of {spare_pool.subject} at hours when nothing is on them"
    if max(hour.nodes - hour.free for hour in spare_pool.capacity.hours) <= 0 or _goes_to_zero(
        spare_pool
    ):
        return f"Scale {spare_pool.subject} to zero while nothing is on it"
    return f"Scale {spare_pool.subject} down when machines are free: up to {spare_pool.machines}"


def _goes_to_zero(spare_pool: _SparePool) -> bool:
    return any(
        given_back and given_back >= hour.nodes - 0.5
        for given_back, hour in zip(spare_pool.plan.hours, spare_pool.capacity.hours, strict=True)
    )


def _why(spare_pool: _SparePool) -> str:
    capacity, plan = spare_pool.capacity, spare_pool.plan
    free = sum(hour.free for hour in capacity.hours)
    month = plan.total * MONTH_HOURS / len(plan.hours)
    sentence = (
        f"In {sum(hour.free > 0 for hour in capacity.hours):,} of {len(capacity.hours):,} hours nothing was on a machine or more of it: {free:,.0f} machine-hours,"
        f" of which this gives back {month:,.0f} a month."
    )
    if plan.way is SpareWay.SCHEDULE:
        slots = {
            hour.slot
            for hour, given_back in zip(capacity.hours, plan.hours, strict=True)
            if given_back
        }
        sentence += f" These hours of the week: {describe_slots(slots)}."
    return sentence


def _against(spare_pool: _SparePool) -> tuple[str, ...]:
    """The hours in which it would have left too few, as a plan made without that week; and what waited there."""
    capacity, plan = spare_pool.capacity, spare_pool.plan
    days = len(capacity.hours) // 24
    if plan.way is SpareWay.SCALE:
        doubts = [
            f"looked for work that came back to machines given back, in the last {days} days: {plan.wakes:,} times, each waits for one to start"
        ]
    elif plan.tried:
        doubts = [
            f"looked for hours that needed what is given back, in the last {days} days, each week by a plan made of the others: {plan.short:,} of {plan.tried:,}"
        ]
    else:
        doubts = ["only one week is known: nothing shows that the next one is like it"]
    waited = sum(capacity.queued.values())
    doubts.append(f"looked for jobs that waited there meanwhile: {waited:,.0f} GPU-hours")
    return tuple(doubts)


def _evidence_of(spare_pool: _SparePool) -> tuple[RecommendationEvidence, ...]:
    capacity, plan = spare_pool.capacity, spare_pool.plan
    page = reverse("fleet")
    weeks = ", ".join(f"{hours:,.0f}" for hours in capacity.by_week(plan.hours))
    evidence = [
        RecommendationEvidence("Machine-hours that this gives back, week by week", weeks, page),
        RecommendationEvidence(
            "Machine-hours with nothing on them, week by week",
            ", ".join(
                f"{hours:,.0f}"
                for hours in capacity.by_week([hour.free for hour in capacity.hours])
            ),
            page,
        ),
    ]
    covered = sum(min(use.free_gpus, use.committed) for use in capacity.used)
    if capacity.released.gpus:
        hours, price = sum(capacity.released.gpus.values()), capacity.released.price / MICROS
        evidence.append(
            RecommendationEvidence(
                "GPU-hours that jobs held on demand beside it, which its commitments would cover instead",
                f"{hours:,.0f}, at {price:,.4f} {organisation().currency}",
            )
        )
    elif covered:
        evidence.append(
            RecommendationEvidence(
                "GPU-hours with nothing on them that commitments cover, paid anyway",
                f"{covered:,.0f}",
            )
        )
    if capacity.price:
        evidence.append(
            RecommendationEvidence(
                "A machine-hour",
                f"{capacity.price / MICROS:,.4f} {organisation().currency}",
                is_price=True,
            )
        )
    return tuple(evidence)
