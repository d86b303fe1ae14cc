"""Two sides' cost against volume: one in steps, each with the band that it may lie in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import (
    CHARACTER_PX,
    HEIGHT_PX,
    Json,
    amount_axis,
    amount_tick,
    checked,
    end_label,
    label_above,
    line_down,
    plot_layout,
    spread_apart,
    ticks_between,
)
from apps.show.money import MICROS, rounded_amount
from apps.show.words import StateWords

_TOP_PX, _BOTTOM_PX = 26, 28
_LABEL_GAP_PX, _LABEL_SHIFT_PX = Decimal(17), 8
Point = tuple[float, float]
Band = Sequence[tuple[float, float, float]]
_CLOSE = 0.12
"""Of the whole width: names of two marks that are nearer run into each other."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """A side: its points by volume, and where it may lie: volume, lowest, highest. In `steps` or straight."""

    side: StateWords
    points: Sequence[Point]
    band: Band
    is_stepped: bool = False


@dataclass(frozen=True, slots=True)
class MarkedVolume:
    """A volume that is named above its line down."""

    volume: float
    words: str


def cost_curves(
    lines: Sequence[CostLine],
    marks: Sequence[MarkedVolume],
    currency: str,
    volume_said: Callable[[float], str],
) -> Json:
    """Lines from zero over volumes from zero, named at their ends; marks as dotted lines down."""

    def amount_said(amount: float) -> str:
        return rounded_amount(round(amount * MICROS), currency)

    most = max(volume for line in lines for volume, _ in line.points)
    amounts = [amount for line in lines for _, amount in line.points]
    amounts += [high for line in lines for _, _, high in line.band]
    ticks = ticks_between(Decimal(0), Decimal(str(max(amounts))))
    shown = [mark for mark in marks if mark.volume <= most]
    traces = [trace for line in lines for trace in _band_traces(line)]
    traces += [_side_trace(line, amount_said, volume_said) for line in lines]
    traces += [_mark_line(mark, float(ticks[-1])) for mark in shown]
    across = [tick for tick in ticks_between(Decimal(0), Decimal(str(most))) if tick <= most]
    axis = amount_axis(across, [volume_said(float(tick)) for tick in across])
    longest = max(len(line.side.label) for line in lines)
    margin = {
        "r": _LABEL_SHIFT_PX + 4 + CHARACTER_PX * longest,
        "t": _TOP_PX,
        "b": _BOTTOM_PX,
    }
    layout = plot_layout(
        ticks,
        [amount_tick(tick, currency) for tick in ticks],
        margin,
        xaxis={**axis, "range": [0, most], "showgrid": False},
        annotations=[*_end_names(lines, ticks), *_mark_names(shown, most)],
    )
    return checked(traces, layout)


def _band_traces(line: CostLine) -> list[Json]:
    if not line.band:
        return []
    volumes, lows, highs = zip(*line.band, strict=True)
    edge: Json = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    filled: Json = {"fill": "tonexty", "fillcolor": "var(--band)"}
    return [
        {**edge, "name": f"{line.side.label}, lowest", "x": list(volumes), "y": list(lows)},
        {
            **edge,
            "name": f"{line.side.label}, highest",
            "x": list(volumes),
            "y": list(highs),
            **filled,
        },
    ]


def _side_trace(
    line: CostLine, amount_said: Callable[[float], str], volume_said: Callable[[float], str]
) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": line.side.label,
        "x": [volume for volume, _ in line.points],
        "y": [amount for _, amount in line.points],
        "customdata": [
            f"{line.side.label} at {volume_said(volume)}: {amount_said(amount)}"
            for volume, amount in line.points
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        # What holds at a volume holds for all from the point before it on.
        "line": {
            "color": f"var({line.side.token})",
            "width": 2,
            "shape": "vh" if line.is_stepped else "linear",
        },
    }


def _mark_line(mark: MarkedVolume, top: float) -> Json:
    return line_down(str(mark.volume), top, mark.words) | {"x": [mark.volume] * 2}


def _mark_names(marks: Sequence[MarkedVolume], most: float) -> list[Json]:
    """Each above its line; two lines that stand close have their names on the far sides of both."""
    ordered = sorted(marks, key=lambda mark: mark.volume)
    names = []
    for place, mark in enumerate(ordered):
        before, after = ordered[max(0, place - 1)], ordered[min(place + 1, len(ordered) - 1)]
        is_led = place > 0 and mark.volume - before.volume < _CLOSE * most
        is_followed = place < len(ordered) - 1 and after.volume - mark.volume < _CLOSE * most
        side = "center" if is_led == is_followed else "left" if is_led else "right"
        names.append(label_above("", mark.words, x=mark.volume, xanchor=side))
    return names


def _end_names(lines: Sequence[CostLine], ticks: Sequence[Decimal]) -> list[Json]:
    drawn = Decimal(HEIGHT_PX - _TOP_PX - _BOTTOM_PX)
    per_px = (ticks[-1] - ticks[0]) / drawn
    ordered = sorted(lines, key=lambda line: line.points[-1][1])
    heights = [Decimal(str(line.points[-1][1])) / per_px for line in ordered]
    places = spread_apart(heights, _LABEL_GAP_PX, drawn)
    return [
        end_label(line.side.label, float(place * per_px), _LABEL_SHIFT_PX)
        for line, place in zip(ordered, places, strict=True)
    ]
