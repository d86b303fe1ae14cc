"""Sums of roll-ups day by day, beside the same days of the span before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from apps.accounts.queries import Viewer
from apps.ledger.queries.comparison import compared_spans
from apps.ledger.queries.costs import CostStanding, standing
from apps.ledger.queries.drill.sums import DayState, Drill, States, Sureness, sums_by_day
from apps.ledger.queries.overview import DaySum
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class Against:
    """Two like spans of whole days that are over, by state."""

    before: Window
    now_states: States
    before_states: States


@dataclass(frozen=True, slots=True)
class Daily:
    """The days of the window with costs; `against` None where there is no like span before."""

    days: tuple[DaySum, ...]
    against: Against | None


def costs_by_day(drill: Drill, viewer: Viewer, at: datetime) -> tuple[Daily, Sureness]:
    """Each day by state, with the same days of the span before; and how sure the days are."""
    window = drill.chosen.window
    spans = compared_spans(window, at)
    first_day = spans[1].first_day if spans else window.first_day
    both = replace(drill.chosen, window=replace(window, first_day=first_day))
    found = sums_by_day(replace(drill, chosen=both), viewer)
    own = [each for each in found if each.day >= window.first_day]
    against = (
        Against(spans[1], _within(found, spans[0]), _within(found, spans[1])) if spans else None
    )
    return Daily(_days(own), against), _sureness(own, standing(window, at))


def _days(found: Sequence[DayState]) -> tuple[DaySum, ...]:
    return tuple(
        DaySum(day, tuple(each.sums for each in states))
        for day, states in groupby(found, key=lambda each: each.day)
    )


def _sureness(found: Sequence[DayState], known: CostStanding) -> Sureness:
    return Sureness(
        statuses=frozenset(status for each in found for status in each.statuses),
        held_milliseconds=sum(each.held_milliseconds for each in found),
        observed_milliseconds=sum(each.observed_milliseconds for each in found),
        as_of=known.as_of,
        pending_hours=known.pending_hours,
    )


def _within(found: Sequence[DayState], window: Window) -> States:
    return tuple(each.sums for each in found if window.first_day <= each.day < window.end_day)
