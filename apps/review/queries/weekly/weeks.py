"""ISO weeks, as reviews are named by them: "2026-W30" is the seven local days from a Monday on."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import EARLIEST, LATEST, Window

WEEK = timedelta(days=7)
TREND_WEEKS = 8
_NAME = re.compile(r"(\d{4})-W(\d{2})", re.ASCII)


class WeekNotUnderstood(Refusal):
    """The text names no ISO week."""


@dataclass(frozen=True, slots=True)
class ReviewWeek:
    """The local days `[first_day, end_day)` from a Monday on."""

    first_day: date

    @property
    def name(self) -> str:
        """Such as 2026-W30; a week is of the year that has its Thursday."""
        year, week, _ = self.first_day.isocalendar()
        return f"{year}-W{week:02d}"

    @property
    def end_day(self) -> date:
        """The Monday after."""
        return self.first_day + WEEK

    def back(self, weeks: int) -> "ReviewWeek":
        """So many weeks before."""
        return ReviewWeek(self.first_day - weeks * WEEK)

    def window(self, zone: str, weeks: int = 1) -> Window:
        """Its days, with as many weeks up to it."""
        return Window("", self.back(weeks - 1).first_day, self.end_day, zone)


def review_week(name: str) -> ReviewWeek:
    """The week of this name; refuses WeekNotUnderstood."""
    parts = _NAME.fullmatch(name)
    try:
        first_day = date.fromisocalendar(int(parts[1]), int(parts[2]), 1) if parts else None
    except ValueError:
        first_day = None
    if first_day is None or not EARLIEST <= first_day < LATEST - 2 * WEEK:
        raise WeekNotUnderstood("week", f"{name!r} is no ISO week, such as 2026-W30")
    return ReviewWeek(first_day)


def week_holding(day: date) -> ReviewWeek:
    """The week that a day is of."""
    return ReviewWeek(day - timedelta(days=day.weekday()))


def last_week(at: datetime, zone: str) -> ReviewWeek:
    """The last that is over in the organisation's zone."""
    return week_holding(local_day(at, zone)).back(1)


def trend_weeks(week: ReviewWeek) -> list[ReviewWeek]:
    """The eight weeks up to this one, the oldest first."""
    return [week.back(TREND_WEEKS - 1 - place) for place in range(TREND_WEEKS)]
