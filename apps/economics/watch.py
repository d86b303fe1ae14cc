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
    """A new level that began on a day (its ordinal), and how many looks in a row found it."""

    day: int
    effect: float
    looks: int = 1

    @property
    def is_told(self) -> bool:
        """Whether enough looks agree."""
        return self.looks >= LOOKS_TO_TELL


def usable(days: Iterable[WatchedDay]) -> list[WatchedDay]:
    """The days a figure can be judged by, in order: it is above 0, and there was enough output.

    A day of less than 5 % of the usual output says more of the day than of what is measured.
    """
    known = sorted((each for each in days if each.value > 0), key=lambda each: each.day)
    if not known:
        return []
    least = LEAST_OUTPUT * median(each.output for each in known)
    return [each for each in known if each.output >= least]


def look(days: Sequence[WatchedDay], before: Iterable[Sighting]) -> list[Sighting]:
    """The new levels of usable days up to the last, each counted on from the look before.

    One within 7 days of another is the same. Under three weeks of days there is none.
    """
    if len(days) < FEWEST_DAYS:
        return []
    last, earlier = days[-1].day, list(before)
    weekdays = [each.day % WEEK for each in days]
    found: list[Sighting] = []
    for change in changes([each.value for each in days], weekdays):
        began = days[change.day].day
        is_same = found and began - found[-1].day <= SAME_WITHIN_DAYS
        if last - began > NEWEST_DAYS or abs(change.effect) < LEAST_EFFECT or is_same:
            continue
        looks = [each.looks for each in earlier if abs(each.day - began) <= SAME_WITHIN_DAYS]
        found.append(Sighting(began, change.effect, max(looks, default=0) + 1))
    return found


def edges(days: Sequence[WatchedDay]) -> list[int]:
    """The days on which a new level began, over all of the history."""
    weekdays = [each.day % WEEK for each in days]
    found = changes([each.value for each in days], weekdays) if len(days) >= FEWEST_DAYS else []
    return [days[change.day].day for change in found]


def is_spike(days: Sequence[WatchedDay]) -> bool:
    """Whether the last day is over 5 robust deviations above the same weekdays before it.

    Up to 28 of them, and no fewer than 8; where they do not differ it is none.
    """
    *earlier, last = days
    like = [each.value for each in earlier if (last.day - each.day) % WEEK == 0][-MOST_LIKE:]
    return len(like) >= FEWEST_LIKE and bool(spikes([last.value], [like]))
