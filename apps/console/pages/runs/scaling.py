"""Scaling of a programme by more GPUs: the two curves, and the answer to a number of GPUs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from django.http import QueryDict

from apps.console.kit.cells import COUNT, FIGURE
from apps.console.kit.chart import LineChart
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.runs.question import RunsQuestion
from apps.show import curves
from apps.show.amounts import counted
from apps.show.counts import times
from apps.show.money import rounded_amount, short_amount
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.tables.column import Column
from apps.unit_economics.queries.runs.curves import (
    CurvePoint,
    Range,
    ScalingAnswer,
    ScalingRefusal,
    scaling_of,
)

MOST_GPUS = 100_000
NOT_A_NUMBER = "Say a number of GPUs, as in 128."


class Answer(NamedTuple):
    """The answer to what a number of GPUs would bring, or why that is not said."""

    asked: str
    sentences: tuple[str, ...]
    refusal: str = ""


class PointOfCurve(NamedTuple):
    """A point of a curve in words: what runs on so many GPUs took, and what is expected."""

    gpus: int
    measured: str
    expected: str
    between: str


@dataclass(frozen=True, slots=True)
class DrawnMeasure:
    """A measure that a curve is of: its place, its words, its value at a point and that in words.

    `is_speed`: twice the speed is twice of it, not half.
    """

    id: str
    title: str
    unit: str
    measure: str
    of: Callable[[CurvePoint], Range | None]
    said: Callable[[float], str]
    is_speed: bool = False


def requested_gpus(params: QueryDict) -> tuple[int | None, str]:
    """The number of GPUs in the address, and what of it was not understood."""
    text = params.get("gpus", "").strip()
    if not text:
        return None, ""
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST_GPUS):
        return None, NOT_A_NUMBER
    return int(text), ""


def scaling(
    workload_id: int, question: RunsQuestion, gpus: int | None
) -> tuple[Answer, tuple[LineChart, ...]]:
    """The answer in words, or the refusal; and the curves, which a refused number leaves as they are."""
    answer = scaling_of(workload_id, window=question.window, gpus=gpus)
    drawn = answer
    if gpus is not None and isinstance(answer, ScalingRefusal):
        drawn = scaling_of(workload_id, window=question.window)
    pictures = _curves_of(drawn, question.context) if isinstance(drawn, ScalingAnswer) else ()
    if isinstance(answer, ScalingRefusal):
        return Answer(asked=str(gpus or ""), sentences=(), refusal=answer.words), pictures
    return _answer_of(answer), pictures


def _answer_of(answer: ScalingAnswer) -> Answer:
    sentences = [answer.words]
    if answer.hours is not None and answer.hours_now is not None:
        now, then = _hours_words(answer.hours_now.value), _hours_words(answer.hours.value)
        sentences.append(
            f"A model version takes {then}{_between_words(answer.hours, _hours_words)}; the median so far is {now}."
        )
    if answer.speed_up.low is None or answer.speed_up.high is None:
        sentences.append("The runs are too few for an interval.")
    else:
        sentences.append(
            f"90 % interval of the speed-up: {times(answer.speed_up.low)} to "
            f"{times(answer.speed_up.high)}."
        )
    if answer.peak_gpus is not None:
        sentences.append(f"Beyond about {answer.peak_gpus:,.0f} GPUs it would become slower.")
    sentences.append(
        f"Fitted on {counted(len(answer.runs), 'run')}{_kind_words(answer)}{_others_words(answer)}."
    )
    return Answer(asked=str(answer.more), sentences=tuple(sentences))


def _kind_words(answer: ScalingAnswer) -> str:
    parts = [
        part
        for part in (answer.model, f"on {answer.gpu_model}" if answer.gpu_model else "")
        if part
    ]
    return f" of {' '.join(parts)}" if parts else ""


def _others_words(answer: ScalingAnswer) -> str:
    if not answer.others:
        return ""
    return f"; {counted(answer.others, 'run')} of another model or on other GPUs left aside"


def _curves_of(answer: ScalingAnswer, context: Context) -> tuple[LineChart, ...]:
    currency = context.currency
    if answer.hours is None:
        return (_speed_curve(answer, context),)
    time = DrawnMeasure(
        id="time-to-train",
        title=f"{counted(answer.more, 'GPU')} train a model version in {_hours_words(answer.hours.value)}",
        unit="time to train a model version against GPUs",
        measure="Time",
        of=lambda point: point.hours,
        said=_hours_words,
    )
    if answer.micros is None:
        return (_curve_of(answer, time, context),)
    cost = DrawnMeasure(
        id="cost-to-train",
        title=f"On {counted(answer.more, 'GPU')} it costs "
        f"{rounded_amount(round(answer.micros.value), currency)}",
        unit=f"cost of a model version in {currency} against GPUs, at what a GPU-hour cost so far",
        measure="Cost",
        of=lambda point: point.micros,
        said=lambda micros: short_amount(round(micros), currency),
    )
    return _curve_of(answer, time, context), _curve_of(answer, cost, context)


def _speed_curve(answer: ScalingAnswer, context: Context) -> LineChart:
    """Where no run finished there is no model version yet, and speed alone is known."""
    speed = DrawnMeasure(
        id="speed",
        title=f"{counted(answer.more, 'GPU')} are {times(answer.speed_up.value)} as fast "
        f"as {answer.gpus}",
        unit="tokens a second against GPUs; no run finished, so a version’s time is not known",
        measure="Tokens a second",
        of=lambda point: point.tokens_per_second,
        said=lambda rate: f"{rate:,.0f}",
        is_speed=True,
    )
    return _curve_of(answer, speed, context)


def _curve_of(answer: ScalingAnswer, drawn: DrawnMeasure, context: Context) -> LineChart:
    formatter = drawn.said
    curve_values = [
        (point, value) for point in answer.points if (value := drawn.of(point)) is not None
    ]
    measured = _measured_runs(answer, drawn, curve_values)
    highlighted = [
        curves.MarkedGpus(curve_point.gpus, one.value)
        for curve_point, one in curve_values
        if curve_point.gpus == answer.more
    ]
    points = [
        curves.PlottedPoint(curve_point.gpus, one.value, one.low, one.high)
        for curve_point, one in curve_values
    ]
    rows = [
        PointOfCurve(
            gpus=curve_point.gpus,
            measured=", ".join(
                formatter(run.value) for run in measured if run.gpus == curve_point.gpus
            ),
            expected=formatter(one.value),
            between=_range_words(one, formatter),
        )
        for curve_point, one in curve_values
    ]
    return LineChart(
        name=f"{drawn.id}-figure",
        anchor=drawn.id,
        title=drawn.title,
        unit=f"{drawn.unit}; dots are runs, the band is where nine of ten resampled fits lie",
        figure=curves.curve(points, measured, highlighted[0] if highlighted else None, formatter),
        behind=_points_table(drawn).section(rows, context),
    )


def _points_table(drawn: DrawnMeasure) -> Table[PointOfCurve]:
    return Table[PointOfCurve](
        f"{drawn.id}-points",
        f"{drawn.title}, as a table",
        (
            Column("gpus", "GPUs", lambda row: row.gpus, COUNT),
            Column("expected", drawn.measure, lambda row: row.expected, FIGURE),
            Column("between", "Between", lambda row: row.between, FIGURE),
            Column("measured", "Of runs", lambda row: row.measured, FIGURE),
        ),
    )


def _measured_runs(
    answer: ScalingAnswer, drawn: DrawnMeasure, curve_values: Sequence[tuple[CurvePoint, Range]]
) -> list[curves.Measured]:
    """Each run where its own speed puts it: what differs from the line is its speed alone."""
    at = {point.gpus: (point.tokens_per_second.value, value.value) for point, value in curve_values}
    placed = []
    for run in answer.runs:
        if run.gpus in at:
            expected, value = at[run.gpus]
            faster = run.tokens_per_second / expected
            run_value = value * faster if drawn.is_speed else value / faster
            placed.append(curves.Measured(run.gpus, run_value, run.key))
    return placed


def _between_words(interval: Range, formatter: Callable[[float], str]) -> str:
    span = _range_words(interval, formatter)
    return "" if span == UNKNOWN else f" ({span})"


def _range_words(interval: Range, formatter: Callable[[float], str]) -> str:
    if interval.low is None or interval.high is None:
        return UNKNOWN
    return f"{formatter(interval.low)} to {formatter(interval.high)}"


def _hours_words(hours: float) -> str:
    return duration(timedelta(minutes=round(hours * 60)) if hours >= 1 else timedelta(hours=hours))
