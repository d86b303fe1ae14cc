"""Offers as points: what a job costs on each against when it would be done, with the deadline."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import (
    Json,
    amount_axis,
    amount_tick,
    checked,
    label_above,
    line_down,
    plot_layout,
    ticks_between,
)
from apps.show.money import MICROS, full_amount
from apps.show.words import StateWords

_MARGIN = {"r": 24, "t": 26, "b": 34}
_MARK_PX = 10


@dataclass(frozen=True, slots=True)
class FinishPoint:
    """An offer: hours until it is done, micro-units with their range, and how it is bought."""

    name: str
    way: StateWords
    hours: float
    micros: int
    low_micros: int
    high_micros: int


def finish_costs(
    points: Sequence[FinishPoint], deadline_hours: float | None, currency: str
) -> Json:
    """A mark for each offer with its range of cost, coloured by how it is bought; the deadline as a dotted line."""
    most = max(point.high_micros for point in points)
    ticks = ticks_between(Decimal(0), Decimal(most) / MICROS)
    last = max([point.hours for point in points] + [deadline_hours or 0.0])
    across = ticks_between(Decimal(0), Decimal(str(last * 1.05)))
    traces = [
        _way_trace(way, [point for point in points if point.way == way], currency)
        for way in dict.fromkeys(point.way for point in points)
    ]
    names = []
    if deadline_hours is not None:
        traces.append(
            line_down("deadline", float(ticks[-1]), "Deadline") | {"x": [deadline_hours] * 2}
        )
        names.append(label_above("", "Deadline", x=deadline_hours))
    layout = plot_layout(
        ticks,
        [amount_tick(tick, currency) for tick in ticks],
        _MARGIN,
        xaxis=amount_axis(across, [f"{tick:f} h" for tick in across]),
        annotations=[*names, *_way_names(points)],
    )
    return checked(traces, layout)


def _way_names(points: Sequence[FinishPoint]) -> list[Json]:
    """Each way of buying, named beside its most expensive offer, where it stands apart from the others."""
    labels = []
    for way in dict.fromkeys(point.way for point in points):
        top = max((point for point in points if point.way == way), key=lambda point: point.micros)
        labels.append(
            {
                "text": way.label,
                "x": top.hours,
                "y": top.micros / MICROS,
                "xanchor": "left",
                "yanchor": "bottom",
                "xshift": 6,
                "yshift": 2,
                "showarrow": False,
                "font": {"size": 11, "color": "var(--ink-2)"},
            }
        )
    return labels


def _way_trace(way: StateWords, points: Sequence[FinishPoint], currency: str) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": way.label,
        "x": [point.hours for point in points],
        "y": [point.micros / MICROS for point in points],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(point.high_micros - point.micros) / MICROS for point in points],
            "arrayminus": [(point.micros - point.low_micros) / MICROS for point in points],
            "color": f"var({way.token})",
            "thickness": 1,
            "width": 4,
        },
        "customdata": [
            f"{point.name}: {full_amount(point.micros, currency)}, done in {point.hours:.1f} h"
            for point in points
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": f"var({way.token})", "size": _MARK_PX},
    }
