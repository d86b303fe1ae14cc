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
class MarkedGpus:
    """The number of GPUs that was asked about, marked in the picture."""

    gpus: int
    value: float


def curve(
    points: Sequence[PlottedPoint],
    measured: Sequence[Measured],
    requested: MarkedGpus | None,
    value_text: Callable[[float], str],
) -> Json:
    """A line with its band, the runs as dots, from zero both ways; `value_text` is a value in words."""
    highest = max(point.high or point.value for point in points)
    highest = max([highest, *(run.value for run in measured)])
    ticks = ticks_between(Decimal(0), Decimal(highest))
    traces = [*_interval_band(points), _expected_line(points, value_text)]
    if measured:
        traces.append(_run_dots(measured, value_text))
    if requested is not None:
        traces.append(_requested_marker(requested, value_text))
    return checked(traces, _curve_layout(points, measured, ticks, value_text))


def _interval_band(points: Sequence[PlottedPoint]) -> list[Json]:
    banded = [point for point in points if point.low is not None and point.high is not None]
    if len(banded) < 2:
        return []
    edge: Json = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    gpus = [point.gpus for point in banded]
    return [
        {**edge, "name": "Lowest", "x": gpus, "y": [point.low for point in banded]},
        {
            **edge,
            "name": "Highest",
            "x": gpus,
            "y": [point.high for point in banded],
            "fill": "tonexty",
            "fillcolor": "var(--band)",
        },
    ]


def _expected_line(points: Sequence[PlottedPoint], value_text: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Expected",
        "x": [point.gpus for point in points],
        "y": [point.value for point in points],
        "customdata": [_interval_words(point, value_text) for point in points],
        "hovertemplate": "%{x} GPUs: %{customdata}<extra></extra>",
        "line": {"color": "var(--accent)", "width": 2},
    }


def _interval_words(point: PlottedPoint, value_text: Callable[[float], str]) -> str:
    if point.low is None or point.high is None:
        return value_text(point.value)
    return f"{value_text(point.value)}, {value_text(point.low)} to {value_text(point.high)}"


def _run_dots(measured: Sequence[Measured], value_text: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Runs",
        "x": [run.gpus for run in measured],
        "y": [run.value for run in measured],
        "customdata": [f"{run.name}, {run.gpus} GPUs: {value_text(run.value)}" for run in measured],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {
            "color": "var(--card)",
            "size": 8,
            "line": {"color": "var(--ink-2)", "width": 1.5},
        },
    }


def _requested_marker(requested: MarkedGpus, value_text: Callable[[float], str]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Asked",
        "x": [requested.gpus],
        "y": [requested.value],
        "customdata": [f"Asked: {requested.gpus} GPUs, {value_text(requested.value)}"],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": "var(--accent)", "size": 11, "symbol": "diamond"},
    }


def _curve_layout(
    points: Sequence[PlottedPoint],
    measured: Sequence[Measured],
    ticks: Sequence[Decimal],
    value_text: Callable[[float], str],
) -> Json:
    texts = [value_text(float(tick)) for tick in ticks]
    widest = max([*(point.gpus for point in points), *(run.gpus for run in measured)])
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
