"""The spans an Overview offers, and how sentences speak of a span."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from apps.ledger.queries import Window
from apps.show.time import month, period

DAY = timedelta(days=1)

PERIODS: Mapping[str, str] = {
    "today": "Today",
    "yesterday": "Yesterday",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    "week": "This week",
    "month": "This month",
    "lastmonth": "Last month",
}
COMPARED_WITH: Mapping[str, str] = {
    "before": "The span before",
    "lastmonth": "Last month",
    "lastyear": "A year before",
}
"""What a period is held against, beside days of one's own."""
NO_SPAN_BEFORE = "no whole span before to compare with"
DEFAULT_PERIOD = "30d"
"""What every page shows that is asked for no period, unless it says why."""
DEFAULT_PERIOD_WORDS = "the last 30 days"
_SUBJECTS: Mapping[str, tuple[str, str]] = {
    "today": ("Today so far", "today so far"),
    "yesterday": ("Yesterday", "yesterday"),
    "week": ("This week so far", "this week so far"),
}


@dataclass(frozen=True, slots=True)
class PeriodWords:
    """A span as the subject of a sentence, as a phrase of time within one, and by its days."""

    subject: str
    within: str
    days: str
    window: Window
    today: date


def period_words(window: Window, today: date) -> PeriodWords:
    """`The last 7 days`, `in the last 7 days`, `15 to 21 November 2026`."""
    subject, within = _phrases(window, today)
    days = period(window.first_day, until(window, today))
    return PeriodWords(subject, within, days, window, today)


def until(window: Window, today: date) -> date:
    """The day after the last one that has begun; never before the first."""
    return max(window.first_day, min(window.end_day, today + DAY))


def _phrases(window: Window, today: date) -> tuple[str, str]:
    if window.text in _SUBJECTS:
        return _SUBJECTS[window.text]
    if window.text.endswith("d") and window.text[:-1].isdigit():
        days = int(window.text[:-1])
        span = "day" if days == 1 else f"{days:,} days"
        return f"The last {span}", f"in the last {span}"
    so_far = " so far" if window.first_day <= today < window.end_day else ""
    words = period(window.first_day, window.end_day)
    if words == month(window.first_day):
        return f"{words}{so_far}", f"in {words}{so_far}"
    if (window.end_day - window.first_day).days == 1:
        return f"{words}{so_far}", f"on {words}{so_far}"
    return f"{words}{so_far}", f"from {words}{so_far}"


def span(window: Window) -> str:
    """Days without their year where it says nothing: `8 to 13 November`, `October 2026`."""
    first, last = window.first_day, window.end_day - DAY
    words = period(first, window.end_day)
    if words == month(first) or first.year != last.year:
        return words
    return words.removesuffix(f" {last.year}")


def compared_span_label(window: Window, other: Window) -> str:
    """Return the words of a span beside another: with its year where that is not the other's."""
    if window.first_day.year != other.first_day.year:
        return period(window.first_day, window.end_day)
    return span(window)


def days_between(first: date, end: date) -> list[date]:
    """`[first, end)`, at least the first."""
    return [first + timedelta(days=ahead) for ahead in range(max(1, (end - first).days))]
