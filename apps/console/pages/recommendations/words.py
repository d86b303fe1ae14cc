"""Recommendations in words."""

from collections.abc import Mapping, Sequence
from datetime import date, tzinfo

from apps.economics.moves.saving import SavingRange
from apps.review.queries.measurements import STATUS_WORDS, SavingMeasurementFact
from apps.review.queries.recommendations import (
    STATE_WORDS,
    TO_BE_DONE,
    MeasuredSaving,
    RecommendationDetectionRunFact,
    RecommendationFact,
    SettledSaving,
)
from apps.review.queries.recommending.kinds import KIND_LABELS
from apps.review.queries.recommending.moved_work import MOVE_KINDS
from apps.review.queries.recommending.proposal import ASSUMED
from apps.show.amounts import counted
from apps.show.money import rounded_amount
from apps.show.time import instant
from apps.show.words import StateWords

OPEN, CLAIMED = TO_BE_DONE
STATES: Mapping[str, str] = {
    "": "To be done",
    **{key: text.capitalize() for key, text in STATE_WORDS.items()},
}
MOVES_KIND = "moves"
"""In addresses: every kind that is a fleet move."""
KINDS: Mapping[str, str] = {"": "Everything", MOVES_KIND: "Fleet moves", **KIND_LABELS}
RISKS = {
    "low": StateWords("active", "Low", "Nobody who works with it notices much"),
    "medium": StateWords("other", "Medium", "Who works with it notices it"),
    "high": StateWords("held_idle", "High", "It changes how the work is done"),
}
ORGANISATION, NOBODY, RUNRATE = "the organisation", "nobody yet", "Runrate"


def kinds_of(text: str) -> tuple[str, ...]:
    """Return the kinds that a filter by kind is for; none for any."""
    if text == MOVES_KIND:
        return MOVE_KINDS
    return (text,) if text else ()


def kind_label(kind: str) -> str:
    """Its name; of a kind that there is no more its key."""
    return KIND_LABELS.get(kind, kind.replace("_", " ").capitalize())


def describe_range(saving: SavingRange, currency: str) -> str:
    """`$776 to $1,366`."""
    low, high = (
        rounded_amount(saving.low, currency),
        rounded_amount(saving.high, currency),
    )
    return low if low == high else f"{low} to {high}"


def summed(savings: Sequence[SavingRange]) -> SavingRange:
    """End by end. Not all low ends come together: the sum is wider than it is likely to be."""
    return SavingRange(
        sum(saving.low for saving in savings),
        sum(saving.likely for saving in savings),
        sum(saving.high for saving in savings),
    )


def counted_saving(facts: Sequence[RecommendationFact], state: str) -> SavingRange:
    """Of those in a state that may be added up."""
    return summed([fact.saving for fact in facts if fact.is_counted and fact.state == state])


def open_note(facts: Sequence[RecommendationFact], currency: str) -> str:
    """Return what the range of the open ones is; where none of them is in it, what they would save and why it is not added up."""
    waiting = [fact for fact in facts if fact.state == OPEN and fact.saving.likely > 0]
    if not waiting or any(fact.is_counted for fact in waiting):
        likely = rounded_amount(counted_saving(facts, OPEN).likely, currency)
        return f"a month, likely {likely}; de-duplicated"
    reasons = (
        ("overlaps with other recommendations", [fact for fact in waiting if fact.is_grouped]),
        (
            "is added up from the next weekly analysis on",
            [fact for fact in waiting if not fact.is_grouped],
        ),
    )
    parts = [
        f"{rounded_amount(summed([fact.saving for fact in left_out]).likely, currency)} {reason}"
        for reason, left_out in reasons
        if left_out
    ]
    return f"a month in the total; {'; '.join(parts)}"


NO_PAYBACK = "not known: no hourly cost of an engineer is set (RUNRATE_ENGINEER_HOUR_COST)"
NOT_SOUGHT = "not looked for when it was proposed"


def range_label(fact: RecommendationFact) -> str:
    """Whether the ends were measured."""
    return "Range, assumed" if fact.range_basis == ASSUMED else "Range, p10 to p90"


def list_finding(facts: Sequence[RecommendationFact], state: str, currency: str) -> str:
    """How many there are, and what they would save, in a sentence."""
    if not state:
        to_do = counted_saving(facts, OPEN)
        claimed = [fact for fact in facts if fact.state == CLAIMED]
        claimed_text = f"; {counted(len(claimed), 'other')} claimed" if claimed else ""
        waiting = [fact for fact in facts if fact.state == OPEN]
        if not waiting:
            return f"No open recommendation{claimed_text}"
        if not to_do.likely:
            return f"{counted(len(waiting), 'recommendation')} to look at{claimed_text}"
        return f"{counted(len(waiting), 'recommendation')} would save {describe_range(to_do, currency)} a month{claimed_text}"
    verb = "is" if len(facts) == 1 else "are"
    return f"{counted(len(facts), 'recommendation')} {verb} {STATE_WORDS[state]}"


