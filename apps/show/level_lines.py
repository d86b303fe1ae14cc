"""A figure day by day with the levels it had, and what changed about then marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from apps.show.charts import CHARACTER_PX, FONT, HEIGHT_PX, Json, checked, day_axis, ticks_between

_MARGIN_PX = {"r": 8, "t": 26, "b": 28}


@dataclass(frozen=True, slots=True)
class Level:
    """A level that a figure had from a day to a day."""

    first: date
    last: date
    value: float
    words: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that changed on a day; `number` names it in the table beside."""

    day: date
    number: int


def level_line(
    points: Sequence[tuple[date, float, str]], levels: Sequence[Level], marks: Sequence[Mark]
) -> Json:
    """Dots joined from zero, each with its words; levels as lines across, marks as lines down."""
    days = [day for day, _, _ in points]
    ticks = ticks_between(Decimal(0), max(Decimal(str(value)) for _, value, _ in points))
    top = float(ticks[-1])
    traces: list[Json] = [_day_points(points), *map(_level_line, levels)]
    shown = [mark for mark in marks if days[0] <= mark.day <= days[-1]]
    traces += [_mark_line(mark, top) for mark in shown]
    return checked(traces, _level_layout(days, ticks, shown))


def _day_points(points: Sequence[tuple[date, float, str]]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "Each day",
        "x": [day.isoformat() for day, _, _ in points],
        "y": [value for _, value, _ in points],
        "customdata": [words for _, _, words in points],
        "hovertemplate": "%{x|%a %-d %B}: %{customdata}<extra></extra>",
        "line": {"color": "var(--ink-3)", "width": 1},
        "marker": {"color": "var(--ink-3)", "size": 4},
    }


def _level_line(level: Level) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": level.words,
        "x": [level.first.isoformat(), level.last.isoformat()],
        "y": [level.value, level.value],
        "hovertemplate": f"{level.words}<extra></extra>",
        "line": {"color": "var(--accent)", "width": 3},
    }


def _mark_line(mark: Mark, top: float) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": str(mark.number),
        "x": [mark.day.isoformat()] * 2,
        "y": [0, top],
        "hoverinfo": "skip",
        "line": {"color": "var(--ink-3)", "width": 1, "dash": "dot"},
    }


def _level_layout(days: Sequence[date], ticks: Sequence[Decimal], marks: Sequence[Mark]) -> Json:
    texts = [f"{tick.normalize():f}" for tick in ticks]
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 10 + CHARACTER_PX * max(map(len, texts)), **_MARGIN_PX},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": "var(--ink-2)"},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": "var(--card)",
            "bordercolor": "var(--line-strong)",
            "font": {"family": FONT, "size": 12, "color": "var(--ink)"},
        },
        "xaxis": day_axis(days),
        "yaxis": {
            "range": [0, float(ticks[-1])],
            "tickmode": "array",
            "tickvals": [float(tick) for tick in ticks],
            "ticktext": texts,
            "gridcolor": "var(--line)",
            "zerolinecolor": "var(--line-strong)",
            "fixedrange": True,
        },
        "annotations": [_mark_number(mark) for mark in marks],
    }


def _mark_number(mark: Mark) -> Json:
    return {
        "text": str(mark.number),
        "x": mark.day.isoformat(),
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "var(--ink-2)"},
    }
