"""Services that hold more replicas than their load needs: fewer, by hours of the week, or with the load."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean
from urllib.parse import urlencode

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.presence import present_parts
from apps.economics.moves.replicas import ServiceHour, replica_size, spare_replicas
from apps.economics.moves.saving import (
    WEEK_HOURS,
    SavingRange,
    month_of_weeks,
    sums_by_week,
)
from apps.economics.moves.shrinking import MOST_WORKED
from apps.economics.moves.spare_machines import SparePlan, SpareWay, best_plan, level_above
from apps.economics.serving import SERVICE_KINDS
from apps.ledger.queries.work_hours import WorkHour, work_hours
from apps.placement.queries.moves.work import FleetWork, MoveSpan
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.pool_capacity import (
    LEAST_HOURS,
    TOO_YOUNG,
    PlacedHour,
    places_from,
)
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.slot_words import describe_slots
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import (
    LEAST_FREED,
    LITTLE_FREED,
    NO_PRICE,
    WorkloadTotals,
    workload_totals,
)
from apps.show.amounts import counted

KIND = "shrink_work"
EFFORT_HOURS = {
    SpareWay.GIVE_BACK: 4,
    SpareWay.FLOOR: 4,
    SpareWay.SCHEDULE: 8,
    SpareWay.SCALE: 16,
}
"""To run fewer of it; to set its minimum, a schedule, or scaling: ours, not measured."""
COMPUTED = (
    f"Replicas beyond those that would be active at most {MOST_WORKED:.0%} of each hour, as far as this way would have let go of them, in GPU-hours of a month × the marginal"
    " price of one; the ends are 1.28 standard errors over the weeks below and above the mean"
)
NO_WAY = "its load needs the replicas that it holds: no way to hold fewer was found"
NOTHING_HELD = "what it held hour by hour is not known"


@dataclass(frozen=True, slots=True)
class SpareService:
    """A service, its hours, GPUs of one replica, and the way to hold fewer."""

    whole: WorkloadTotals
    hours: tuple[ServiceHour, ...]
    size: float
    plan: SparePlan

    @property
    def gpu_hours(self) -> list[float]:
        """That this way lets go of, by week."""
        return [amount for amount, _ in self._weeks]

    @property
    def _weeks(self) -> list[tuple[float, int]]:
        spare_gpus = (hour * self.size for hour in self.plan.hours)
        return sums_by_week((hour.week for hour in self.hours), spare_gpus)

    @property
    def saving(self) -> SavingRange:
        """A month of what of it is paid by the hour; a part of a week weighs as its hours."""
        return month_of_weeks(self._weeks, self.whole.price * self.whole.paid_by_hour)

    @property
    def freed(self) -> float | None:
        """GPU-hours a month for others, of those that are paid anyway."""
        freed = self.whole.freed(sum(self.gpu_hours) * WEEK_HOURS / len(self.hours))
        return freed if freed is not None and freed >= LEAST_FREED else None


@weekly_detector(KIND, "services")
def detect_shrinkable(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every service; those that hold more replicas than their load needs, whatever they return."""
    wholes = workload_totals(work, tuple(SERVICE_KINDS))
    of_work = _hours_of(work.span, [service_work.workload.id for service_work in wholes])
    for whole_work in wholes:
        hours = of_work.get(whole_work.workload.id, ())
        size = replica_size(hours)
        is_young = len(hours) < LEAST_HOURS
        plan = best_plan(spare_replicas(hours, size)) if size and not is_young else None
        service = SpareService(whole_work, tuple(hours), size, plan) if plan else None
        if service is None:
            why = (TOO_YOUNG if is_young else NO_WAY) if size else NOTHING_HELD
            detected.pass_over(why, str(whole_work.workload.id))
        elif whole_work.paid_by_hour and not whole_work.price:
            detected.pass_over(NO_PRICE, str(whole_work.workload.id))
        elif not whole_work.paid_by_hour and service.freed is None:
            detected.pass_over(LITTLE_FREED, str(whole_work.workload.id))
        else:
            detected.propose(_proposal_of(service, work))


def _hours_of(span: MoveSpan, workload_ids: Sequence[int]) -> Mapping[int, list[ServiceHour]]:
    """By workload, from its first hour on; hours in which it held nothing too."""
    window = span.window
    hours_by_workload: dict[int, dict[datetime, WorkHour]] = defaultdict(dict)
    for work_hour in work_hours(workload_ids, window.starts_at, window.ends_at):
        hours_by_workload[work_hour.workload_id][work_hour.hour] = work_hour
    service_hours = {}
    for workload_id, hours in hours_by_workload.items():
        own_hours = [
            _service_hour(hours.get(place.hour), place) for place in places_from(min(hours), span)
        ]
        # What it holds no more at the end cannot be let go of.
        lost_parts = present_parts([service_hour.held for service_hour in own_hours])
        service_hours[workload_id] = [
            replace(service_hour, held=service_hour.held - lost)
            for service_hour, lost in zip(own_hours, lost_parts, strict=True)
        ]
    return service_hours


