"""The cost of a unit day by day, with what changed about then marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from apps.show.charts import CHARACTER_PX, FONT, HEIGHT_PX, Json, checked, day_axis, ticks_between
from apps.show.money import MICROS, unit_cost

_MARGIN_PX = {"r": 8, "t": 26, "b": 28}


@dataclass(frozen=True, slots=True)
class Changed:
    """Something that changed on a day; `number` names it in the table beside."""

    day: date
    number: int
    words: str


def unit_line(
    days: Sequence[date], micros: Sequence[int | None], changes: Sequence[Changed], currency: str
) -> Json:
    """A line from zero with a dot a day; nothing is drawn on a day whose unit cost is undefined."""
    known = [Decimal(amount) / MICROS for amount in micros if amount is not None]
    ticks = ticks_between(Decimal(0), max(known, default=Decimal(1)))
    traces = [_unit_line(days, micros, currency)]
    shown = [each for each in changes if days[0] <= each.day <= days[-1]]
    traces += [_change_mark(each, ticks[-1]) for each in shown]
    return checked(traces, _unit_layout(days, ticks, shown, currency))


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


def _change_mark(change: Changed, top: Decimal) -> Json:
    """A line of its own, since shapes are left out where there is little room."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": change.words,
        "x": [change.day.isoformat()] * 2,
        "y": [0, float(top)],
        "hoverinfo": "skip",
        "line": {"color": "var(--ink-3)", "width": 1, "dash": "dot"},
    }


def _unit_layout(
    days: Sequence[date], ticks: Sequence[Decimal], changes: Sequence[Changed], currency: str
) -> Json:
    texts = [unit_cost(int(tick * MICROS), currency) for tick in ticks]
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 12 + CHARACTER_PX * max(map(len, texts)), **_MARGIN_PX},
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
        "annotations": [_mark_number(each) for each in changes],
    }


def _mark_number(change: Changed) -> Json:
    return {
        "text": str(change.number),
        "x": change.day.isoformat(),
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "var(--ink-2)"},
    }
