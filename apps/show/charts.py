"""Rows to Plotly figures: plain JSON-able mappings; tests hold each against plotly's own validators.

Colours are written as `var(--token)`; the page's script puts the theme's values in their place.
A figure has no title of its own: the title is HTML beside it, and states the finding and the unit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from apps.show.money import MICROS, full_amount, short_amount
from apps.show.time import month, short_day
from apps.show.words import StateWords

HEIGHT_PX = 280
_MARGIN_PX = {"r": 8, "t": 10, "b": 28}
_LONGEST_LABEL = 24
CHARACTER_PX = 7
FONT = "Inter Variable, Inter, system-ui, sans-serif"
_DAY_MS = 86_400_000
_FEWEST_DAYS = 4
_MOST_DAY_LABELS = 8
MOST_END_LABELS = 6
_LABEL_GAP_PX = 17
_LABEL_SHIFT_PX = 20
# Ten pixels square, right of the plot.
_FULL_MARK = "M8,-5L18,-5L18,5L8,5Z"
_HATCHED_MARK = "M8,0L13,-5M8,5L18,-5M13,5L18,0"
_STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))

Json = dict[str, object]
GROUND: Json = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": FONT, "size": 12, "color": "var(--ink-2)"},
    "dragmode": False,
    "hovermode": "closest",
}


@dataclass(frozen=True, slots=True)
class DailySeries:
    """One state's cost on each day, in micro-units; None on a day of which nothing is known.

    `provisional` is the part of the day that is not settled yet; it is drawn hatched.
    """

    state: StateWords
    settled: tuple[int | None, ...]
    provisional: tuple[int | None, ...]


def daily_cost_by_state(
    days: Sequence[date], series: Sequence[DailySeries], currency: str, *, step: int = 1
) -> Json:
    """Stacked bars, one a day, from zero: what each state of GPU time cost.

    `days` are consecutive, and every series has one amount for each of them. With a `step` they
    are that many days apart, and a bar is of the days until the next.
    """
    shown = [row for row in series if any(row.settled) or any(row.provisional)]
    ticks = ticks_between(*_stack_extent(days, shown))
    traces = [trace for row in shown for trace in _bar_traces(days, row, currency, step)]
    is_labelled = len(shown) <= MOST_END_LABELS
    layout = plot_layout(
        ticks,
        [amount_tick(tick, currency) for tick in ticks],
        {**_MARGIN_PX, "r": _end_margin(shown)} if is_labelled else _MARGIN_PX,
        barmode="relative",
        hovermode="x unified",
        xaxis=day_axis(days, step),
        **(_end_labels(shown, ticks) if is_labelled else {}),
    )
    return checked(traces, layout)


def _bar_traces(days: Sequence[date], row: DailySeries, currency: str, step: int) -> list[Json]:
    provisional = [amount or 0 for amount in row.provisional]
    both = [(settled or 0) + later for settled, later in zip(row.settled, provisional, strict=True)]
    # A zero keeps the hover line of a day that is provisional as a whole; None leaves it out.
    settled = [
        amount or (0 if later else None)
        for amount, later in zip(row.settled, provisional, strict=True)
    ]
    hover_texts = [
        _hover_text(total, later, currency) for total, later in zip(both, provisional, strict=True)
    ]
    traces = [
        {
            **_bar_trace(days, settled, row.state, "\\" if row.state.is_hatched else "", step),
            "customdata": hover_texts,
            "hovertemplate": "%{customdata}",
        }
    ]
    if any(provisional):
        later = [amount or None for amount in provisional]
        later_bars = _bar_trace(days, later, row.state, "/", step)
        traces.append({**later_bars, "hoverinfo": "skip"})
    return traces


def _bar_trace(
    days: Sequence[date], amounts: Sequence[int | None], state: StateWords, hatch: str, step: int
) -> Json:
    marker: Json = {"color": f"var({state.token})", "line": {"width": 0}}
    if hatch:
        marker["pattern"] = {"shape": hatch, "size": 5, "solidity": 0.4, "fillmode": "replace"}
    return {
        "type": "bar",
        # Stated, because one bar alone has no neighbour to take its width from.
        "width": _DAY_MS * 0.78 * step,
        "name": state.label,
        "x": [day.isoformat() for day in days],
        "y": [None if amount is None else amount / MICROS for amount in amounts],
        "marker": marker,
    }


def _hover_text(amount: int, provisional: int, currency: str) -> str:
    text = full_amount(amount, currency)
    if not provisional:
        return text
    if provisional == amount:
        return f"{text}, provisional"
    return f"{text}, {full_amount(provisional, currency)} of it provisional"


def plot_layout(
    ticks: Sequence[Decimal], texts: Sequence[str], margin: Mapping[str, int], **more: object
) -> Json:
    """A plot on the page's own ground, amounts from below up: round values named by `texts`.

    The left margin is as wide as these need; `margin` has the others in pixels. `more` is the axis
    across, and what else the plot has of its own.
    """
    return {
        "height": HEIGHT_PX,
        "margin": {"l": left_margin(texts), **margin},
        **GROUND,
        "showlegend": False,
        "hoverlabel": {
            "bgcolor": "var(--card)",
            "bordercolor": "var(--line-strong)",
            "font": {"family": FONT, "size": 12, "color": "var(--ink)"},
        },
        "yaxis": amount_axis(ticks, texts),
        **more,
    }


def amount_axis(ticks: Sequence[float | Decimal], texts: Sequence[str]) -> Json:
    """From the first of these values to the last, each named."""
    return {
        "range": [float(ticks[0]), float(ticks[-1])],
        "tickmode": "array",
        "tickvals": [float(tick) for tick in ticks],
        "ticktext": list(texts),
        "gridcolor": "var(--line)",
        "zerolinecolor": "var(--line-strong)",
        "fixedrange": True,
    }


def left_margin(texts: Sequence[str]) -> int:
    """Pixels beside the plot for the longest of these."""
    return 12 + CHARACTER_PX * max(map(len, texts))


def _end_margin(series: Sequence[DailySeries]) -> int:
    """Pixels right of the plot for the longest name of these, after its mark."""
    longest = max((len(_end_text(row.state.label)) for row in series), default=0)
    return _LABEL_SHIFT_PX + 4 + CHARACTER_PX * longest


def _end_text(label: str) -> str:
    """A name as it stands beside the plot; the table behind it has all of a longer one."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def day_axis(days: Sequence[date], step: int = 1) -> Json:
    """Days, `step` apart, as the axis of a chart, a few named; a lone one with its neighbours."""
    every = _days_between_labels(len(days))
    # Counted back from the last day, so that the newest bar is always named.
    labelled = [day for index, day in enumerate(reversed(days)) if index % every == 0][::-1]
    if len(days) == 1:
        labelled = [days[0] + timedelta(days=apart) for apart in (-step, 0, step)]
    months = [(day.year, day.month) for day in labelled]
    starts_month = [index == 0 or months[index - 1] != month for index, month in enumerate(months)]
    return {
        "type": "date",
        "range": _day_range(days, step),
        "tickmode": "array",
        "tickvals": [day.isoformat() for day in labelled],
        "ticktext": [
            short_day(day) if is_first else str(day.day)
            for day, is_first in zip(labelled, starts_month, strict=True)
        ],
        "tickangle": 0,
        "showgrid": False,
        "fixedrange": True,
        "unifiedhovertitle": {"text": "%{x|%a %-d %B}" if step == 1 else "from %{x|%-d %B %Y}"},
        "showspikes": False,
        "linecolor": "var(--line-strong)",
    }


