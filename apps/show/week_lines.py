"""Figures by week as steps: what is expected, what is planned on top, what is there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from apps.show.charts import (
    CHARACTER_PX,
    Json,
    checked,
    day_axis,
    end_label,
    plot_layout,
    spread_apart,
    ticks_between,
)

WEEK = timedelta(days=7)
_LABEL_GAP_PX = 16
_PLOT_PX = 220


@dataclass(frozen=True, slots=True)
class WeekLine:
    """A value for each week, None where it is not known; drawn as steps."""

    name: str
    values: Sequence[float | None]
    colour: str
    is_dashed: bool = False


def week_lines(
    first_day: date,
    lines: Sequence[WeekLine],
    value_text: Callable[[float], str],
    tick_text: Callable[[float], str],
    band: Sequence[tuple[float, float]] = (),
) -> Json:
    """Steps from zero, each line named at its end; `value_text` is a value in words, `band` what it may be in each week.

    Refuses ValueError where no value is known.
    """
    known_values = [value for line in lines for value in line.values if value is not None]
    known_values += [high for _, high in band]
    ticks = ticks_between(Decimal(0), Decimal(str(max(known_values))))
    texts = [tick_text(float(tick)) for tick in ticks]
    weeks = max(len(line.values) for line in lines)
    days = [first_day + week * WEEK for week in range(weeks)]
    ended = [line for line in lines if line.values and line.values[-1] is not None]
    longest = max((len(line.name) for line in ended), default=0)
    layout = plot_layout(
        ticks,
        texts,
        {"r": 16 + CHARACTER_PX * longest, "t": 10, "b": 28},
        xaxis=day_axis(days, 7),
        annotations=_end_names(ended, float(ticks[-1])),
    )
    drawn = [_step_line(days, line, value_text) for line in lines]
    return checked([*_band_edges(days, band), *drawn], layout)


def _band_edges(days: Sequence[date], band: Sequence[tuple[float, float]]) -> list[Json]:
    """Its lower edge, and its upper one with what lies between."""
    if not band:
        return []
    edge: Json = {
        "type": "scatter",
        "mode": "lines",
        "x": [day.isoformat() for day in days],
        "line": {"width": 0, "shape": "hv"},
        "hoverinfo": "skip",
    }
    filled: Json = {"fill": "tonexty", "fillcolor": "var(--band)"}
    lows, highs = zip(*band, strict=True)
    return [
        {**edge, "name": "Low", "y": list(lows)},
        {**edge, "name": "High", "y": list(highs), **filled},
    ]


def _end_names(lines: Sequence[WeekLine], top: float) -> list[Json]:
    """The name of each beside its last value, none over another."""
    ordered = sorted(lines, key=lambda line: line.values[-1] or 0.0)
    heights = [Decimal(str((line.values[-1] or 0.0) / (top or 1) * _PLOT_PX)) for line in ordered]
    spread = spread_apart(heights, Decimal(_LABEL_GAP_PX), Decimal(_PLOT_PX))
    return [
        end_label(line.name, float(middle) / _PLOT_PX * top, 6)
        for line, middle in zip(ordered, spread, strict=True)
    ]


def _step_line(days: Sequence[date], line: WeekLine, value_text: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": line.name,
        "x": [day.isoformat() for day in days],
        "y": list(line.values),
        "customdata": ["" if value is None else value_text(value) for value in line.values],
        "hovertemplate": f"{line.name}, week from %{{x|%-d %B}}: %{{customdata}}<extra></extra>",
        "line": {
            "color": line.colour,
            "width": 2,
            "shape": "hv",
            "dash": "dash" if line.is_dashed else "solid",
        },
        "connectgaps": False,
    }
