"""Prices over time as steps: each holds until the next, and nothing is drawn where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from apps.show.charts import (
    HEIGHT_PX,
    Json,
    checked,
    end_label,
    label_above,
    line_down,
    plot_layout,
    spread_apart,
    ticks_between,
)
from apps.show.money import quoted_amount
from apps.show.time import day, short_day

_LABELS_PX = 84
_LABEL_GAP_PX = 17
_TOP_PX, _BOTTOM_PX = 18, 28
_SPARE = 0.02
_MOST_DATES = 5


@dataclass(frozen=True, slots=True)
class PlotStep:
    """One price in `[starts_at, ends_at)`; None: as far as the chart goes on that side."""

    starts_at: datetime | None
    ends_at: datetime | None
    amount: Decimal


@dataclass(frozen=True, slots=True)
class StepSeries:
    """The prices of one kind, in order; `token` is its colour, `dash` as plotly names it."""

    label: str
    token: str
    dash: str
    steps: tuple[PlotStep, ...]


@dataclass(frozen=True, slots=True)
class PlotSpan:
    """The span that the chart shows, and where today is in it."""

    starts_at: datetime
    ends_at: datetime
    today: datetime
    zone: tzinfo


def price_steps(series: Sequence[StepSeries], span: PlotSpan, currency: str) -> Json:
    """Lines that hold and then step, from zero, with a marker at today and names at their end."""
    highest = max(
        (step.amount for step_series in series for step in step_series.steps), default=Decimal(0)
    )
    ticks = ticks_between(Decimal(0), highest)
    traces = [_step_line(step_series, span, currency) for step_series in series]
    traces.append(line_down(_local_text(span.today, span), float(ticks[-1]), "Today"))
    layout = plot_layout(
        ticks,
        [quoted_amount(tick, currency) for tick in ticks],
        {"r": _LABELS_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
        xaxis=_time_axis(span),
        annotations=[*_end_labels(series, span, ticks), _today_label(span)],
    )
    return checked(traces, layout)


def _step_line(step_series: StepSeries, span: PlotSpan, currency: str) -> Json:
    moments: list[str | None] = []
    amounts: list[float | None] = []
    hover_texts: list[str] = []
    following = [*(step.starts_at for step in step_series.steps[1:]), None]
    for step, next_at in zip(step_series.steps, following, strict=True):
        begins = max(step.starts_at or span.starts_at, span.starts_at)
        ends = min(step.ends_at or span.ends_at, span.ends_at)
        text = f"{step_series.label}: {quoted_amount(step.amount, currency)}"
        for moment in (begins, ends):
            moments.append(_local_text(moment, span))
            amounts.append(float(step.amount))
            hover_texts.append(text)
        if next_at is not None and step.ends_at != next_at:
            # Between two that do not touch nothing was quoted: the line has a gap there.
            moments.append(_local_text(ends, span))
            amounts.append(None)
            hover_texts.append("")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": step_series.label,
        "x": moments,
        "y": amounts,
        "customdata": hover_texts,
        "hovertemplate": "%{customdata}, %{x|%-d %b %Y %H:%M}<extra></extra>",
        "line": {
            "color": f"var({step_series.token})",
            "width": 2,
            "dash": step_series.dash,
            "shape": "hv",
        },
    }


def _time_axis(span: PlotSpan) -> Json:
    length = span.ends_at - span.starts_at
    labelled = [span.starts_at + length * part / _MOST_DATES for part in range(_MOST_DATES)]
    return {
        "type": "date",
        "range": [
            _local_text(span.starts_at - length * _SPARE, span),
            _local_text(span.ends_at + length * _SPARE, span),
        ],
        "tickmode": "array",
        "tickvals": [_local_text(at, span) for at in labelled],
        "ticktext": [_date_text(at, span) for at in labelled],
        "tickangle": 0,
        "showgrid": False,
        "fixedrange": True,
        "linecolor": "var(--line-strong)",
    }


def _date_text(at: datetime, span: PlotSpan) -> str:
    local = at.astimezone(span.zone)
    if span.ends_at - span.starts_at < timedelta(days=_MOST_DATES):
        return f"{short_day(local.date())} {local:%H:%M}"
    return f"{short_day(local.date())} {local.year}"


def _end_labels(
    series: Sequence[StepSeries], span: PlotSpan, ticks: Sequence[Decimal]
) -> list[Json]:
    """Each kind named beside where its line ends, moved apart where they would touch."""
    drawn_px = HEIGHT_PX - _TOP_PX - _BOTTOM_PX
    per_px = ticks[-1] / drawn_px
    lowest_first = sorted(series, key=lambda step_series: step_series.steps[-1].amount)
    middles = [step_series.steps[-1].amount / per_px for step_series in lowest_first]
    heights = spread_apart(middles, Decimal(_LABEL_GAP_PX), Decimal(drawn_px))
    return [
        end_label(step_series.label, float(height * per_px), 6)
        for step_series, height in zip(lowest_first, heights, strict=True)
    ]


def _today_label(span: PlotSpan) -> Json:
    text = f"today, {day(span.today.astimezone(span.zone).date())}"
    colour = {"size": 11, "color": "var(--ink-3)"}
    return label_above(_local_text(span.today, span), text, xanchor="right", font=colour)


def _local_text(at: datetime, span: PlotSpan) -> str:
    return f"{at.astimezone(span.zone):%Y-%m-%d %H:%M:%S}"
