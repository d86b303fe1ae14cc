"""A workload's verdict with its reason in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.conf import settings

from apps.economics.portfolio_verdict import (
    Verdict,
    VerdictCause,
    VerdictThresholds,
    WorkloadFacts,
    judge,
)
from apps.review.queries.weekly.content import (
    ReviewedScore,
    WorkloadReturn,
    WorkloadVerdict,
)
from apps.review.queries.weekly.review_words import UNIT_WORDS
from apps.show.amounts import counted, per_cent
from apps.show.money import short_amount


def verdict_thresholds() -> VerdictThresholds:
    """As they are set."""
    return VerdictThresholds(
        shrink_waste=settings.REVIEW_SHRINK_WASTE,
        retire_waste=settings.REVIEW_RETIRE_WASTE,
        least_coverage=settings.REVIEW_LEAST_COVERAGE,
    )


@dataclass(frozen=True, slots=True)
class JudgedWorkload:
    """The basis of a workload's verdict: the facts, over how many weeks, and what its words are made of."""

    facts: WorkloadFacts
    weeks: int
    currency: str
    returned: WorkloadReturn | None
    scores: tuple[ReviewedScore, ...]
    diverged_micros: int

    @property
    def cost_words(self) -> str:
        """The cost of the workload, over how long, in words."""
        span = "the week" if self.weeks == 1 else counted(self.weeks, "week")
        return f"{short_amount(self.facts.cost, self.currency)} in {span}"

    @property
    def worth_words(self) -> str:
        """The return of the workload in words, as a range where it is one."""
        return worth_range(self.facts.worth or (0, 0), self.currency)

    @property
    def waste_words(self) -> str:
        """The part of the cost that was waste, in words."""
        wasted = per_cent(self.facts.waste_ratio)
        of_diverged = ""
        if self.diverged_micros:
            of_diverged = f", {short_amount(self.diverged_micros, self.currency)} of that of runs that diverged"
        return f"{wasted} of it ({short_amount(self.facts.waste, self.currency)}) was waste{of_diverged}"


def worth_range(ends: tuple[int, int], currency: str) -> str:
    """The least and the most, in words; one amount where they are the same."""
    low, high = (short_amount(end, currency) for end in ends)
    return low if ends[0] == ends[1] else f"{low} to {high}"


def workload_verdict(judged: JudgedWorkload, limits: VerdictThresholds) -> WorkloadVerdict:
    """The verdict of these facts, and why."""
    verdict, why = judge(judged.facts, limits)
    reason = REASONS[why](judged)
    if verdict is Verdict.UNKNOWN:
        reason += _score_words(judged.scores)
    return WorkloadVerdict(
        verdict=str(verdict),
        reason=reason,
        weeks=judged.weeks,
        cost_micros=judged.facts.cost,
        waste_ratio=None
        if judged.facts.waste_ratio is None
        else round(judged.facts.waste_ratio, 6),
    )


def _score_words(scores: tuple[ReviewedScore, ...]) -> str:
    """Return what is known of a workload's quality, in words, which alone says nothing of its worth."""
    if not scores:
        return ""
    phrases = []
    for score in scores[:2]:
        moved = ""
        if score.before is not None and score.before != score.value:
            is_better = (score.value > score.before) == score.higher_is_better
            moved = f", {'better' if is_better else 'worse'} than {score.before:g} before"
        phrases.append(f"{score.name} {score.value:g}{moved}")
    return f" Its quality: {'; '.join(phrases)}."


def _no_cost_words(cost: int | None) -> str:
    if cost is None:
        return "What it cost is not known."
    if cost == 0:
        return "It cost nothing in these weeks."
    return "It was credited more than it cost in these weeks."


REASONS: Mapping[VerdictCause, Callable[[JudgedWorkload], str]] = {
    VerdictCause.COST_UNKNOWN: lambda judged: _no_cost_words(judged.facts.cost),
    VerdictCause.WORTH_LESS: lambda judged: (
        f"It returned {judged.worth_words} and cost {judged.cost_words}."
    ),
    VerdictCause.WORTH_LESS_BY_ITS_WASTE: lambda judged: (
        f"It returned {judged.worth_words} and cost {judged.cost_words}; {judged.waste_words}, "
        "and without that it could be worth it."
    ),
    VerdictCause.NOTHING_CAME: lambda judged: (
        f"It cost {judged.cost_words}, and {judged.waste_words}."
    ),
    VerdictCause.MUCH_WASTE: lambda judged: (
        f"It cost {judged.cost_words}, and {judged.waste_words}."
    ),
    VerdictCause.WORTH_MORE: lambda judged: (
        f"It returned {judged.worth_words} and cost {judged.cost_words}."
    ),
    VerdictCause.COST_WITHIN_WORTH: lambda judged: (
        f"It cost {judged.cost_words}, within the {judged.worth_words} that it may have returned."
    ),
    VerdictCause.COST_NOT_WHOLE: lambda judged: (
        f"It cost {judged.cost_words} at least: only {per_cent(judged.facts.coverage)} of its time "
        "is settled and has a price."
    ),
    VerdictCause.UNITS_UNKNOWN: lambda judged: (
        f"A {UNIT_WORDS[judged.returned.unit] if judged.returned else 'unit'} has a stated value, "
        "but how many there were is not reported."
    ),
    VerdictCause.NO_VALUE: lambda _: "Its owner has not stated what a unit is worth.",
}
