"""Workloads in a week's review: what each cost, wasted and returned, how good it was, and its verdict."""

from collections.abc import Sequence

from apps.economics.money import MICROS, sum_of_known
from apps.economics.portfolio_verdict import VerdictThresholds, WorkloadFacts
from apps.ledger.queries.cube import CubeSums
from apps.review.queries.weekly.content import (
    ReviewedScore,
    ReviewedWorkload,
    WeekCost,
    WorkloadReturn,
    WorkloadWaste,
)
from apps.review.queries.weekly.judging import JudgedWorkload, verdict_thresholds, workload_verdict
from apps.review.queries.weekly.output import returned, week_units
from apps.review.queries.weekly.week_costs import PART_KEYS, time_of, waste_known
from apps.review.queries.weekly.week_reading import ScorePairs, WeekRead
from apps.workloads.queries import WorkloadFact, workloads


def reviewed_workloads(read: WeekRead) -> tuple[ReviewedWorkload, ...]:
    """Every workload with any line in eight weeks, or with a stated value; the dearest first."""
    previous = () if read.previous is None else read.previous.content.workloads
    frozen = {each.workload_id: each for each in previous}
    shown = {*read.costs.workloads, *read.costs.workload_costs, *read.outputs.values}
    limits = verdict_thresholds()
    reviewed = [
        _reviewed(read, fact, frozen.get(fact.id), limits)
        for fact in workloads().values()
        if fact.id in shown
    ]
    return tuple(sorted(reviewed, key=lambda each: (-(each.cost.micros or 0), each.workload_id)))


def _reviewed(
    read: WeekRead,
    fact: WorkloadFact,
    before: ReviewedWorkload | None,
    limits: VerdictThresholds,
) -> ReviewedWorkload:
    sums = read.costs.workloads.get(fact.id, {})
    units, unit_trend = week_units(read.outputs, fact.id, read.costs)
    worth = returned(read.outputs, fact.id, read.costs, read.verdict_weeks)
    lately = read.costs.lately(sums, read.verdict_weeks)
    cost = sum_of_known(each.micros for each in lately) if lately else 0
    scores = _scores(read.scores.get(fact.id, {}), cost)
    judged = _judged(read, fact.id, lately, (cost, worth, scores))
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
        returned=worth,
        scores=scores,
        frozen_before_micros=None if before is None else before.cost.micros,
        verdict_before="" if before is None else before.verdict.verdict,
    )


def _judged(
    read: WeekRead,
    workload_id: int,
    lately: Sequence[CubeSums],
    known: tuple[int | None, WorkloadReturn | None, tuple[ReviewedScore, ...]],
) -> JudgedWorkload:
    """What its verdict is made of: what diverged is waste here, as nothing useful came of it."""
    cost, worth, scores = known
    diverged = read.diverged.longer_by_workload.get(workload_id, 0)
    waste = waste_known(read.costs.longer_waste.get(workload_id), lately)
    range_ = None
    if worth is not None and worth.count is not None:
        range_ = (worth.returned_low_micros or 0, worth.returned_high_micros or 0)
    return JudgedWorkload(
        facts=WorkloadFacts(
            cost=cost,
            waste=sum_of_known((waste, diverged or None)),
            coverage=_coverage(lately),
            worth=range_,
            has_value=worth is not None,
        ),
        weeks=read.verdict_weeks,
        currency=read.ours.currency,
        returned=worth,
        scores=scores,
        diverged_micros=diverged,
    )


def _coverage(lately: Sequence[CubeSums]) -> float | None:
    """The priced part of its time; None without any time, as of calls to an API."""
    whole = sum(map(time_of, lately))
    unpriced = sum(each.unpriced_milliseconds for each in lately)
    return 1 - unpriced / whole if whole else None


def _waste(read: WeekRead, workload_id: int) -> WorkloadWaste:
    waste = read.costs.workload_waste.get(workload_id)
    sums = read.costs.workloads.get(workload_id, {}).get(read.week.first_day)
    micros = waste_known(waste, () if sums is None else (sums,))
    cost = None if sums is None else sums.micros
    is_watched = workload_id in read.diverged.watched
    return WorkloadWaste(
        parts={} if waste is None else {PART_KEYS[part]: of for part, of in waste.parts.items()},
        micros=micros,
        ratio=round(micros / cost, 6) if micros is not None and cost else None,
        diverged_micros=read.diverged.week_by_workload.get(workload_id, 0) if is_watched else None,
        diverged_runs=read.diverged.runs.get(workload_id, ()),
    )


def _scores(pairs: ScorePairs, cost: int | None) -> tuple[ReviewedScore, ...]:
    """Beside what it cost: a score for each unit of currency, where more of it is better."""
    return tuple(
        ReviewedScore(
            name=name,
            value=newest.value,
            higher_is_better=newest.higher_is_better,
            at=newest.at.isoformat(),
            source=newest.source,
            run=newest.run,
            before=None if before is None else before.value,
            per_dollar=newest.value * MICROS / cost if cost and newest.higher_is_better else None,
        )
        for name, (newest, before) in sorted(pairs.items())
        if newest is not None
    )
