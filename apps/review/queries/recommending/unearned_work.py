"""Work that does not earn what it costs: what the weekly review's rule would retire, at the margin."""

from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.work import FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    api_cell,
    effort_cost,
)
from apps.review.queries.recommending.unearned_case import UnearnedCase, judged_cases
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import LITTLE_FREED, NO_PRICE
from apps.review.queries.weekly.judging import worth_range
from apps.review.queries.weekly.review_words import UNIT_WORDS
from apps.show.amounts import per_cent

RETIRE = "retire_work"
LOOKED_AT = "workloads that cost anything in eight weeks, or have a stated value"
RETIRE_HOURS = 8
"""Of an engineer, to agree with its owner and stop it: ours, not measured."""
RETIRE_COMPUTED = (
    "What it is charged by the hour and for its calls in a month: all of it; by the hour at the low end of a week 1.28 standard errors below"
    " the mean. What it returns is not taken off: it is no dollar of the ledger"
)
NOT_CHARGED = "nothing of it is charged by the GPU-hour or by the call"
WORTH_MORE_THAN_GOES = (
    "it returns more than would go away without it: the rest of its cost is paid anyway"
)


@weekly_detector(RETIRE, LOOKED_AT)
def detect_retirable(detected: DetectedKind, work: FleetWork, at: datetime) -> None:
    """Every judged workload; those to be retired that return less than would go away without them."""
    for case in judged_cases(detected, work, at):
        if why := _why_not(case, case.goes_away, case.retired_frees):
            detected.pass_over(why, str(case.workload.id))
        elif case.returned_month[1] > case.goes_away.likely:
            detected.pass_over(WORTH_MORE_THAN_GOES, str(case.workload.id))
        else:
            detected.propose(_retirement(case))


def _why_not(case: UnearnedCase, saving: SavingRange, freed: float | None) -> str:
    if case.whole is None and not saving.likely:
        return NOT_CHARGED
    if not saving.likely and case.by_hour and case.whole and not case.whole.price:
        return NO_PRICE
    return "" if saving.likely or freed is not None else LITTLE_FREED


def _retirement(case: UnearnedCase) -> RecommendationProposal:
    """All of it goes, and what it returned with it."""
    low, high = case.returned_month
    workload, facts = case.workload, case.judged.facts
    calls = frozenset({api_cell(workload.id)} if case.calls_micros else ())
    return RecommendationProposal(
        key=str(workload.id),
        title=f"Retire {workload.name}: it does not earn what it costs",
        subject=workload.name,
        team_id=workload.team_id,
        workload_id=workload.id,
        pool_id=case.whole.pool_id if case.whole else None,
        spend_micros=case.gpu_micros + case.calls_micros,
        saving=case.goes_away,
        effort_hours=RETIRE_HOURS,
        risk=DisruptionClass.HIGH if high else DisruptionClass.MEDIUM,
        risk_reason=f"{worth_range((low, high), case.judged.currency)} that it returns in a month is gone with it"
        if high
        else "what it was for may still come",
        why=case.reason,
        computed=RETIRE_COMPUTED,
        cells=(case.whole.money_cells if case.whole else frozenset()) | calls,
        evidence=_evidence_of(case),
        doubts=_against(case),
        one_time_micros=effort_cost(RETIRE_HOURS),
        frees_gpu_hours=case.retired_frees,
        forgoes_micros=(low + high) // 2,
        baseline={
            "cost_micros": facts.cost,
            "waste_micros": facts.waste,
            "returned_micros": facts.worth,
            "verdict_hours": case.hours,
            "paid_by_hour": case.by_hour,
            "api_micros_month": case.calls_micros,
        },
    )


def _against(case: UnearnedCase) -> tuple[str, ...]:
    """The most that it may have returned, and what of its cost was no waste."""
    facts, days = case.judged.facts, case.hours // 24
    useful = per_cent(1 - (facts.waste_ratio or 0.0))
    doubts = [
        f"looked for use in the {days} days of the verdict: {useful} of its cost was no waste"
    ]
    if facts.worth is None:
        doubts.append("looked for a stated value: nobody stated one that is counted")
    else:
        doubts.append(f"looked for what it returned at most: {case.judged.worth_words}")
    return tuple(doubts)


def _evidence_of(case: UnearnedCase) -> tuple[RecommendationEvidence, ...]:
    judged, workload_id = case.judged, case.workload.id
    window = urlencode({"window": f"{case.window.first_day}/{case.window.end_day}"})
    costs = f"{reverse('costs-workload', args=[workload_id])}?{window}"
    evidence = [RecommendationEvidence("What it cost", judged.cost_words, costs)]
    if judged.facts.waste:
        evidence.append(RecommendationEvidence("Its waste", judged.waste_words, costs))
    evidence += _returned_evidence(case, reverse("workload-returns", args=[workload_id]))
    if case.whole is not None:
        by_hour = f"{case.by_hour:.0%} of what its GPUs are charged"
        evidence.append(RecommendationEvidence("Paid by the hour", by_hour))
    return tuple(evidence)


def _returned_evidence(case: UnearnedCase, page: str) -> list[RecommendationEvidence]:
    """The value that its owner stated, how many units there were, and what that comes to."""
    value = case.judged.returned
    if value is None:
        return [RecommendationEvidence("Its value", "its owner has stated none", page)]
    unit = UNIT_WORDS[value.unit]
    ends = (value.low_micros, value.high_micros)
    stated = f"{worth_range(ends, case.judged.currency)} for each {unit}, stated from {value.valid_from} on"
    count = "not counted" if value.count is None else f"{value.count:,.6g}"
    evidence = [
        RecommendationEvidence("Its value, by its owner", stated, page),
        RecommendationEvidence(f"How many of these ({unit})", count, page),
    ]
    if case.judged.facts.worth is not None:
        evidence.append(RecommendationEvidence("So it returned", case.judged.worth_words, page))
    return evidence
