"""Like spans: whole days of a window that are over, and the days they are held against. One rule for all."""

from dataclasses import dataclass, replace
from datetime import date, datetime

from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import Calendar, Window, window_of

BEFORE, LAST_YEAR = "before", "lastyear"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a window: with `before` it, the same days of `lastyear`, or the days of `own`."""

    text: str = BEFORE
    own: Window | None = None


THE_SPAN_BEFORE = Comparison()


def comparison_of(text: str, calendar: Calendar) -> Comparison:
    """Return the comparison that an address asks; any but `before` and `lastyear` is a window, and refuses as that does."""
    if text in (BEFORE, LAST_YEAR):
        return Comparison(text)
    return Comparison(text, window_of(text, calendar))


def compared_spans(
    window: Window, at: datetime, comparison: Comparison = THE_SPAN_BEFORE
) -> tuple[Window, Window] | None:
    """Whole days of the window that are over, and those they are held against: for every page.

    None where no day of it is over, or where those others reach back to when no node was known: a
    part of a span is no measure for a whole one.
    """
    spans = days_compared(window, local_day(at, window.zone), comparison)
    return spans if spans is not None and is_comparable_span(spans[1]) else None


def is_comparable_span(before: Window) -> bool:
    """Whether nodes were known from its beginning on, so that it can be held against."""
    since = fleet.first_node_started_at()
    return since is not None and since <= before.starts_at


def days_compared(
    window: Window, today: date, comparison: Comparison
) -> tuple[Window, Window] | None:
    """The days of the window that are over, and the others as far as they are; None: no day is."""
    spans = days_over(window, today)
    if spans is None or comparison.text == BEFORE:
        return spans
    now = spans[0]
    if comparison.own is None:
        first_day, end_day = (_a_year_before(day) for day in (now.first_day, now.end_day))
        return now, Window("", first_day, end_day, window.zone)
    own_spans = days_over(comparison.own, today)
    return None if own_spans is None else (now, own_spans[0])


def days_over(window: Window, today: date) -> tuple[Window, Window] | None:
    """The days of the window before `today`, and the same of the span before it; None: no day is."""
    before = window.before()
    if window.end_day <= today:
        return window, before
    if window.first_day >= today:
        return None
    now = replace(window, end_day=today)
    last = min(before.first_day + (today - window.first_day), before.end_day)
    return now, replace(before, end_day=last)


def _a_year_before(day: date) -> date:
    """29 February is held against 28 February."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)
