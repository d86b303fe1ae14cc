"""The cost of a unit day by day; and lines down at days that something happened on."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from apps.show.charts import (
    Json,
    checked,
    day_axis,
    label_above,
    line_down,
    plot_layout,
    ticks_between,
)
from apps.show.marked_days import NumberedDay
from apps.show.money import MICROS, unit_cost

_MARGIN_PX = {"r": 8, "t": 26, "b": 28}


def unit_line(days: Sequence[date], micros: Sequence[int | None], currency: str) -> Json:
    """A line from zero with a dot a day; nothing is drawn on a day whose unit cost is undefined."""
    known_costs = [Decimal(amount) / MICROS for amount in micros if amount is not None]
    ticks = ticks_between(Decimal(0), max(known_costs, default=Decimal(1)))
    texts = [unit_cost(int(tick * MICROS), currency) for tick in ticks]
    return checked([_unit_line(days, micros, currency)], marked_layout(days, (), ticks, texts))


def marked_lines(days: Sequence[date], marks: Sequence[NumberedDay], top: Decimal) -> list[Json]:
    """A line down at each of these that is on one of the days."""
    return [
        line_down(mark.day.isoformat(), float(top), str(mark.number))
        for mark in _marks_shown(days, marks)
    ]


def marked_layout(
    days: Sequence[date],
    marks: Sequence[NumberedDay],
    ticks: Sequence[Decimal],
    texts: Sequence[str],
) -> Json:
    """The plot of a figure by day, with the number of each mark above its line."""
    numbers = [
        label_above(mark.day.isoformat(), str(mark.number)) for mark in _marks_shown(days, marks)
    ]
    return plot_layout(ticks, texts, _MARGIN_PX, xaxis=day_axis(days), annotations=numbers)


def _marks_shown(days: Sequence[date], marks: Sequence[NumberedDay]) -> list[NumberedDay]:
    return [mark for mark in marks if days[0] <= mark.day <= days[-1]]


def _unit_line(days: Sequence[date], micros: Sequence[int | None], currency: str) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "Unit cost",
        "x": [day.isoformat() for day in days],
        "y": [None if amount is None else amount / MICROS for amount in micros],
        "customdata": [unit_cost(amount, currency) for amount in micros],
        "hovertemplate": "%{x|%a %-d %B}: %{customdata}<extra></extra>",
        "line": {"color": "var(--accent)", "width": 2},
        "marker": {"color": "var(--accent)", "size": 5},
        "connectgaps": False,
    }
