"""What a recommendation that was done has saved so far, and what that makes of it."""

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
class SavingLook:
    """What is said of one now; `why` where it is unknown, or nothing can be measured yet."""

    status: SavingStatus
    why: str
    measured: MeasuredSaving | None


def look_at_saving(
    fact: RecommendationFact, others: Collection[RecommendationFact], at: datetime
) -> SavingLook | None:
    """Of one that is done, beside others that are done or settled; None before its first whole day."""
    spans = measured_spans(fact, at)
    if spans is None:
        return None
    besides = [each for each in others if _overlaps(fact, each, spans, at)]
    days = measured_days(fact, KIND_BASES.get(fact.kind, SavingBasis.PER_OUTPUT), spans)
    if isinstance(days, MeasuredDays) and days.has_twin and fact.workload_id is not None:
        touched = {each.workload_id for each in others if each.workload_id is not None}
        twin = twin_of(fact.workload_id, fact.pool_id, spans, touched)
        days = replace(days, twin=twin.days, twin_name=twin.name)
    found = (
        days
        if isinstance(days, UnknownSaving)
        else saving_since(days.before, days.since, days.twin)
    )
    status = judge_saving(found, fact.saving, days_since=spans.days_since)
    if status in JUDGED and any(each.state == "verified" for each in besides):
        status, found = SavingStatus.UNKNOWN, UnknownSaving.SAVED_BY_ANOTHER
    if isinstance(found, UnknownSaving) or isinstance(days, UnknownSaving):
        return SavingLook(status, str(found), None)
    measured = _measured_saving(found, days, spans, (BESIDES,) if besides else ())
    return SavingLook(status, _why_untold(status, found, fact, spans), measured)


def _why_untold(
    status: SavingStatus, found: RealisedSaving, fact: RecommendationFact, spans: MeasuredSpans
) -> str:
    """What it would take to tell; nothing where it is told, or too early."""
    if status is not SavingStatus.UNKNOWN:
        return ""
    if found.days < FEWEST_AFTER:
        return str(UnknownSaving.FEW_AFTER)
    return what_it_takes(found, fact.saving, days_since=spans.days_since)


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
    found: RealisedSaving, days: MeasuredDays, spans: MeasuredSpans, doubts: tuple[str, ...]
) -> MeasuredSaving:
    scale = MONTH_HOURS / DAY_HOURS / found.days
    return MeasuredSaving(
        saving=found.month,
        spend_micros=round(found.actual_micros * scale),
        counterfactual_micros=round(found.counterfactual_micros * scale),
        counterfactual=_counterfactual_words(found, days, spans),
        first_day=date.fromordinal(days.since[0].day),
        last_day=date.fromordinal(days.since[-1].day),
        doubts=(*days.doubts, *doubts),
        days=found.days,
        before_days=found.before_days,
        unit=days.unit,
        work_before=fmean(each.work for each in days.before),
        work_since=fmean(each.work for each in days.since),
        following=found.following,
        method=str(found.method),
        trend_weekly=expm1(found.step.slope * WEEK),
        gates=tuple(serialize_gates(found.gates)),
    )


def _counterfactual_words(found: RealisedSaving, days: MeasuredDays, spans: MeasuredSpans) -> str:
    """What would have been, as a sentence."""
    of = f"in the {found.before_days} settled days before {spans.before.end_day:%-d %B %Y}, with the trend of both spans carried on"
    beside = f", beside {days.twin_name}" if found.method is SavingMethod.CONTROLLED else ""
    if found.following == 1.0:
        return f"{days.would} {of}{beside}"
    return (
        f"what the same weekday cost {of}{beside}, and as {found.following:.0%} of that moved with {days.unit},"
        " more or less by as much as there was more or less of them"
    )
