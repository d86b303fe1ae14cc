"""A figure by the hour: what was, what is expected, and between what, with what came since."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from apps.show.charts import Json, checked, day_axis, plot_layout, ticks_between

_MARGIN_PX = {"r": 16, "t": 10, "b": 28}


@dataclass(frozen=True, slots=True)
class FanPoint:
    """An hour ahead: what is expected, and the ends of its interval; None where it is not known."""

    at: datetime
    value: float
    interval: tuple[float, float] | None


Line = Sequence[tuple[datetime, float | None]]


def fan_chart(
    before: Line,
    ahead: Sequence[FanPoint],
    came: Line,
    said: Callable[[float], str],
    tick_text: Callable[[float], str],
) -> Json:
    """Lines from zero with a band around what is expected; moments are local, `said` is a value in words."""
    values = [value for _, value in (*before, *came) if value is not None]
    values += [point.value for point in ahead]
    values += [end for point in ahead for end in point.interval or ()]
    ticks = ticks_between(Decimal(min(0, *values)), Decimal(max(values)))
    moments = [at for at, _ in before] + [point.at for point in ahead]
    days = (max(moments).date() - min(moments).date()).days + 1
    traces = [
        *_interval_bands(ahead),
        _plain_line("Before", before, said, "var(--ink-3)"),
        _plain_line(
            "Expected", [(point.at, point.value) for point in ahead], said, "var(--accent)"
        ),
    ]
    if any(value is not None for _, value in came):
        traces.append(_plain_line("Came", came, said, "var(--ink)"))
    texts = [tick_text(float(tick)) for tick in ticks]
    axis = day_axis([min(moments).date() + timedelta(days=day) for day in range(days)])
    return checked(traces, plot_layout(ticks, texts, _MARGIN_PX, xaxis=axis))


def _interval_bands(ahead: Sequence[FanPoint]) -> list[Json]:
    """Its lower edge, and its upper one with what lies between."""
    known = [(_moment_text(point.at), *point.interval) for point in ahead if point.interval]
    if not known:
        return []
    moments, lows, highs = zip(*known, strict=True)
    edge: Json = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    filled: Json = {"fill": "tonexty", "fillcolor": "var(--band)"}
    return [
        {**edge, "name": "Lowest", "x": list(moments), "y": list(lows)},
        {**edge, "name": "Highest", "x": list(moments), "y": list(highs), **filled},
    ]


def _plain_line(name: str, points: Line, said: Callable[[float], str], colour: str) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [_moment_text(at) for at, _ in points],
        "y": [value for _, value in points],
        "customdata": ["" if value is None else said(value) for _, value in points],
        "hovertemplate": f"{name}, %{{x|%a %-d %B %H:%M}}: %{{customdata}}<extra></extra>",
        "line": {"color": colour, "width": 2 if name == "Expected" else 1.5},
        "connectgaps": False,
    }


def _moment_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
