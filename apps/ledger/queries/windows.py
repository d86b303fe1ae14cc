"""Spans of whole local days, as people and programs name them."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from apps.economics.hours import HOUR, first_hour
from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day, next_month

DAY = timedelta(days=1)
LONGEST = timedelta(days=3 * 366)
EARLIEST, LATEST = date(1970, 1, 1), date(3000, 1, 1)
OUTSIDE_YEARS = "is not within the years 1970 to 2999"
WORDS = "today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end"
_PLAIN_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class WindowNotUnderstood(Refusal):
    """The text names no span of days."""


class WindowCutsADay(Refusal):
    """Costs are summed by local day; a window begins and ends at local midnight."""


class WindowCutsAnHour(Refusal):
    """Costs are charged by the hour: no line is of a part of one."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """The organisation's zone, the ISO weekday its weeks start on, and the day it is there.

    With `tells_hours` a window may begin and end with any hour, where rows are of hours.
    """

    zone: str
    week_starts_on: int
    today: date
    tells_hours: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The local days `[first_day, end_day)`; `text` is what was asked for.

    `hours` are those of these days that are meant, from and until, where it is not all of them.
    """

    text: str
    first_day: date
    end_day: date
    zone: str
    hours: tuple[datetime, datetime] | None = None

    @property
    def starts_at(self) -> datetime:
        """The first UTC hour that belongs to it."""
        return self.hours[0] if self.hours else first_hour(self.first_day, self.zone)

    @property
    def ends_at(self) -> datetime:
        """The first UTC hour that does not."""
        return self.hours[1] if self.hours else first_hour(self.end_day, self.zone)

    @property
    def is_whole_months(self) -> bool:
        """Whether it begins and ends with a month."""
        return self.first_day.day == self.end_day.day == 1

    def months_within(self) -> "Window | None":
        """The whole months in it; None where there is none."""
        begins = self.first_day.day == 1
        first_day = self.first_day if begins else next_month(self.first_day)
        end_day = self.end_day.replace(day=1)
        return Window("", first_day, end_day, self.zone) if first_day < end_day else None

    def before(self) -> "Window":
        """Return the span before this one: of a month the month before, else as many days."""
        if self.first_day.day == 1 and self.end_day == next_month(self.first_day):
            return Window("", (self.first_day - DAY).replace(day=1), self.first_day, self.zone)
        return Window(
            "", self.first_day - (self.end_day - self.first_day), self.first_day, self.zone
        )


def calendar_of(zone: str, week_starts_on: int, at: datetime) -> Calendar:
    """The calendar at a moment."""
    return Calendar(zone, week_starts_on, local_day(at, zone))


def window_of(text: str, calendar: Calendar) -> Window:
    """The window that `text` names; refuses WindowNotUnderstood, WindowCutsADay and WindowCutsAnHour.

    `7d` is the last seven days with today as far as it has come; `week` and `month` are the
    current ones.
    """
    try:
        first_day, end_day = _named_span(text, calendar) or _written_span(text, calendar)
    except WindowCutsADay:
        if not calendar.tells_hours:
            raise
        return _hours_within(text, calendar)
    if first_day >= end_day:
        raise WindowNotUnderstood("window", f"{text!r} ends before it starts")
    if first_day < EARLIEST or end_day > LATEST:
        raise WindowNotUnderstood("window", f"{text!r} {OUTSIDE_YEARS}")
    if end_day - first_day > LONGEST:
        raise WindowNotUnderstood("window", f"{text!r} is longer than three years")
    return Window(text, first_day, end_day, calendar.zone)


def _hours_within(text: str, calendar: Calendar) -> Window:
    """The days that a span of whole hours touches, with these hours."""
    start, _, end = text.partition("/")
    starts_at, ends_at = (_boundary_hour(boundary, calendar.zone) for boundary in (start, end))
    if starts_at >= ends_at:
        raise WindowNotUnderstood("window", f"{text!r} ends before it starts")
    earliest, latest = (first_hour(day, calendar.zone) for day in (EARLIEST, LATEST))
    if starts_at < earliest or ends_at > latest:
        raise WindowNotUnderstood("window", f"{text!r} {OUTSIDE_YEARS}")
    last_day = local_day(ends_at - HOUR, calendar.zone)
    days = window_of(f"{local_day(starts_at, calendar.zone)}/{last_day + DAY}", calendar)
    return replace(days, text=text, hours=(starts_at, ends_at))


def _boundary_hour(text: str, zone: str) -> datetime:
    """The UTC hour that begins at a moment, or with a local day."""
    try:
        if _PLAIN_DAY.fullmatch(text):
            return first_hour(date.fromisoformat(text), zone)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=ZoneInfo(zone))
        hour = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WindowNotUnderstood("window", f"{text!r} is no day and no moment") from None
    if hour != hour.replace(minute=0, second=0, microsecond=0):
        raise WindowCutsAnHour("window", f"{text} is not the beginning of an hour")
    return hour


def _named_span(text: str, calendar: Calendar) -> tuple[date, date] | None:
    today = calendar.today
    tomorrow, month = today + DAY, today.replace(day=1)
    monday = today - DAY * ((today.isoweekday() - calendar.week_starts_on) % 7)
    named = {
        "today": (today, tomorrow),
        "yesterday": (today - DAY, today),
        "week": (monday, monday + 7 * DAY),
        "month": (month, next_month(month)),
        "lastmonth": ((month - DAY).replace(day=1), month),
    }
    if text in named:
        return named[text]
    days = re.fullmatch(r"([1-9]\d{0,3})d", text)
    return (tomorrow - DAY * int(days[1]), tomorrow) if days else None


def _written_span(text: str, calendar: Calendar) -> tuple[date, date]:
    start, slash, end = text.partition("/")
    try:
        if slash:
            return _boundary_day(start, calendar.zone), _boundary_day(end, calendar.zone)
        if re.fullmatch(r"\d{4}-\d{2}", text):
            month = date.fromisoformat(f"{text}-01")
            return month, next_month(month)
        day = date.fromisoformat(text)
        return day, day + DAY
    except WindowCutsADay:
        raise
    except (ValueError, OverflowError):
        raise WindowNotUnderstood("window", f"{text!r} is none of {WORDS}") from None


def _boundary_day(text: str, zone: str) -> date:
    """A local day, or the moment at which one begins."""
    if _PLAIN_DAY.fullmatch(text):
        return date.fromisoformat(text)
    moment = datetime.fromisoformat(text)
    # Without an offset it is the organisation's own time, as a day without one is.
    local = moment.replace(tzinfo=ZoneInfo(zone)) if moment.tzinfo is None else moment
    day = local_day(local, zone)
    midnight = datetime.combine(day, datetime.min.time(), tzinfo=ZoneInfo(zone))
    if local not in (midnight, first_hour(day, zone)):
        raise WindowCutsADay(
            "window",
            f"{text} is not the beginning of a day in {zone}: sums are of whole days, such as"
            f" {day}/{day + DAY}; by the hour there are lines (/api/v1/costs/lines)",
        )
    return day
