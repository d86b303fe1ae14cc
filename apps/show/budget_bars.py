"""A budget month by month: what came, what is expected of the rest, and the budget as a line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import Json, checked, plot_layout, ticks_between

_MARGIN_PX = {"r": 16, "t": 26, "b": 42}
_BAR = 0.62
_WIDTH_OF_LINE = 0.86


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """A month in whole units; None where not known. `provisional` is the part of `spent` not settled yet.

    `requested` is what approved requests take beyond `rest`.
    """

    label: str
    budget: float
    spent: float | None
    provisional: float = 0
    rest: float | None = None
    requested: float = 0


def budget_bars(
    bars: Sequence[BudgetBar], value_text: Callable[[float], str], tick_text: Callable[[float], str]
) -> Json:
    """Stacked bars from zero with the budget as a line over each; `value_text` is a value in words."""
    highest = max(
        max(bar.budget, (bar.spent or 0) + (bar.rest or 0) + bar.requested) for bar in bars
    )
    ticks = ticks_between(Decimal(0), Decimal(highest))
    settled = [None if bar.spent is None else bar.spent - bar.provisional for bar in bars]
    traces = [
        _stacked_bars("Came", bars, settled, value_text, {"color": "var(--state-active)"}),
        _stacked_bars(
            "Provisional",
            bars,
            [bar.provisional or None for bar in bars],
            value_text,
            _hatched("var(--state-active)", "/"),
        ),
        _stacked_bars(
            "Rest expected",
            bars,
            [bar.rest for bar in bars],
            value_text,
            _hatched("var(--state-unallocated)", "\\"),
        ),
        *_requested_bars(bars, value_text),
        _budget_line(bars, value_text),
    ]
    layout = plot_layout(
        ticks,
        [tick_text(float(tick)) for tick in ticks],
        _MARGIN_PX,
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        xaxis=_month_axis(bars),
    )
    return checked(traces, layout)


def _requested_bars(bars: Sequence[BudgetBar], value_text: Callable[[float], str]) -> list[Json]:
    """None where no request is approved and waits to be delivered: a legend names what is drawn."""
    values = [bar.requested or None for bar in bars]
    if not any(values):
        return []
    pattern = _hatched("var(--state-other)", "x")
    return [_stacked_bars("Approved requests", bars, values, value_text, pattern)]


def _stacked_bars(
    name: str,
    bars: Sequence[BudgetBar],
    values: Sequence[float | None],
    value_text: Callable[[float], str],
    marker: Json,
) -> Json:
    return {
        "type": "bar",
        "name": name,
        "x": list(range(len(bars))),
        "y": list(values),
        "width": _BAR,
        "customdata": [
            "" if value is None else f"{bar.label}, {name.lower()}: {value_text(value)}"
            for bar, value in zip(bars, values, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {**marker, "line": {"width": 0}},
    }


def _budget_line(bars: Sequence[BudgetBar], value_text: Callable[[float], str]) -> Json:
    """A stroke across each bar, as wide as its month."""
    places: list[float | None] = []
    values: list[float | None] = []
    texts: list[str] = []
    for place, bar in enumerate(bars):
        half = _WIDTH_OF_LINE / 2
        places += [place - half, place + half, None]
        values += [bar.budget, bar.budget, None]
        texts += [f"{bar.label}, budget: {value_text(bar.budget)}"] * 2 + [""]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Budget",
        "x": places,
        "y": values,
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
        "connectgaps": False,
        "line": {"color": "var(--ink)", "width": 2},
    }


def _hatched(colour: str, shape: str) -> Json:
    pattern = {"shape": shape, "size": 5, "solidity": 0.4, "fillmode": "replace"}
    return {"color": colour, "pattern": pattern}


def _month_axis(bars: Sequence[BudgetBar]) -> Json:
    every = 1 if len(bars) <= 6 else 3
    shown = [place for place in range(len(bars)) if (len(bars) - 1 - place) % every == 0]
    # Few bars would each be as wide as the plot.
    spare = max(0, 6 - len(bars)) / 2
    return {
        "range": [-0.6 - spare, len(bars) - 0.4 + spare],
        "tickmode": "array",
        "tickvals": shown,
        # The year under its month: side by side they run into each other on a small screen.
        "ticktext": [bars[place].label.replace(" ", "<br>") for place in shown],
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "linecolor": "var(--line-strong)",
    }
