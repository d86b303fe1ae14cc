"""Waterfall of what made a difference: bars across from one amount to another, each on where the last one ended."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate

from apps.show.charts import (
    CHARACTER_PX,
    GROUND,
    Json,
    amount_axis,
    amount_tick,
    checked,
    left_margin,
    ticks_between,
)
from apps.show.money import MICROS, full_amount, signed_amount

_ROW_PX, _AROUND_PX = 30, 46
_BAR = 0.62


def waterfall(
    before: tuple[str, int], parts: Sequence[tuple[str, int]], after: tuple[str, int], currency: str
) -> Json:
    """Two amounts with what led from one to the other between them, downwards; in micro-units, with names.

    `before` and the parts sum to `after`. Names stand beside the bars and amounts after them: on a
    small screen neither would have room below.
    """
    names = [before[0], *(name for name, _ in parts), after[0]]
    amounts = [before[1], *(amount for _, amount in parts), after[1]]
    bases = [0, *accumulate((amount for _, amount in parts[:-1]), initial=before[1]), 0]
    ends = [base + amount for base, amount in zip(bases, amounts, strict=True)]
    texts = [
        full_amount(before[1], currency),
        *(signed_amount(amount, currency) for _, amount in parts),
        full_amount(after[1], currency),
    ]
    traces = [_bars(names, bases, amounts, texts), _amount_texts(names, bases, ends, texts)]
    return checked(traces, _across_layout(names, [*bases, *ends], texts, currency))


def _bars(
    names: Sequence[str], bases: Sequence[int], amounts: Sequence[int], texts: Sequence[str]
) -> Json:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [amount / MICROS for amount in amounts],
        "y": names,
        "base": [base / MICROS for base in bases],
        "width": _BAR,
        "marker": {"color": _bar_colours(amounts), "line": {"width": 0}},
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _amount_texts(
    names: Sequence[str], bases: Sequence[int], ends: Sequence[int], texts: Sequence[str]
) -> Json:
    """Each amount right of its bar, whichever way that goes."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": [max(base, end) / MICROS for base, end in zip(bases, ends, strict=True)],
        "y": names,
        "text": [f" {text}" for text in texts],
        "textposition": "middle right",
        "textfont": {"size": 12, "color": "var(--ink-2)"},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _across_layout(
    names: Sequence[str], reached: Sequence[int], texts: Sequence[str], currency: str
) -> Json:
    ticks = ticks_between(Decimal(min(0, *reached)) / MICROS, Decimal(max(0, *reached)) / MICROS)
    return {
        "height": _AROUND_PX + _ROW_PX * len(names),
        # The longest bar may end where the axis does, and its amount follows.
        "margin": {
            "l": left_margin(names),
            "r": 12 + CHARACTER_PX * max(map(len, texts)),
            "t": 10,
            "b": 28,
        },
        **GROUND,
        "showlegend": False,
        "xaxis": amount_axis(ticks, [amount_tick(tick, currency) for tick in ticks]),
        "yaxis": {
            "type": "category",
            # The first on top.
            "range": [len(names) - 0.5, -0.5],
            "fixedrange": True,
            "ticksuffix": " ",
        },
    }


def _bar_colours(amounts: Sequence[int]) -> list[str]:
    """Return the colours of the bars: what costs more is warned of, what costs less is good; the two ends are neither."""
    middle = ["var(--warn)" if amount > 0 else "var(--good)" for amount in amounts[1:-1]]
    return ["var(--ink-3)", *middle, "var(--ink-3)"]
