"""Costs day by day and by state, beside the same days of the span before."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from apps.ledger.queries.comparison import THE_SPAN_BEFORE, Comparison, compared_spans
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.states import States, StateSum, state_sums
from apps.ledger.queries.windows import Window

DAYS_BETWEEN = timedelta(days=7)
"""Days that nobody asked for cost less to read along than a statement of their own."""


@dataclass(frozen=True, slots=True)
class PeriodComparison:
    """Two like spans of whole days that are over, by state."""

    now: Window
    before: Window
    now_states: States
    before_states: States


@dataclass(frozen=True, slots=True)
class Daily:
    """The days of the window with costs, in order; `against` None where there is no like span before."""

    days: Mapping[date, States]
    against: PeriodComparison | None = None

    @property
    def states(self) -> list[StateSum]:
        """All that the days sum."""
        return [state for states in self.days.values() for state in states]


def costs_by_day(
    question: CubeQuestion, at: datetime, comparison: Comparison = THE_SPAN_BEFORE
) -> Daily:
    """Each day by state, with the days it is held against. One reading where these are just before."""
    window = question.window
    spans = compared_spans(window, at, comparison)
    is_just_before = spans is not None and _is_just_before(spans[1], window)
    first_day = spans[1].first_day if spans and is_just_before else window.first_day
    states_by_day = _states_of_days(question, replace(window, first_day=first_day))
    window_states = {
        day: states for day, states in states_by_day.items() if day >= window.first_day
    }
    if spans is None:
        return Daily(window_states)
    before = states_by_day if is_just_before else _states_of_days(question, spans[1])
    now_states, before_states = (
        _states_within(days, span)
        for days, span in zip((states_by_day, before), spans, strict=True)
    )
    return Daily(window_states, PeriodComparison(*spans, now_states, before_states))


def _is_just_before(span: Window, window: Window) -> bool:
    # Days that are not over leave as many days between the two.
    if window.hours is not None or span.hours is not None:
        return False
    return timedelta() <= window.first_day - span.end_day <= DAYS_BETWEEN


def costs_against(question: CubeQuestion, before: Window) -> Daily:
    """Each day by state, and all of them against all of `before`: neither is cut to days that are over."""
    now, then = (_states_of_days(question, window) for window in (question.window, before))
    now_states = _states_within(now, question.window)
    return Daily(
        now, PeriodComparison(question.window, before, now_states, _states_within(then, before))
    )


def _states_of_days(question: CubeQuestion, window: Window) -> dict[date, States]:
    states_by_key = state_sums(replace(question, window=window).by("day"))
    return {day: states for (day,), states in states_by_key.items() if isinstance(day, date)}


def _states_within(states_by_day: Mapping[date, States], window: Window) -> States:
    return tuple(
        state
        for day, states in states_by_day.items()
        if window.first_day <= day < window.end_day
        for state in states
    )
