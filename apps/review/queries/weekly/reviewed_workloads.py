"""Workloads in a week's review: what each cost, wasted and returned, how good it was, and its verdict."""

from apps.economics.portfolio_verdict import VerdictThresholds
from apps.review.queries.weekly.content import ReviewedWorkload, WeekCost, WorkloadWaste
from apps.review.queries.weekly.judged_workloads import judged_workload, shown_workloads
from apps.review.queries.weekly.judging import verdict_thresholds, workload_verdict
from apps.review.queries.weekly.output import week_units
from apps.review.queries.weekly.week_costs import PART_KEYS, observed_waste_micros
from apps.review.queries.weekly.week_reading import WeekRead
from apps.workloads.queries import WorkloadFact


def reviewed_workloads(read: WeekRead) -> tuple[ReviewedWorkload, ...]:
    """Every workload with any line in eight weeks, or with a stated value; the dearest first."""
    previous = () if read.previous is None else read.previous.content.workloads
    frozen = {workload.workload_id: workload for workload in previous}
    limits = verdict_thresholds()
    reviewed = [
        _reviewed(read, fact, frozen.get(fact.id), limits) for fact in shown_workloads(read)
    ]
    return tuple(
        sorted(reviewed, key=lambda workload: (-(workload.cost.micros or 0), workload.workload_id))
    )


def _reviewed(
    read: WeekRead,
    fact: WorkloadFact,
    before: ReviewedWorkload | None,
    limits: VerdictThresholds,
) -> ReviewedWorkload:
    sums = read.costs.workloads.get(fact.id, {})
    units, unit_trend = week_units(read.outputs, fact.id, read.costs)
    judged = judged_workload(read, fact.id)
    return ReviewedWorkload(
        workload_id=fact.id,
        name=fact.name,
        kind=fact.kind,
        team_id=fact.team_id,
        team=read.team_names[fact.team_id],
        cost=read.costs.workload_costs.get(
            fact.id, WeekCost(read.costs.cost_of(sums, read.week.first_day))
        ),
        trend=read.costs.trend(sums),
        units=units,
        unit_trend=unit_trend,
        waste=_waste(read, fact.id),
        verdict=workload_verdict(judged, limits),
        returned=judged.returned,
        scores=judged.scores,
        frozen_before_micros=None if before is None else before.cost.micros,
        verdict_before="" if before is None else before.verdict.verdict,
    )


def _waste(read: WeekRead, workload_id: int) -> WorkloadWaste:
    waste = read.costs.workload_waste.get(workload_id)
    sums = read.costs.workloads.get(workload_id, {}).get(read.week.first_day)
    micros = observed_waste_micros(waste, () if sums is None else (sums,))
    cost = None if sums is None else sums.micros
    return WorkloadWaste(
        parts={} if waste is None else {PART_KEYS[part]: of for part, of in waste.parts.items()},
        micros=micros,
        ratio=round(micros / cost, 6) if micros is not None and cost and cost > 0 else None,
        diverged_micros=read.diverged.week_of(workload_id),
        diverged_runs=read.diverged.runs.get(workload_id, ()),
    )
