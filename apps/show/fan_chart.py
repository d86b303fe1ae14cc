"""A figure by the hour or day: what was, what is expected, and between what, with what came since, and events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from apps.show.charts import Json, checked, day_axis, month_axis, plot_layout, ticks_between

_MARGIN_PX = {"r": 16, "t": 10, "b": 28}


@dataclass(frozen=True, slots=True)
class FanPoint:
    """An hour or day ahead: what is expected, and the ends of its interval; None where it is not known."""

    at: datetime
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class FanEvent:
    """An event that people entered for the days from `first` to before `end`, in words."""

    first: datetime
    end: datetime
    said: str


Line = Sequence[tuple[datetime, float | None]]


def fan_chart(
    before: Line,
    ahead: Sequence[FanPoint],
    actual: Line,
    value_text: Callable[[float], str],
    tick_text: Callable[[float], str],
    events: Sequence[FanEvent] = (),
) -> Json:
    """Lines from zero with a band around what is expected; moments are local, `value_text` is a value in words.

    Events of days that are drawn are bars along the upper edge. Points a day apart have an axis of months.
    """
    values = [value for _, value in (*before, *actual) if value is not None]
    values += [point.value for point in ahead]
    values += [end for point in ahead for end in point.interval or ()]
    ticks = ticks_between(Decimal(min(0, *values)), Decimal(max(values)))
    moments = [at for at, _ in before] + [point.at for point in ahead]
    is_daily = len(ahead) > 1 and ahead[1].at - ahead[0].at > timedelta(hours=12)
    expected = [(point.at, point.value) for point in ahead]
    traces = [
        *_interval_bands(ahead),
        _plain_line("Before", before, value_text, "var(--ink-3)", is_daily=is_daily),
        _plain_line("Expected", expected, value_text, "var(--accent)", is_daily=is_daily),
    ]
    if any(value is not None for _, value in actual):
        traces.append(_plain_line("Came", actual, value_text, "var(--ink)", is_daily=is_daily))
    first, last = min(moments), max(moments)
    drawn = [event for event in events if event.first < last and event.end > first]
    traces += [_event_bar(event, first, last, float(ticks[-1])) for event in drawn]
    texts = [tick_text(float(tick)) for tick in ticks]
    days = [first.date() + timedelta(days=day) for day in range((last - first).days + 2)]
    axis = month_axis(days) if is_daily else day_axis(days)
    return checked(traces, plot_layout(ticks, texts, _MARGIN_PX, xaxis=axis))


def _interval_bands(ahead: Sequence[FanPoint]) -> list[Json]:
    """Its lower edge, and its upper one with what lies between."""
    bands = [(_moment_text(point.at), *point.interval) for point in ahead if point.interval]
    if not bands:
        return []
    moments, lows, highs = zip(*bands, strict=True)
    edge: Json = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    filled: Json = {"fill": "tonexty", "fillcolor": "var(--band)"}
    return [
        {**edge, "name": "Lowest", "x": list(moments), "y": list(lows)},
        {**edge, "name": "Highest", "x": list(moments), "y": list(highs), **filled},
    ]


def _event_bar(event: FanEvent, first: datetime, last: datetime, top: float) -> Json:
    """A trace, since shapes are left out where room is scarce."""
    ends = max(event.first, first), min(event.end, last)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": event.said,
        "x": [_moment_text(at) for at in ends],
        "y": [top] * 2,
        "hovertemplate": f"{event.said}<extra></extra>",
        "line": {"color": "var(--warn)", "width": 6},
    }


def _plain_line(
    name: str, points: Line, value_text: Callable[[float], str], colour: str, *, is_daily: bool
) -> Json:
    when = "%a %-d %B %Y" if is_daily else "%a %-d %B %H:%M"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [_moment_text(at) for at, _ in points],
        "y": [value for _, value in points],
        "customdata": ["" if value is None else value_text(value) for _, value in points],
        "hovertemplate": f"{name}, %{{x|{when}}}: %{{customdata}}<extra></extra>",
        "line": {"color": colour, "width": 2 if name == "Expected" else 1.5},
        "connectgaps": False,
    }


def _moment_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
