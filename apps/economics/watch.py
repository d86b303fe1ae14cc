"""Looking at a daily figure every day: which changes of level are new, and seen more than once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from apps.economics.changes import WEEK, changes, spikes

NEWEST_DAYS = 21
"""A change that began longer ago is history: nobody is told of it as new."""
LEAST_EFFECT = 0.03
LOOKS_TO_TELL = 2
SAME_WITHIN_DAYS = 7
LEAST_OUTPUT = 0.05
FEWEST_DAYS = 21
MOST_LIKE, FEWEST_LIKE = 28, 8


@dataclass(frozen=True, slots=True)
class WatchedDay:
    """A day (its ordinal), the figure on it, and the output that the figure is per."""

    day: int
    value: float
    output: float

    @property
    def date(self) -> date:
        """The day."""
        return date.fromordinal(self.day)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A new level that began on a day (its ordinal), and how many looks in a row found it.

    `is_answered`: somebody said what it is. It takes in no other change then, and is taken into none.
    """

    day: int
    effect: float
    looks: int = 1
    is_answered: bool = False

    @property
    def is_told(self) -> bool:
        """Whether enough looks agree."""
        return self.looks >= LOOKS_TO_TELL


def usable(days: Iterable[WatchedDay]) -> list[WatchedDay]:
    """The days a figure can be judged by, in order: it is above 0, and there was enough output.

    A day of less than 5 % of the usual output says more of the day than of what is measured.
    """
    known_days = sorted((day for day in days if day.value > 0), key=lambda day: day.day)
    if not known_days:
        return []
    least = LEAST_OUTPUT * median(day.output for day in known_days)
    return [day for day in known_days if day.output >= least]


def detect_level_changes(
    days: Sequence[WatchedDay], before: Iterable[Sighting], strictness: float = 1.0
) -> list[Sighting]:
    """The new levels of usable days up to the last, each counted on from the look before.

    One within 7 days of another is the same, but what was answered: of that it is the nearest alone. Each has to be
    `strictness` times as large. Under three weeks of days there is none.
    """
    dated = _dated_changes(days, strictness)
    earlier = list(before)
    answered = _answered_days([began for began, _ in dated], earlier)
    sightings: list[Sighting] = []
    for began, effect in dated:
        is_answered = began in answered
        is_same = (
            sightings
            and began - sightings[-1].day <= SAME_WITHIN_DAYS
            and not (is_answered or sightings[-1].is_answered)
        )
        is_old = days[-1].day - began > NEWEST_DAYS
        if is_old or abs(effect) < LEAST_EFFECT * strictness or is_same:
            continue
        look_counts = [
            sighting.looks
            for sighting in earlier
            if sighting.is_answered == is_answered and abs(sighting.day - began) <= SAME_WITHIN_DAYS
        ]
        sightings.append(Sighting(began, effect, max(look_counts, default=0) + 1, is_answered))
    return sightings


def edges(days: Sequence[WatchedDay], strictness: float = 1.0) -> list[int]:
    """The days on which a new level began, over all of the history."""
    return [began for began, _ in _dated_changes(days, strictness)]


def is_spike(days: Sequence[WatchedDay], strictness: float = 1.0) -> bool:
    """Whether the last day is over 5 robust deviations × `strictness` above the same weekdays before it.

    Up to 28 of them, and no fewer than 8; where they do not differ it is none.
    """
    *earlier, last = days
    like = [day.value for day in earlier if (last.day - day.day) % WEEK == 0][-MOST_LIKE:]
    return len(like) >= FEWEST_LIKE and bool(spikes([last.value], [like], strictness))


def _dated_changes(days: Sequence[WatchedDay], strictness: float) -> list[tuple[int, float]]:
    """Of each new level the day on which it began and its effect; none of fewer than three weeks of days."""
    if len(days) < FEWEST_DAYS:
        return []
    weekdays = [day.day % WEEK for day in days]
    level_changes = changes([day.value for day in days], weekdays, strictness)
    return [(days[change.day].day, change.effect) for change in level_changes]


def _answered_days(began: Sequence[int], earlier: Iterable[Sighting]) -> frozenset[int]:
    """Return the days of changes that were answered: the nearest to each, within 7 days."""
    nearest = (
        min(began, key=lambda day: abs(day - sighting.day))
        for sighting in earlier
        if sighting.is_answered
        and any(abs(day - sighting.day) <= SAME_WITHIN_DAYS for day in began)
    )
    return frozenset(nearest)
