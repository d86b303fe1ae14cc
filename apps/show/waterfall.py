"""What made a difference: bars from one amount to another, each on where the last one ended."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate

from apps.show.charts import Json, checked, plot_layout, ticks_between
from apps.show.money import MICROS, full_amount, short_amount, signed_amount

_WIDTH = 0.62
_SPARE = Decimal("1.02")


def waterfall(
    before: tuple[str, int], parts: Sequence[tuple[str, int]], after: tuple[str, int], currency: str
) -> Json:
    """Two amounts with what led from one to the other between them; all in micro-units, with names.

    `before` and the parts sum to `after`.
    """
    names = [before[0], *(name for name, _ in parts), after[0]]
    bases = [0, *accumulate((amount for _, amount in parts[:-1]), initial=before[1]), 0]
    amounts = [before[1], *(amount for _, amount in parts), after[1]]
    said = [
        full_amount(before[1], currency),
        *(signed_amount(amount, currency) for _, amount in parts),
        full_amount(after[1], currency),
    ]
    tops = [base + amount for base, amount in zip(bases, amounts, strict=True)]
    ticks = ticks_between(
        min(Decimal(0), *map(Decimal, (*bases, *tops))) / MICROS,
        max(map(Decimal, (*bases, *tops))) / MICROS * _SPARE,
    )
    trace: Json = {
        "type": "bar",
        "x": names,
        "y": [amount / MICROS for amount in amounts],
        "base": [base / MICROS for base in bases],
        "width": _WIDTH,
        "marker": {"color": _bar_colours(amounts), "line": {"width": 0}},
        "customdata": said,
        "hovertemplate": "%{customdata}<extra></extra>",
        "text": said,
        "textposition": "none",
    }
    layout = plot_layout(
        ticks,
        [short_amount(int(tick * MICROS), currency) for tick in ticks],
        {"r": 8, "t": 10, "b": 28},
        hovermode="x",
        # Where there is little room the names turn instead of meeting.
        xaxis={"type": "category", "fixedrange": True, "automargin": True},
    )
    return checked([trace], layout)


def _bar_colours(amounts: Sequence[int]) -> list[str]:
    """What costs more is warned of, what costs less is good; the two ends are neither."""
    middle = ["var(--warn)" if amount > 0 else "var(--good)" for amount in amounts[1:-1]]
    return ["var(--ink-3)", *middle, "var(--ink-3)"]