def _service_hour(work_hour: WorkHour | None, place: PlacedHour) -> ServiceHour:
    if work_hour is None:
        return ServiceHour(place.week, place.slot, 0.0, 0.0, 0.0)
    return ServiceHour(place.week, place.slot, work_hour.held, work_hour.busy, work_hour.portion)


def _proposal_of(service: SpareService, work: FleetWork) -> RecommendationProposal:
    whole_work, plan = service.whole, service.plan
    workload, effort = whole_work.workload, EFFORT_HOURS[plan.way]
    return RecommendationProposal(
        key=str(workload.id),
        title=_title(service),
        subject=workload.name,
        team_id=workload.team_id,
        workload_id=workload.id,
        pool_id=whole_work.pool_id,
        spend_micros=whole_work.spend_micros,
        saving=service.saving.capped(whole_work.spend_micros),
        effort_hours=effort,
        risk=DisruptionClass.MEDIUM,
        risk_reason="answers wait where its load rises faster than replicas start",
        why=_why(service),
        computed=COMPUTED,
        cells=whole_work.money_cells,
        evidence=_evidence_of(service, work),
        doubts=_against(service),
        one_time_micros=effort_cost(effort),
        frees_gpu_hours=service.freed,
        baseline={
            "way": str(plan.way),
            "replicas": plan.machines,
            "gpus_of_replica": service.size,
            "gpu_hours_week": fmean(service.gpu_hours),
            "paid_by_hour": whole_work.paid_by_hour,
            "gpu_hour_micros": whole_work.price,
        },
    )


def _title(service: SpareService) -> str:
    name, replicas = service.whole.workload.name, counted(service.plan.machines, "replica")
    match service.plan.way:
        case SpareWay.GIVE_BACK:
            return f"Run {name} with {replicas} fewer: its load at p99 does not need them"
        case SpareWay.FLOOR:
            return f"Lower the minimum of {name} by {replicas}"
        case SpareWay.SCHEDULE:
            return f"Run {name} with up to {replicas} fewer at hours that never need them"
    return f"Scale {name} with its load: up to {replicas} are not needed"


def _why(service: SpareService) -> str:
    hours = service.hours
    busy, most_held = (
        level_above([hour.busy for hour in hours]),
        max(hour.held for hour in hours),
    )
    sentence = (
        f"It holds up to {most_held:,.0f} GPUs; in 99 hours of 100 at most {busy:,.1f} of them were active, which with headroom takes"
        f" {busy / MOST_WORKED:,.1f}."
    )
    if service.plan.way is SpareWay.SCHEDULE:
        spare_hours = zip(hours, service.plan.hours, strict=True)
        slots = {hour.slot for hour, given_back in spare_hours if given_back}
        sentence += f" These hours of the week: {describe_slots(slots)}."
    return sentence


def _against(service: SpareService) -> tuple[str, ...]:
    hours, plan = service.hours, service.plan
    days = len(hours) // 24
    most = max(hour.busy for hour in hours)
    doubts = [
        f"looked for the busiest hour of the last {days} days: {most:,.1f} GPUs were active in it"
    ]
    if plan.tried:
        doubts.append(
            f"looked for hours that needed what goes, each week by a plan made of the others: {plan.short:,} of {plan.tried:,}"
        )
    if plan.way is SpareWay.SCALE:
        doubts.append(f"{plan.wakes:,} times replicas would have had to start again")
    return tuple(doubts)


def _evidence_of(service: SpareService, work: FleetWork) -> tuple[RecommendationEvidence, ...]:
    window = work.span.window
    last = urlencode({"window": f"{window.first_day}/{window.end_day}"})
    page = f"{reverse('costs-workload', args=[service.whole.workload.id])}?{last}"
    return (
        RecommendationEvidence(
            "GPU-hours that this lets go of, week by week",
            ", ".join(f"{hours:,.0f}" for hours in service.gpu_hours),
            page,
        ),
        RecommendationEvidence("GPUs of a replica", f"{service.size:g}", page),
        RecommendationEvidence(
            "Paid by the hour", f"{service.whole.paid_by_hour:.0%} of what its GPUs are charged"
        ),
    )
