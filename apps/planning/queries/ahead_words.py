"""The forecasts that hours ahead are from, in words."""

from collections.abc import Sequence
from datetime import tzinfo

from apps.economics.hours import HOUR
from apps.planning.queries.ahead import LAST_WEEK, AheadSpan
from apps.planning.queries.forecasts import BY_DAY, BY_HOUR
from apps.show.time import short_day

SPANS = {BY_HOUR: "by the hour", BY_DAY: "by the day", LAST_WEEK: "the last week again"}


def describe_spans(spans: Sequence[AheadSpan], zone: tzinfo) -> str:
    """Return what hours ahead are from: `by the hour to 24 Mar 2026, by the day to 31 May 2026 (1 of 2 series)`."""
    series, parts = {span.series for span in spans}, []
    for origin, words in SPANS.items():
        of = [span for span in spans if span.origin == origin]
        if of:
            last = (max(ahead_span.ends_at for ahead_span in of) - HOUR).astimezone(zone).date()
            share = f" ({len(of)} of {len(series)} series)" if len(of) < len(series) else ""
            parts.append(f"{words} to {short_day(last)} {last.year}{share}")
    return ", ".join(parts)
