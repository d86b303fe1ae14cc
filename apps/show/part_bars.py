"""Rows as bars across, each of parts that are told apart by colour and pattern."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import GROUND, Json, amount_axis, checked, left_margin, ticks_between

_ROW_PX = 34
MOST_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar: its name in the legend, its colour (a variable of CSS), and its pattern; empty: none."""

    name: str
    colour: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class PartedBar:
    """A row and its amounts by part, in the order of the legend; None where not known."""

    name: str
    amounts: tuple[float | None, ...]


def part_bars(
    bars: Sequence[PartedBar],
    parts: Sequence[BarPart],
    amount_text: Callable[[float | None], str],
    tick_text: Callable[[Decimal], str],
) -> Json:
    """Bars across, from zero, the first row on top; each part says what it is when pointed at."""
    names = [bar.name[:MOST_CHARACTERS] for bar in bars]
    traces: list[Json] = []
    for place, part in enumerate(parts):
        marker: Json = {"color": part.colour, "line": {"width": 0}}
        if part.shape:
            marker["pattern"] = {
                "shape": part.shape, "size": 5, "solidity": 0.4, "fillmode": "replace"
            }  # fmt: skip
        amounts = [bar.amounts[place] for bar in bars]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": part.name,
                "y": names,
                "x": amounts,
                "customdata": [amount_text(amount) for amount in amounts],
                "hovertemplate": f"{part.name}: %{{customdata}}<extra></extra>",
                "marker": marker,
            }
        )
    return checked(traces, _bars_layout(names, bars, tick_text))


def _bars_layout(
    names: Sequence[str], bars: Sequence[PartedBar], tick_text: Callable[[Decimal], str]
) -> Json:
    most = max(sum(amount or 0 for amount in bar.amounts) for bar in bars)
    ticks = ticks_between(Decimal(0), Decimal(most))
    return {
        "barmode": "stack",
        "height": 70 + _ROW_PX * len(names),
        # To the right half of the last amount has its place.
        "margin": {"l": left_margin(names), "r": 28, "t": 26, "b": 28},
        **GROUND,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "xaxis": amount_axis(ticks, [tick_text(at) for at in ticks]),
        "yaxis": {"autorange": "reversed", "fixedrange": True, "type": "category"},
    }
