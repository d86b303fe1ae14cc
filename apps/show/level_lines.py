"""A figure day by day with the levels it had, and what changed about then marked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from apps.show.charts import Json, checked, ticks_between
from apps.show.marked_days import NumberedDay
from apps.show.unit_lines import marked_layout, marked_lines


@dataclass(frozen=True, slots=True)
class Level:
    """A level that a figure had from a day to a day."""

    first: date
    last: date
    value: float
    words: str


def level_line(
    points: Sequence[tuple[date, float, str]],
    levels: Sequence[Level],
    marks: Sequence[NumberedDay],
    named: Callable[[float], str],
) -> Json:
    """Dots joined from zero, each with its words; levels as lines across, marks as lines down.

    `named` says a value with its unit.
    """
    days = [day for day, _, _ in points]
    ticks = ticks_between(Decimal(0), max(Decimal(str(value)) for _, value, _ in points))
    texts = [named(float(tick)) for tick in ticks]
    traces = [_day_points(points), *map(_level_line, levels), *marked_lines(days, marks, ticks[-1])]
    return checked(traces, marked_layout(days, marks, ticks, texts))


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
