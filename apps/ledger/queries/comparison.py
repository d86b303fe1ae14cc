"""Like spans: whole days of a window that are over, and the same days of the span before."""

from dataclasses import replace
from datetime import date, datetime

from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import Window


def compared_spans(window: Window, at: datetime) -> tuple[Window, Window] | None:
    """Whole days of the window that are over, and the same days of the span before: for every page.

    None where no day of it is over, or where the span before reaches back to when no node was
    known: a part of a span is no measure for a whole one.
    """
    spans = days_over(window, local_day(at, window.zone))
    since = fleet.lived_since()
    if spans is None or since is None or since > spans[1].starts_at:
        return None
    return spans


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
