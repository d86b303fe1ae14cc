"""Training that saves checkpoints far too rarely, or far too often, for how often it fails."""

from datetime import datetime, timedelta

from django.urls import reverse

from apps.economics.checkpoints import cadence_excess, is_worth_saying
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.work import MOST_CANDIDATES, FleetWork
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import (
    NO_PRICE,
    PAID_ANYWAY,
    WorkloadTotals,
    workload_totals,
)
from apps.show.time import duration
from apps.unit_economics.queries.runs.checkpoints import (
    CheckpointAdvice,
    checkpoint_advice_of_workload,
)
from apps.unit_economics.queries.runs.habits import training_habits

KIND = "checkpoint_cadence"
TRAINING = ("training",)
EFFORT_HOURS = 2
"""A setting, and a look at the next run: ours, not measured."""
HOUR_SECONDS = 3_600
FEW_FAILURES = 5
NEAR_BEST = "its cadence is within three times of the best"
COMPUTED = (
    "What it is charged by the hour in a month × the part of it that goes beyond the best cadence (Daly's exact optimum), for what a checkpoint holds it up and"
    " for how often its runs fail: at the failures measured, and at both ends of their 95 % range"
)
"""Of the exact expectation W/τ · M · (e^((τ+δ)/M) − 1), see apps.economics.checkpoints."""


@weekly_detector(KIND, "training workloads")
def detect_cadences(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every training workload; a cadence more than three times off the best is to be changed."""
    works = workload_totals(work, TRAINING)
    examined = works[:MOST_CANDIDATES]
    habits = training_habits([candidate.workload.id for candidate in examined], work.span.window)
    for whole_work in examined:
        habit = habits.get(whole_work.workload.id)
        if habit is None or not habit.saved.saves:
            why = "no run of it reported" if habit is None else "its runs saved no checkpoint"
            detected.pass_over(why, str(whole_work.workload.id))
        else:
            _judge_workload(detected, work, whole_work)
    if len(works) > len(examined):
        detected.pass_over(
            f"only the {MOST_CANDIDATES} that cost most are looked into",
            count=len(works) - len(examined),
        )


def _judge_workload(detected: DetectedKind, work: FleetWork, whole_work: WorkloadTotals) -> None:
    advice = checkpoint_advice_of_workload(whole_work.workload.id, window=work.span.window)
    part = _saved_part(advice)
    key = str(whole_work.workload.id)
    if isinstance(part, str):
        detected.pass_over(part, key)
    elif not whole_work.paid_by_hour:
        detected.pass_over(PAID_ANYWAY, key)
    elif not whole_work.price:
        detected.pass_over(NO_PRICE, key)
    else:
        detected.propose(_proposal_of(whole_work, advice, part))


def _saved_part(advice: CheckpointAdvice) -> tuple[float, float, float] | str:
    """Return the part of its time that the best cadence saves, at both ends and likely; or why none is proposed."""
    cadence, write, best = advice.cadence_seconds, advice.write_seconds, advice.best_seconds
    if cadence is None or not write or best is None or advice.hazard is None or not advice.gpus:
        return "what a checkpoint holds it up, or how often it fails, was not measured"
    if not is_worth_saying(cadence, best):
        return NEAR_BEST
    if advice.hazard.rate is None and cadence > best:
        return "nothing failed yet: that it saves too rarely is not known"
    rates = (advice.hazard.low, advice.hazard.rate or advice.hazard.high, advice.hazard.high)
    parts = [
        cadence_excess(cadence, write, HOUR_SECONDS / (rate * advice.gpus))
        for rate in rates
        if rate > 0
    ]
    likely = cadence_excess(cadence, write, HOUR_SECONDS / (rates[1] * advice.gpus))
    return min(parts), likely, max(parts)


def _proposal_of(
    whole_work: WorkloadTotals, advice: CheckpointAdvice, part: tuple[float, float, float]
) -> RecommendationProposal:
    name, spend = whole_work.workload.name, whole_work.spend_micros
    cadence, best = advice.cadence_seconds or 0.0, advice.best_seconds or 0.0
    often = "rarely" if cadence > best else "often"
    return RecommendationProposal(
        key=str(whole_work.workload.id),
        title=f"Checkpoint {name} every {_duration_words(best)}",
        subject=name,
        team_id=whole_work.workload.team_id,
        workload_id=whole_work.workload.id,
        pool_id=whole_work.pool_id,
        spend_micros=spend,
        saving=SavingRange(*(round(spend * share) for share in part)).capped(spend),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="what is trained stays as it is; it is a setting of its next run",
        why=f"It saves too {often}: every {_duration_words(cadence)} of training, where every {_duration_words(best)} is best for what a checkpoint"
        f" holds it up ({_duration_words(advice.write_seconds or 0.0)}) and how often its runs fail.",
        computed=COMPUTED,
        cells=whole_work.money_cells,
        evidence=_evidence_of(whole_work, advice),
        doubts=_doubts(advice, min(part)),
        one_time_micros=effort_cost(EFFORT_HOURS),
        baseline={
            "cadence_seconds": cadence,
            "best_seconds": best,
            "write_seconds": advice.write_seconds,
            "failures": advice.failures.count,
            "exposed_gpu_hours": advice.failures.exposed_gpu_hours,
        },
    )


def _evidence_of(
    whole_work: WorkloadTotals, advice: CheckpointAdvice
) -> tuple[RecommendationEvidence, ...]:
    page = reverse("programme", args=[whole_work.workload.id])
    run = reverse("run", args=[advice.run_id]) if advice.run_id else page
    failures = advice.failures
    return (
        RecommendationEvidence(
            "Checkpoints of its newest run that saved", f"{advice.saves:,}", run
        ),
        RecommendationEvidence(
            "Interruptions of its runs",
            f"{failures.count:,} in {failures.exposed_gpu_hours:,.0f} GPU-hours",
            page,
        ),
        RecommendationEvidence(
            "Time between failures of a run",
            f"{_duration_words(advice.mtbf_seconds or 0.0)} on {advice.gpus or 0:,} GPUs",
            page,
        ),
    )


def _doubts(advice: CheckpointAdvice, least: float) -> tuple[str, ...]:
    search_words = (
        f"looked for a rate of failures at which its cadence would be right: at the kindest end of the 95 % range it still loses {least:.1%} of its"
        f" time, of {advice.failures.count:,} interruptions in {advice.failures.exposed_gpu_hours:,.0f} GPU-hours"
    )
    if advice.failures.count >= FEW_FAILURES:
        return (search_words,)
    if not advice.failures.count:
        return (
            search_words,
            "nothing failed yet: the highest rate that is still likely is counted",
        )
    return (search_words, f"fewer than {FEW_FAILURES} interruptions were seen")


def _duration_words(seconds: float) -> str:
    return duration(timedelta(seconds=round(seconds)))
