"""What more GPUs would bring a programme: the two curves, and the answer to a number of GPUs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.http import QueryDict

from apps.console.pages.runs.question import RunsQuestion
from apps.console.pages.runs.values import Answer, Curve, CurveRow
from apps.show import curves
from apps.show.amounts import counted
from apps.show.counts import times
from apps.show.money import short_amount, whole_amount
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.unit_economics.queries.runs.curves import (
    CurvePoint,
    Range,
    ScalingAnswer,
    ScalingRefusal,
    scaling_of,
)

MOST_GPUS = 100_000
NOT_A_NUMBER = "Say a number of GPUs, as in 128."


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a curve is of: its place, its words, its value at a point and that in words.

    `is_speed`: twice the speed is twice of it, not half.
    """

    id: str
    title: str
    unit: str
    measure: str
    of: Callable[[CurvePoint], Range | None]
    said: Callable[[float], str]
    is_speed: bool = False


def asked_gpus(given: QueryDict) -> tuple[int | None, str]:
    """The number of GPUs in the address, and what of it was not understood."""
    text = given.get("gpus", "").strip()
    if not text:
        return None, ""
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST_GPUS):
        return None, NOT_A_NUMBER
    return int(text), ""


def scaling(
    workload_id: int, asked: RunsQuestion, gpus: int | None, currency: str
) -> tuple[Answer, tuple[Curve, ...]]:
    """The answer in words, or the refusal; and the curves, which a refused number leaves as they are."""
    found = scaling_of(workload_id, window=asked.window, gpus=gpus)
    drawn = found
    if gpus is not None and isinstance(found, ScalingRefusal):
        drawn = scaling_of(workload_id, window=asked.window)
    pictures = _curves(drawn, currency) if isinstance(drawn, ScalingAnswer) else ()
    if isinstance(found, ScalingRefusal):
        return Answer(asked=str(gpus or ""), sentences=(), refusal=found.words), pictures
    return _answer(found, currency), pictures


def _answer(found: ScalingAnswer, currency: str) -> Answer:
    said = [found.words]
    if found.hours is not None and found.hours_now is not None:
        now, then = _hours(found.hours_now.value), _hours(found.hours.value)
        said.append(
            f"A model version takes {then}{_between(found.hours, _hours)}; the median so far is {now}."
        )
    if found.speed_up.low is None or found.speed_up.high is None:
        said.append("The runs are too few for an interval.")
    else:
        said.append(
            f"90 % interval of the speed-up: {times(found.speed_up.low)} to "
            f"{times(found.speed_up.high)}."
        )
    if found.peak_gpus is not None:
        said.append(f"Beyond about {found.peak_gpus:,.0f} GPUs it would become slower.")
    said.append(f"Fitted on {counted(len(found.runs), 'run')}{_kind(found)}{_others(found)}.")
    return Answer(asked=str(found.more), sentences=tuple(said))


def _kind(found: ScalingAnswer) -> str:
    parts = [
        part for part in (found.model, f"on {found.gpu_model}" if found.gpu_model else "") if part
    ]
    return f" of {' '.join(parts)}" if parts else ""


def _others(found: ScalingAnswer) -> str:
    if not found.others:
        return ""
    return f"; {counted(found.others, 'run')} of another model or on other GPUs left aside"


def _curves(found: ScalingAnswer, currency: str) -> tuple[Curve, ...]:
    if found.hours is None:
        return (_of_speed(found),)
    time = Drawn(
        id="time-to-train",
        title=f"{counted(found.more, 'GPU')} train a model version in {_hours(found.hours.value)}",
        unit="time to train a model version against GPUs",
        measure="Time",
        of=lambda point: point.hours,
        said=_hours,
    )
    if found.micros is None:
        return (_curve(found, time),)
    cost = Drawn(
        id="cost-to-train",
        title=f"On {counted(found.more, 'GPU')} it costs "
        f"{whole_amount(round(found.micros.value), currency)}",
        unit=f"cost of a model version in {currency} against GPUs, at what a GPU-hour cost so far",
        measure="Cost",
        of=lambda point: point.micros,
        said=lambda micros: short_amount(round(micros), currency),
    )
    return _curve(found, time), _curve(found, cost)


def _of_speed(found: ScalingAnswer) -> Curve:
    """Where no run finished there is no model version yet, and speed alone is known."""
    speed = Drawn(
        id="speed",
        title=f"{counted(found.more, 'GPU')} are {times(found.speed_up.value)} as fast "
        f"as {found.gpus}",
        unit="tokens a second against GPUs; no run finished, so a version’s time is not known",
        measure="Tokens a second",
        of=lambda point: point.tokens_per_second,
        said=lambda rate: f"{rate:,.0f}",
        is_speed=True,
    )
    return _curve(found, speed)


def _curve(found: ScalingAnswer, drawn: Drawn) -> Curve:
    said = drawn.said
    known = [(point, value) for point in found.points if (value := drawn.of(point)) is not None]
    measured = _measured(found, drawn, known)
    asked = [
        curves.CurvesAsked(each.gpus, one.value) for each, one in known if each.gpus == found.more
    ]
    points = [curves.PlottedPoint(each.gpus, one.value, one.low, one.high) for each, one in known]
    return Curve(
        id=drawn.id,
        title=drawn.title,
        unit=f"{drawn.unit}; dots are runs, the band is where nine of ten resampled fits lie",
        measure=drawn.measure,
        figure=curves.curve(points, measured, asked[0] if asked else None, said),
        rows=tuple(
            CurveRow(
                gpus=each.gpus,
                measured=", ".join(said(run.value) for run in measured if run.gpus == each.gpus),
                expected=said(one.value),
                between=_span(one, said),
            )
            for each, one in known
        ),
    )


def _measured(
    found: ScalingAnswer, drawn: Drawn, known: Sequence[tuple[CurvePoint, Range]]
) -> list[curves.Measured]:
    """Each run where its own speed puts it: what differs from the line is its speed alone."""
    at = {point.gpus: (point.tokens_per_second.value, value.value) for point, value in known}
    placed = []
    for run in found.runs:
        if run.gpus in at:
            expected, value = at[run.gpus]
            faster = run.tokens_per_second / expected
            own = value * faster if drawn.is_speed else value / faster
            placed.append(curves.Measured(run.gpus, own, run.key))
    return placed


def _between(each: Range, said: Callable[[float], str]) -> str:
    span = _span(each, said)
    return "" if span == UNKNOWN else f" ({span})"


def _span(each: Range, said: Callable[[float], str]) -> str:
    if each.low is None or each.high is None:
        return UNKNOWN
    return f"{said(each.low)} to {said(each.high)}"


def _hours(hours: float) -> str:
    return duration(timedelta(minutes=round(hours * 60)) if hours >= 1 else timedelta(hours=hours))
