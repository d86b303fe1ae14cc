"""A quantity by hour of the day in UTC, with its range."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.economics.hours import DAY_HOURS
from apps.show.charts import Json, amount_axis, checked, plot_layout, ticks_between

_MARGIN_PX = {"r": 12, "t": 12, "b": 34}
_EVERY_HOURS = 6


@dataclass(frozen=True, slots=True)
class HourBar:
    """One hour of the day; `value` is None where it is not known, and then nothing is drawn."""

    hour: int
    value: float | None
    low: float
    high: float | None
    said: str


def hour_bars(bars: Sequence[HourBar], tick_text: Callable[[Decimal], str]) -> Json:
    """A bar for each hour that is known, from zero, with a line from low to high; one must be known."""
    known_bars = [(bar, bar.value) for bar in bars if bar.value is not None]
    tops = [value if bar.high is None else bar.high for bar, value in known_bars]
    ticks = ticks_between(Decimal(0), Decimal(str(max(tops))))
    trace: Json = {
        "type": "bar",
        "x": [bar.hour for bar, _ in known_bars],
        "y": [value for _, value in known_bars],
        "customdata": [bar.said for bar, _ in known_bars],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": "var(--state-unallocated)", "line": {"width": 0}},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [top - value for (_, value), top in zip(known_bars, tops, strict=True)],
            "arrayminus": [value - bar.low for bar, value in known_bars],
            "color": "var(--ink-2)",
            "thickness": 1,
            "width": 2,
        },
    }
    hours = range(0, DAY_HOURS + 1, _EVERY_HOURS)
    across = amount_axis([-0.5, *hours], ["", *(f"{hour:02d}:00" for hour in hours)])
    across["range"] = [-0.5, DAY_HOURS - 0.5]
    layout = plot_layout(
        ticks, [tick_text(tick) for tick in ticks], _MARGIN_PX, xaxis=across, bargap=0.25
    )
    return checked([trace], layout)
