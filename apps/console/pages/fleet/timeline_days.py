"""Which day of a node the address asks for: a day of the organisation's zone, else the last 24 hours."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.request import Context
from apps.console.pages.fleet.timeline_values import Span
from apps.economics.hours import HOUR, hour_of
from apps.show.time import clock, weekday

DAY = timedelta(days=1)
HOURS = 24
TICKS = 4
# Before there were GPUs to rent; and a day has one before it.
EARLIEST = date(2000, 1, 1)
LONGEST_TEXT = 20


@dataclass(frozen=True, slots=True)
class DayAsked:
    """The span that is asked for; `problem` says what of the address was not understood."""

    span: Span
    problem: str = ""


def day_asked(given: QueryDict, context: Context) -> DayAsked:
    """The day named in the address; a day that is yet to come is not one."""
    text = given.get("day", "")[:LONGEST_TEXT]
    if not text:
        return DayAsked(_latest(context))
    today = context.at.astimezone(context.zone).date()
    try:
        day = date.fromisoformat(text)
        span = _span_of(day, context)
    except (ValueError, OverflowError):
        span = None
    if span is None or day < EARLIEST:
        return DayAsked(_latest(context), f"{text!r} is no day. Shown instead: the last 24 hours.")
    if day > today:
        return DayAsked(
            _latest(context), f"{text} is yet to come. Shown instead: the last 24 hours."
        )
    return DayAsked(span)


def said(span: Span) -> str:
    """The span in words: `the last 24 hours`, or `Fri 20 November 2026`."""
    return "the last 24 hours" if span.day is None else f"{weekday(span.day)} {span.day.year}"


def ticks(span: Span) -> tuple[tuple[str, str], ...]:
    """Where the time of day is written, and how."""
    step = (span.ends_at - span.starts_at) / TICKS
    moments = [span.starts_at + k * step for k in range(1, TICKS)]
    return tuple((f"{span.left(at):.2f}%", clock(at, span.zone)) for at in moments)


def href(name: str, node_id: int, day: date | None) -> str:
    """An address of this node with its day."""
    query = f"?{urlencode({'day': day.isoformat()})}" if day else ""
    return reverse(name, args=[node_id]) + query


def _latest(context: Context) -> Span:
    ends_at = hour_of(context.at) + HOUR
    return Span(ends_at - HOURS * HOUR, ends_at, context.at, context.zone)


def _span_of(day: date, context: Context) -> Span:
    starts_at, ends_at = (
        datetime.combine(each, time(), context.zone).astimezone(UTC) for each in (day, day + DAY)
    )
    return Span(starts_at, ends_at, min(ends_at, context.at), context.zone, day)