def describe_detection_run(review: RecommendationDetectionRunFact, zone: tzinfo) -> str:
    """When it was looked."""
    return f"looked for in the week of {review.week:%-d %B %Y}, on {instant(review.made_at, zone)}"


def describe_state(fact: RecommendationFact, zone: tzinfo) -> str:
    """Who put it into its state, when and why."""
    by = f" by {fact.state_name}" if fact.state_name else ""
    until = f" until {instant(fact.snoozed_until, zone)}" if fact.snoozed_until else ""
    why = f": {fact.state_reason}" if fact.state_reason else ""
    return f"{STATES[fact.state]}{by} since {instant(fact.state_at, zone)}{until}{why}"


def describe_saving(fact: RecommendationFact, currency: str) -> str:
    """Return what a recommendation saves in a month, or the GPU-hours that it frees."""
    if fact.saving.high > 0:
        return f"{describe_range(fact.saving, currency)} a month less"
    return f"{fact.frees_gpu_hours or 0:,.0f} GPU-hours a month for others"


def describe_inclusion(fact: RecommendationFact) -> str:
    """Whether it is in the sum, and why not."""
    if fact.is_counted:
        return "Yes: it overlaps with no other in the total"
    if fact.state not in TO_BE_DONE:
        return f"No: it is {STATE_WORDS[fact.state]}"
    if fact.saving.likely <= 0:
        return "No: it frees GPUs that are paid anyway"
    if not fact.is_grouped:
        return "Not yet: from the next weekly analysis on, unless it overlaps with another"
    return "No: it overlaps with another that is claimed or worth more"


def describe_weeks(fact: RecommendationFact) -> str:
    """Return the weeks from the first in which it was proposed to the last."""
    if fact.first_week == fact.last_week:
        return f"in the week of {fact.first_week:%-d %B %Y}"
    return f"in the weeks of {fact.first_week:%-d %B %Y} to {fact.last_week:%-d %B %Y}"


def age_weeks(fact: RecommendationFact, today: date) -> int:
    """Whole weeks since it was first proposed."""
    return max(0, (today - fact.first_week).days // 7)


def is_overdue(fact: RecommendationFact, today: date) -> bool:
    """Whether who claimed it said it would be done by now."""
    return fact.state == CLAIMED and fact.due_on is not None and fact.due_on < today


def proven_note(proven: Sequence[SettledSaving], currency: str) -> str:
    """Return what was promised of the proven savings, and how many failed."""
    promised = rounded_amount(sum(saving.promised.likely for saving in proven), currency)
    failed = sum(not saving.is_verified for saving in proven)
    verified = counted(len(proven) - failed, "verified", "verified")
    return f"a month, of {promised} promised: {verified}, {failed} failed"


def describe_measured_range(measured: MeasuredSaving | None, currency: str) -> str:
    """The ends of what chance may have done."""
    return "" if measured is None else describe_range(measured.saving, currency)


def describe_counterfactual(measured: MeasuredSaving | None) -> str:
    """Return what would have been, how much work there was before and since, and what speaks against the measure."""
    if measured is None:
        return "nothing yet"
    work = (
        f"{measured.work_before:,.0f} {measured.unit} a day before, {measured.work_since:,.0f} since"
        if measured.unit and measured.unit != "price on demand"
        else ""
    )
    return "; ".join(filter(None, (measured.counterfactual, work, *measured.doubts)))


def describe_method(measured: MeasuredSaving) -> str:
    """How it was measured, and the trend that was carried on."""
    if not measured.method:
        return "the days since held against the days before"
    trend = (
        ""
        if measured.trend_weekly is None
        else f"; its trend of {measured.trend_weekly:+.1%} a week is carried on"
    )
    return f"{measured.method}; its interval covers 90 %{trend}"


def describe_measurement(fact: RecommendationFact, newest: SavingMeasurementFact | None) -> str:
    """Whether it is measured, since when and until when; what the newest measurement says."""
    if newest is not None:
        why = f": {newest.why}" if newest.why else ""
        return f"{STATUS_WORDS[newest.status]} in the week of {newest.week:%-d %B %Y}{why}"
    if fact.done_at is None:
        return "Once it is done, by the ledger, week by week; it is judged after four weeks at the earliest"
    return "Week by week from the first whole days after it was done; it is judged after four weeks at the earliest"
