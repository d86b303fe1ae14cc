"""A quantity against a number of GPUs: the fitted line, between what it lies, and what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import Json, checked, plot_layout, ticks_between

_MARGIN_PX = {"r": 16, "t": 10, "b": 44}
_SPARE = 1.04


@dataclass(frozen=True, slots=True)
class PlottedPoint:
    """The line at a number of GPUs, and its range; None where there is no range."""

    gpus: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A run, by its name."""

    gpus: int
    value: float
    name: str


@dataclass(frozen=True, slots=True)
class CurvesAsked:
    """The number of GPUs that was asked about, marked in the picture."""

    gpus: int
    value: float


def curve(
    points: Sequence[PlottedPoint],
    measured: Sequence[Measured],
    asked: CurvesAsked | None,
    said: Callable[[float], str],
) -> Json:
    """A line with its band, the runs as dots, from zero both ways; `said` is a value in words."""
    highest = max(each.high or each.value for each in points)
    highest = max([highest, *(each.value for each in measured)])
    ticks = ticks_between(Decimal(0), Decimal(highest))
    traces = [*_interval_band(points), _expected_line(points, said)]
    if measured:
        traces.append(_run_dots(measured, said))
    if asked is not None:
        traces.append(_asked_marker(asked, said))
    return checked(traces, _curve_layout(points, measured, ticks, said))


def _interval_band(points: Sequence[PlottedPoint]) -> list[Json]:
    known = [each for each in points if each.low is not None and each.high is not None]
    if len(known) < 2:
        return []
    edge: Json = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    gpus = [each.gpus for each in known]
    return [
        {**edge, "name": "Lowest", "x": gpus, "y": [each.low for each in known]},
        {
            **edge,
            "name": "Highest",
            "x": gpus,
            "y": [each.high for each in known],
            "fill": "tonexty",
            "fillcolor": "var(--band)",
        },
    ]


def _expected_line(points: Sequence[PlottedPoint], said: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Expected",
        "x": [each.gpus for each in points],
        "y": [each.value for each in points],
        "customdata": [_interval_words(each, said) for each in points],
        "hovertemplate": "%{x} GPUs: %{customdata}<extra></extra>",
        "line": {"color": "var(--accent)", "width": 2},
    }


def _interval_words(each: PlottedPoint, said: Callable[[float], str]) -> str:
    if each.low is None or each.high is None:
        return said(each.value)
    return f"{said(each.value)}, {said(each.low)} to {said(each.high)}"


def _run_dots(measured: Sequence[Measured], said: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Runs",
        "x": [each.gpus for each in measured],
        "y": [each.value for each in measured],
        "customdata": [f"{each.name}, {each.gpus} GPUs: {said(each.value)}" for each in measured],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {
            "color": "var(--card)",
            "size": 8,
            "line": {"color": "var(--ink-2)", "width": 1.5},
        },
    }


def _asked_marker(asked: CurvesAsked, said: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Asked",
        "x": [asked.gpus],
        "y": [asked.value],
        "customdata": [f"Asked: {asked.gpus} GPUs, {said(asked.value)}"],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": "var(--accent)", "size": 11, "symbol": "diamond"},
    }


def _curve_layout(
    points: Sequence[PlottedPoint],
    measured: Sequence[Measured],
    ticks: Sequence[Decimal],
    said: Callable[[float], str],
) -> Json:
    texts = [said(float(tick)) for tick in ticks]
    widest = max([*(each.gpus for each in points), *(each.gpus for each in measured)])
    gpus = [tick for tick in ticks_between(Decimal(0), Decimal(widest)) if tick <= widest]
    return plot_layout(
        ticks,
        texts,
        _MARGIN_PX,
        xaxis={
            "range": [0, widest * _SPARE],
            "tickmode": "array",
            "tickvals": [float(tick) for tick in gpus],
            "ticktext": [
                f"{tick:,f}".rstrip("0").rstrip(".") if tick % 1 else f"{tick:,.0f}"
                for tick in gpus
            ],
            "title": {"text": "GPUs", "font": {"size": 12}, "standoff": 6},
            "showgrid": False,
            "fixedrange": True,
            "zeroline": False,
            "linecolor": "var(--line-strong)",
        },
    )