def month_axis(days: Sequence[date]) -> Json:
    """Many months of consecutive days as the axis of a chart: firsts of months are named, with the year of January."""
    firsts = [day for day in days if day.day == 1]
    every = -(-len(firsts) // _MOST_DAY_LABELS)
    labelled = [day for day in firsts if (day.month - 1) % max(every, 1) == 0]
    years = [day.year for day in labelled]
    return {
        **day_axis(days),
        "tickvals": [day.isoformat() for day in labelled],
        "ticktext": [
            f"{month(day)[:3]} {day.year}"
            if place == 0 or years[place - 1] != day.year
            else month(day)[:3]
            for place, day in enumerate(labelled)
        ],
    }


def _day_range(days: Sequence[date], step: int) -> list[str]:
    """From half a step before the first bar to half a one after the last, at least four days wide."""
    spare = timedelta(days=max(0, _FEWEST_DAYS - len(days))) / 2
    midnight = time()
    first, last = datetime.combine(days[0], midnight), datetime.combine(days[-1], midnight)
    half_a_step = timedelta(hours=12) * step
    edges = (first - half_a_step - spare, last + half_a_step + spare)
    return [f"{edge:%Y-%m-%d %H:%M}" for edge in edges]


def _days_between_labels(days: int) -> int:
    if days <= _MOST_DAY_LABELS:
        return 1
    return next(
        (every for every in (2, 3, 7, 14, 28) if days <= every * _MOST_DAY_LABELS), days // 6 + 1
    )


def amount_tick(tick: Decimal, currency: str) -> str:
    """A round amount of whole units on an axis: `$10k`, `$0`."""
    text = short_amount(int(tick * MICROS), currency)
    head, point, tail = text.partition(".")
    digits = tail.rstrip("kMB")
    if point and not digits.strip("0"):
        return head + tail[len(digits) :]
    return (
        text if tail[len(digits) :] == "" else f"{head}.{digits.rstrip('0')}{tail[len(digits) :]}"
    )


def _stack_extent(days: Sequence[date], series: Sequence[DailySeries]) -> tuple[Decimal, Decimal]:
    """The lowest and the highest stack of any day, in whole units, zero among them."""
    low = high = 0
    for index in range(len(days)):
        amounts = [row.settled[index] or 0 for row in series]
        amounts += [row.provisional[index] or 0 for row in series]
        high = max(high, sum(amount for amount in amounts if amount > 0))
        low = min(low, sum(amount for amount in amounts if amount < 0))
    return Decimal(low) / MICROS, Decimal(high) / MICROS


def ticks_between(low: Decimal, high: Decimal) -> list[Decimal]:
    """Three to six round values from at most `low` to at least `high`, zero among them."""
    span = (high - low) or Decimal(1)
    rough = span / 5
    magnitude = Decimal(1).scaleb(rough.adjusted())
    step = next(factor * magnitude for factor in _STEPS if factor * magnitude >= rough)
    first = (low / step).to_integral_value(rounding="ROUND_FLOOR")
    last = (high / step).to_integral_value(rounding="ROUND_CEILING")
    last = max(last, first + 1)
    return [step * number for number in range(int(first), int(last) + 1)]


def _end_labels(series: Sequence[DailySeries], ticks: Sequence[Decimal]) -> Json:
    """Each series named beside its part of the last bar, moved apart where they would touch."""
    drawn_px = HEIGHT_PX - _MARGIN_PX["t"] - _MARGIN_PX["b"]
    per_px = (ticks[-1] - ticks[0]) / drawn_px
    middles, floor = [], Decimal(0)
    for row in series:
        amount = max(Decimal(0), Decimal((row.settled[-1] or 0) + (row.provisional[-1] or 0)))
        middles.append(((floor + amount / MICROS / 2) - ticks[0]) / per_px)
        floor += amount / MICROS
    heights = spread_apart(middles, Decimal(_LABEL_GAP_PX), Decimal(drawn_px - 8))
    places = [float(ticks[0] + height * per_px) for height in heights]
    return {
        "annotations": [
            end_label(_end_text(row.state.label), at, _LABEL_SHIFT_PX)
            for row, at in zip(series, places, strict=True)
        ],
        "shapes": [_end_mark(row.state, at) for row, at in zip(series, places, strict=True)],
    }


def spread_apart(middles: Sequence[Decimal], gap: Decimal, ceiling: Decimal) -> list[Decimal]:
    """`middles` in their order, at least `gap` apart, pushed up first and down from `ceiling`."""
    placed: list[Decimal] = []
    for middle in middles:
        placed.append(max(middle, placed[-1] + gap) if placed else max(middle, gap / 2))
    limit = ceiling
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return placed


def end_label(text: str, at: float, shift_px: int) -> Json:
    """A name right of the plot, beside the value `at`."""
    return {
        "text": text,
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": shift_px,
        "y": at,
        "yanchor": "middle",
        "showarrow": False,
        "font": {"size": 12, "color": "var(--ink-2)"},
    }


def _end_mark(state: StateWords, at: float) -> Json:
    colour = f"var({state.token})"
    return {
        "type": "path",
        "path": _HATCHED_MARK if state.is_hatched else _FULL_MARK,
        "xref": "paper",
        "xanchor": 1,
        "xsizemode": "pixel",
        "yanchor": at,
        "ysizemode": "pixel",
        "fillcolor": "rgba(0,0,0,0)" if state.is_hatched else colour,
        "line": {"width": 1.5 if state.is_hatched else 0, "color": colour},
    }


def line_down(at: str, top: float, name: str) -> Json:
    """A dotted line at a day or moment: a trace, since shapes are left out where room is scarce."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [at] * 2,
        "y": [0, top],
        "hoverinfo": "skip",
        "line": {"color": "var(--ink-3)", "width": 1, "dash": "dot"},
    }


def label_above(at: str, text: str, **more: object) -> Json:
    """A text over the plot at a day or moment."""
    return {
        "text": text,
        "x": at,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "var(--ink-2)"},
        **more,
    }


CHECKS: list[Callable[[Json], None]] = []
"""What each figure is held against as it is drawn, and may refuse it.

Tests put plotly's validators here: they take a quarter of a second to load, which every start of a
web process would pay for, and what they find is wrong in a page's code, not in its figures.
"""


def checked(traces: Sequence[Json], layout: Json) -> Json:
    """The figure as it is sent."""
    figure: Json = {"data": list(traces), "layout": layout}
    for check in CHECKS:
        check(figure)
    return figure
