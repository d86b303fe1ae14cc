"""Costs day by day and by state, beside the same days of the span before."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from apps.ledger.queries.comparison import compared_spans
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.states import States, StateSum, state_sums
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class Against:
    """Two like spans of whole days that are over, by state."""

    now: Window
    before: Window
    now_states: States
    before_states: States


@dataclass(frozen=True, slots=True)
class Daily:
    """The days of the window with costs, in order; `against` None where there is no like span before."""

    days: Mapping[date, States]
    against: Against | None = None

    @property
    def states(self) -> list[StateSum]:
        """All that the days sum."""
        return [each for states in self.days.values() for each in states]


def costs_by_day(question: CubeQuestion, at: datetime) -> Daily:
    """Each day by state, with the same days of the span before. One reading."""
    window = question.window
    spans = compared_spans(window, at)
    first_day = spans[1].first_day if spans else window.first_day
    both = replace(question, window=replace(window, first_day=first_day)).by("day")
    found = {day: states for (day,), states in state_sums(both).items() if isinstance(day, date)}
    own = {day: states for day, states in found.items() if day >= window.first_day}
    if spans is None:
        return Daily(own)
    return Daily(own, Against(*spans, *(_states_within(found, span) for span in spans)))


def _states_within(found: Mapping[date, States], window: Window) -> States:
    return tuple(
        each
        for day, states in found.items()
        if window.first_day <= day < window.end_day
        for each in states
    )
