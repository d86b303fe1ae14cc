"""Series and forecasts in words."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from apps.economics.hours import HOUR_MS
from apps.planning.queries.forecasts import LAST_VALUE, ForecastFact
from apps.planning.queries.series import GPU_HOURS, QUEUE_WAIT, REQUESTS, SPEND, TOKENS
from apps.show.amounts import count, gpu_hours, per_cent
from apps.show.money import MICROS, whole_amount
from apps.show.time import instant, minute_duration

MEASURES = {
    GPU_HOURS: "GPU-hours",
    REQUESTS: "Requests",
    TOKENS: "Tokens",
    SPEND: "Spend",
    QUEUE_WAIT: "Queue wait",
}
DIMENSIONS = {
    "": "the organisation",
    "pool": "pool",
    "gpu_model": "GPU model",
    "workload_class": "workload class",
    "team": "team",
    "service": "service",
}
QUEUES = {
    "known": "what jobs held, and what they waited for",
    "in_part": "what jobs held, and what some of them waited for: of others nobody said when they were submitted",
    "unknown": "what jobs held alone; what waited is not known",
}
SIGNIFICANT = 100
LATELY = timedelta(hours=12)
"""Until a forecast has begun for longer than this, its first day is still mostly to come."""


def title_of(each: ForecastFact) -> str:
    """`GPU-hours of pool h100`."""
    return (
        f"{MEASURES[each.series.measure]} of {DIMENSIONS[each.series.dimension]} {each.of}".strip()
    )


def amount(each: ForecastFact, value: float, currency: str) -> str:
    """A value of a series, with its unit."""
    measure = each.series.measure
    if measure == SPEND:
        return whole_amount(round(value * MICROS), currency)
    if measure == QUEUE_WAIT:
        return minute_duration(timedelta(hours=value))
    if measure == GPU_HOURS:
        return f"{gpu_hours(round(value * HOUR_MS))} GPU-hours"
    return f"{count(round(value))} {each.unit}"


def number(value: float) -> str:
    """Whole from a hundred on, else three digits that count."""
    return f"{value:,.0f}" if abs(value) >= SIGNIFICANT else f"{value:.3g}"


def expected(each: ForecastFact, currency: str, at: datetime, zone: tzinfo) -> str:
    """What its first day has: `1,204 GPU-hours expected in the next 24 hours`, or from when on that was."""
    over = "over" if each.series.measure == QUEUE_WAIT else "in"
    is_next = at - each.starts_at < LATELY
    within = (
        "the next 24 hours" if is_next else f"the 24 hours from {instant(each.starts_at, zone)}"
    )
    return f"{amount(each, each.day_ahead, currency)} expected {over} {within}"


def against_before(each: ForecastFact, recent: Sequence[float | None]) -> str:
    """How that compares with a day of the two weeks before; empty where nothing of them is known."""
    known = [value for value in recent if value is not None]
    mean = sum(known) / len(known) if known else 0.0
    before = mean if each.series.measure == QUEUE_WAIT else 24 * mean
    if before <= 0:
        return ""
    change = each.day_ahead / before - 1
    side = "more" if change > 0 else "less"
    return f", {per_cent(abs(change))} {side} than a day of the two weeks before it"


def method(each: ForecastFact) -> str:
    """How it came to be."""
    if each.method == LAST_VALUE:
        return f"The last value, as a fallback: {each.refusal}"
    largest = sorted(each.weights.items(), key=lambda pair: -pair[1])[:3]
    shares = ", ".join(f"{name.replace('_', ' ')} ({per_cent(share)})" for name, share in largest)
    return f"Weighted median of {len(each.weights)} candidates; most weight: {shares}"


def inputs(each: ForecastFact) -> str:
    """Which hours it was made from."""
    said = f"{each.observed_hours:,} known hours"
    if each.imported_hours:
        said += f", {each.imported_hours:,} of them imported"
    if each.left_out_hours:
        said += f"; {each.left_out_hours:,} left out: provisional, not observed or without a price"
    return said
