"""By how much costs of days differ from what the months of these days have in their books."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import MONTHS
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.windows import Window

YEARS = 10
"""Of how long ago corrections are looked for."""


@dataclass(frozen=True, slots=True)
class PostedApart:
    """Corrections whose day and books part, in micro-units on the basis asked for.

    `later_micros` are of days of the window, in the books of later months; `earlier_micros` of
    earlier days, in the books of the window's months: None where it is not of whole months, or
    asks for what months do not tell.
    """

    later_micros: int
    earlier_micros: int | None


NOTHING_APART = PostedApart(0, None)


def posted_apart(question: CubeQuestion) -> PostedApart:
    """How costs of the question's window, whatever they are grouped by, stand in the books."""
    undivided = question.whole
    later = _micros_posted_later(undivided)
    earlier = None
    window = question.window
    if window.is_whole_months and MONTHS.has(undivided.by("month", "posting_month").names):
        since = window.first_day.replace(year=window.first_day.year - YEARS)
        before = Window("", since, window.first_day, window.zone)
        months = _months_of(window)
        earlier = _micros_posted_later(replace(undivided, window=before), months)
    return PostedApart(later, earlier)


def _micros_posted_later(question: CubeQuestion, months: Collection[date] | None = None) -> int:
    """Return the cost that months after the day's own have of it (these, where they are given)."""
    return sum(
        state.micros or 0
        for (month, posted), states in state_sums(question.by("month", "posting_month")).items()
        if posted != month and (months is None or posted in months)
        for state in states
    )


def _months_of(window: Window) -> set[date]:
    months, month = set(), window.first_day
    while month < window.end_day:
        months.add(month)
        month = next_month(month)
    return months
