"""Words on the moment of a review: what is only known as of later, and what an earlier edition had otherwise."""

from collections.abc import Iterator, Mapping
from datetime import date

from apps.economics.hours import HOUR_MS
from apps.planning.queries.budgets import GPU_HOURS, MONEY
from apps.review.queries.weekly.content import Restated, WeeklyContent
from apps.review.queries.weekly.restated import BUDGET, FIGURES, LISTED, WHOLE
from apps.show.amounts import counted
from apps.show.money import rounded_amount, signed_amount
from apps.show.time import month, weekday

MOST_NAMED = 5
FIGURE_WORDS = {
    "cost.micros": "cost",
    "waste_micros": "waste",
    "waste.micros": "waste",
    "no_workload_micros": "what has no workload",
    "diverged_micros": "what diverged",
    "units.count": "units",
    "verdict.verdict": "verdict",
    "verdict.cost_micros": "cost of the weeks of its verdict",
    "returned.returned_low_micros": "what it returned at least",
    "returned.returned_high_micros": "what it returned at most",
    "cost_micros": "cost",
    "saved_micros": "saved",
    "unused_micros": "unused",
    "low_micros": "saving, at least",
    "high_micros": "saving, at most",
    "amount": "amount",
    "spent": "spent",
    "expected": "expected",
    "headroom": "headroom",
}


def describe_later_recommendations(content: WeeklyContent) -> Iterator[str]:
    """Recommendations of which the history does not say what they said in the week's own time."""
    later = [
        recommendation
        for recommendation in content.recommendations.recommendations
        if recommendation.told_on > content.end_day
    ]
    if later:
        on = max(recommendation.told_on for recommendation in later)
        yield (
            f"{counted(len(later), 'recommendation')} of the week: title and saving as known on "
            f"{weekday(date.fromisoformat(on))}, as no earlier edition kept what was said before."
        )


def edition_words(content: WeeklyContent) -> Iterator[str]:
    """Yield what the edition before had otherwise, figure by figure, and what corrections of closed months are of it."""
    earlier = content.earlier
    if earlier is None:
        return
    made_on = weekday(date.fromisoformat(earlier.made_at[:10]))
    if not earlier.restated:
        yield f"Edition {earlier.edition} of {made_on} had the same figures."
        return
    measures = {budget.name: budget.measure for budget in content.budgets.budgets}
    named = [
        _restated_words(moved, content.currency, measures)
        for moved in earlier.restated[:MOST_NAMED]
    ]
    more = len(earlier.restated) - len(named)
    remainder = f"; and {counted(more, 'more figure', 'more figures')}" if more else ""
    posted = "".join(
        f" Corrections of closed months, posted in {month(date.fromisoformat(key))}: "
        f"{signed_amount(micros, content.currency)}."
        for key, micros in sorted(earlier.posted_micros.items())
    )
    yield (
        f"The ledger says more since edition {earlier.edition} of {made_on}: "
        f"{'; '.join(named)}{remainder}.{posted}"
    )


def _restated_words(moved: Restated, currency: str, measures: Mapping[str, str]) -> str:
    """`measures` are those of the week's budgets, by name."""
    owner_words = "" if moved.part == WHOLE else f"{moved.name}, "
    if moved.figure == LISTED:
        return f"{owner_words}{'no longer listed' if moved.before else 'listed now'}"
    what = FIGURE_WORDS.get(moved.figure, moved.figure.replace("_", " ").replace(".", ", "))
    of_budget = moved.part == BUDGET and moved.figure in FIGURES[BUDGET]
    measure = measures.get(moved.name, "") if of_budget else ""
    is_money = moved.figure.endswith("micros") or measure == MONEY
    before, after = (
        _figure_words(value, currency, is_money=is_money, is_time=measure == GPU_HOURS)
        for value in (moved.before, moved.after)
    )
    return f"{owner_words}{what} {before} → {after}"


def _figure_words(value: object, currency: str, *, is_money: bool, is_time: bool) -> str:
    """Micro-units as an amount, GPU-milliseconds as GPU-hours, all else as it is."""
    if value is None:
        return rounded_amount(None, currency) if is_money else "not known"
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{value}"
    if is_money:
        return rounded_amount(value, currency)
    return f"{value / HOUR_MS:,.0f} GPU-hours" if is_time else f"{value}"
