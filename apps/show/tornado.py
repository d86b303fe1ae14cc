"""How far each input moves an amount: a bar across from its lowest to its highest, the longest on top."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import GROUND, Json, amount_axis, amount_tick, checked, ticks_between

_ROW_PX, _AROUND_PX = 44, 54
_BAR, _NAME_ABOVE = 0.4, 0.46
_LOWEST = ("At its lowest", "var(--state-unallocated)", "\\")
_HIGHEST = ("At its highest", "var(--state-active)", "")


@dataclass(frozen=True, slots=True)
class SwingBar:
    """An input in words with its ends, and the amount at its lowest and at its highest."""

    name: str
    at_low: float
    at_high: float


def tornado_bars(
    bars: Sequence[SwingBar], likely: float, currency: str, amount_text: Callable[[float], str]
) -> Json:
    """Bars from the `likely` amount to those at both ends, each named above; zero is a line across all."""
    ends = [amount for bar in bars for amount in (bar.at_low, bar.at_high)]
    ticks = ticks_between(
        Decimal(str(min(0.0, likely, *ends))), Decimal(str(max(0.0, likely, *ends)))
    )
    lows, highs = [bar.at_low for bar in bars], [bar.at_high for bar in bars]
    # The hatched one lies on the other where both ends move the amount the same way.
    traces = [
        _end_bars(bars, highs, likely, _HIGHEST, amount_text),
        _end_bars(bars, lows, likely, _LOWEST, amount_text),
        _likely_marks(likely, len(bars), amount_text),
        _names(bars, float(ticks[0])),
    ]
    layout = {
        "barmode": "overlay",
        "height": _AROUND_PX + _ROW_PX * len(bars),
        "margin": {"l": 14, "r": 28, "t": 26, "b": 28},
        **GROUND,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "xaxis": {
            **amount_axis(ticks, [amount_tick(tick, currency) for tick in ticks]),
            "zeroline": True,
            "zerolinewidth": 2,
        },
        "yaxis": {
            "range": [len(bars) - 0.5, -0.75],
            "visible": False,
            "fixedrange": True,
        },
    }
    return checked(traces, layout)


def _end_bars(
    bars: Sequence[SwingBar],
    amounts: Sequence[float],
    likely: float,
    end: tuple[str, str, str],
    amount_text: Callable[[float], str],
) -> Json:
    name, colour, shape = end
    marker: Json = {"color": colour, "line": {"width": 0}}
    if shape:
        marker["pattern"] = {"shape": shape, "size": 5, "solidity": 0.4, "fillmode": "replace"}
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "base": likely,
        "x": [amount - likely for amount in amounts],
        "y": list(range(len(bars))),
        "width": _BAR,
        "customdata": [
            f"{bar.name}, {name[:1].lower()}{name[1:]}: {amount_text(amount)}"
            for bar, amount in zip(bars, amounts, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": marker,
    }


def _likely_marks(likely: float, rows: int, amount_text: Callable[[float], str]) -> Json:
    """A stroke through each bar: a line from top to bottom would strike the names out."""
    places: list[float | None] = []
    for row in range(rows):
        places += [row - _BAR / 2, row + _BAR / 2, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"As likely: {amount_text(likely)}",
        "x": [likely] * len(places),
        "y": places,
        "connectgaps": False,
        "hoverinfo": "skip",
        "line": {"color": "var(--ink)", "width": 2},
    }


def _names(bars: Sequence[SwingBar], left: float) -> Json:
    """A trace, since annotations are left out where room is scarce."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": [left] * len(bars),
        "y": [place - _NAME_ABOVE for place in range(len(bars))],
        "text": [bar.name for bar in bars],
        "textposition": "middle right",
        "textfont": {"size": 12, "color": "var(--ink-2)"},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }
