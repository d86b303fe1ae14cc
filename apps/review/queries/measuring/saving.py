"""The saving so far of a recommendation that was done, and the status that follows from it."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime
from math import expm1
from statistics import fmean

from apps.economics.changes import WEEK
from apps.economics.gates import serialize_gates
from apps.economics.hours import DAY_HOURS
from apps.economics.moves.saving import MONTH_HOURS
from apps.economics.realised_saving import (
    FEWEST_AFTER,
    RealisedSaving,
    SavingMethod,
    SavingStatus,
    UnknownSaving,
    judge_saving,
    saving_since,
    what_it_takes,
)
from apps.review.queries.measuring.cost_days import MeasuredDays, measured_days
from apps.review.queries.measuring.spans import MeasuredSpans, measured_spans
from apps.review.queries.measuring.twins import twin_of
from apps.review.queries.recommendations import MeasuredSaving, RecommendationFact
from apps.review.queries.recommending.kinds import KIND_BASES
from apps.review.queries.recommending.proposal import SavingBasis

JUDGED = (SavingStatus.VERIFIED, SavingStatus.FAILED)
BESIDES = "another change of the same work was made in these weeks: what each of them saved is not known apart"


@dataclass(frozen=True, slots=True)
class SavingAssessment:
    """The saving of a recommendation as it is told now; `why` where it is unknown, or nothing can be measured yet."""

    status: SavingStatus
    why: str
    measured: MeasuredSaving | None


def assess_saving(
    fact: RecommendationFact, others: Collection[RecommendationFact], at: datetime
) -> SavingAssessment | None:
    """Of one that is done, beside others that are done or settled; None before its first whole day."""
    spans = measured_spans(fact, at)
    if spans is None:
        return None
    besides = [other for other in others if _overlaps(fact, other, spans, at)]
    days = measured_days(fact, KIND_BASES.get(fact.kind, SavingBasis.PER_OUTPUT), spans)
    if isinstance(days, MeasuredDays) and days.has_twin and fact.workload_id is not None:
        touched = {other.workload_id for other in others if other.workload_id is not None}
        twin = twin_of(fact.workload_id, fact.pool_id, spans, touched)
        days = replace(days, twin=twin.days, twin_name=twin.name)
    saving = (
        days
        if isinstance(days, UnknownSaving)
        else saving_since(days.before, days.since, days.twin)
    )
    status = judge_saving(saving, fact.saving, days_since=spans.days_since)
    if status in JUDGED and any(other.state == "verified" for other in besides):
        status, saving = SavingStatus.UNKNOWN, UnknownSaving.SAVED_BY_ANOTHER
    if isinstance(saving, UnknownSaving) or isinstance(days, UnknownSaving):
        return SavingAssessment(status, str(saving), None)
    measured = _measured_saving(saving, days, spans, (BESIDES,) if besides else ())
    return SavingAssessment(status, _why_untold(status, saving, fact, spans), measured)


def _why_untold(
    status: SavingStatus, saving: RealisedSaving, fact: RecommendationFact, spans: MeasuredSpans
) -> str:
    """Return what it would take to tell the saving; nothing where it is told, or too early."""
    if status is not SavingStatus.UNKNOWN:
        return ""
    if saving.days < FEWEST_AFTER:
        return str(UnknownSaving.FEW_AFTER)
    return what_it_takes(saving, fact.saving, days_since=spans.days_since)


def _overlaps(
    fact: RecommendationFact, other: RecommendationFact, spans: MeasuredSpans, at: datetime
) -> bool:
    """Whether another one of the same work was made while this one is measured."""
    is_same = other.workload_id is not None and other.workload_id == fact.workload_id
    if other.id == fact.id or not (is_same or set(other.cells) & set(fact.cells)):
        return False
    its = measured_spans(other, at)
    return (
        its is not None
        and its.before.end_day < spans.since.end_day
        and spans.before.end_day < its.since.end_day
    )


def _measured_saving(
    saving: RealisedSaving, days: MeasuredDays, spans: MeasuredSpans, doubts: tuple[str, ...]
) -> MeasuredSaving:
    scale = MONTH_HOURS / DAY_HOURS / saving.days
    return MeasuredSaving(
        saving=saving.month,
        spend_micros=round(saving.actual_micros * scale),
        counterfactual_micros=round(saving.counterfactual_micros * scale),
        counterfactual=_counterfactual_words(saving, days, spans),
        first_day=date.fromordinal(days.since[0].day),
        last_day=date.fromordinal(days.since[-1].day),
        doubts=(*days.doubts, *doubts),
        days=saving.days,
        before_days=saving.before_days,
        unit=days.unit,
        work_before=fmean(cost_day.work for cost_day in days.before),
        work_since=fmean(cost_day.work for cost_day in days.since),
        following=saving.following,
        method=str(saving.method),
        trend_weekly=expm1(saving.step.slope * WEEK),
        gates=tuple(serialize_gates(saving.gates)),
    )


def _counterfactual_words(saving: RealisedSaving, days: MeasuredDays, spans: MeasuredSpans) -> str:
    """Return the counterfactual, what would have been, as a sentence."""
    of = f"in the {saving.before_days} settled days before {spans.before.end_day:%-d %B %Y}, with the trend of both spans carried on"
    twin_words = f", beside {days.twin_name}" if saving.method is SavingMethod.CONTROLLED else ""
    if saving.following == 1.0:
        return f"{days.would} {of}{twin_words}"
    return (
        f"what the same weekday cost {of}{twin_words}, and as {saving.following:.0%} of that moved with {days.unit},"
        " more or less by as much as there was more or less of them"
    )
