"""Series and forecasts in words."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from apps.economics.gates import GateName, failed_gates
from apps.economics.hours import HOUR_MS
from apps.planning.queries.events import EVENT_KINDS, UNKNOWN, describe_effect
from apps.planning.queries.forecasts import (
    BASELINE,
    FALLBACKS,
    LEVEL_SCENARIOS,
    ForecastEvent,
    ForecastFact,
    ForecastMonth,
    ForecastTotal,
    LevelShift,
)
from apps.planning.queries.reconciliation import ReconciledWay, ReconciliationFact
from apps.planning.queries.series import (
    DIMENSIONS,
    GPU_HOURS,
    QUEUE_WAIT,
    SPEND,
    series_title,
)
from apps.show.amounts import LEAST_SHOWN, count, counted, gpu_hours, number, per_cent
from apps.show.money import MICROS, rounded_amount
from apps.show.time import day, instant, minute_duration, month
from apps.show.words import joined

WAYS = {
    "pool": "Pools",
    "gpu_model": "GPU models",
    "workload_class": "Workload classes",
    "team": "Teams",
}
RESTS = {
    "pool": "in no pool that is forecast",
    "gpu_model": "on GPUs whose model is not known, or is forecast by nothing",
    "workload_class": "without a workload class, or waiting in a queue",
    "team": "of no team, or waiting in a queue",
}
QUEUES = {
    "known": "what jobs held, and what they waited for",
    "in_part": "what jobs held, and what some of them waited for: of others nobody said when they were submitted",
    "unknown": "what jobs held alone; what waited is not known",
}
LARGEST_ERROR = 10
"""A MASE above it says little: it is divided by steps of a history that has next to none."""
REPEATS = "The history nearly repeats itself: next to nothing is divided by, and any miss looks large. Read the error in units."
LATELY = timedelta(hours=12)
"""Until a forecast has begun for longer than this, its first day is still mostly to come."""


def title_of(forecast: ForecastFact) -> str:
    """`GPU-hours of pool h100`."""
    return series_title(forecast.series)


def error_words(mase: float) -> str:
    """`1.22`; of a history that nearly repeats itself no more than that it is large."""
    return f"{mase:.2f}" if mase <= LARGEST_ERROR else f"> {LARGEST_ERROR}"


def amount(forecast: ForecastFact, value: float, currency: str) -> str:
    """A value of a series, with its unit."""
    measure = forecast.series.measure
    if measure == SPEND:
        return rounded_amount(round(value * MICROS), currency)
    if measure == QUEUE_WAIT:
        return minute_duration(timedelta(hours=value))
    if measure == GPU_HOURS:
        return f"{gpu_hours(round(value * HOUR_MS))} GPU-hours"
    return f"{count(round(value))} {forecast.unit}"


def whole_month(forecast: ForecastFact, months: int = 1) -> ForecastMonth | None:
    """The first whole month ahead, or the one so many after."""
    full_months = [month for month in forecast.months if month.is_whole]
    return full_months[months - 1] if len(full_months) >= months else None


def expected_month(forecast: ForecastFact, currency: str) -> str:
    """Return what a forecast expects of its first whole month: `$41,200 expected in December 2026, between $38,100 and $44,900`."""
    first = whole_month(forecast)
    if first is None:
        return "no whole month lies ahead"
    sentence = f"{amount(forecast, first.value, currency)} expected in {month(first.month)}"
    if not first.quantiles:
        return sentence
    low, high = (amount(forecast, first.quantiles[end], currency) for end in (0, -1))
    return f"{sentence}, with 80 % between {low} and {high}"


def shift_in_short(forecast: ForecastFact) -> tuple[str, ...]:
    """`level 40 % higher since 3 November 2026`; none without one."""
    return () if forecast.shift is None else (f"level {_moved_level(forecast.shift)}",)


def _moved_level(moved: LevelShift) -> str:
    side = "higher" if moved.effect > 0 else "lower"
    return f"{per_cent(abs(moved.effect))} {side} since {day(moved.on)} {moved.on.year}"


def shift(forecast: ForecastFact) -> str:
    """The last change of level in its history, and what is made of it; empty without one."""
    if forecast.shift is None:
        return ""
    sentence = f"The level is {_moved_level(forecast.shift)}"
    if forecast.is_daily:
        return f"{sentence}: that step is taken for no trend; the trend is of what came since, where three weeks or more did"
    return f"{sentence}: errors made before it count for less each day, and the shape of the week is of all weeks"


def event_span(first: date, last: date | None) -> str:
    """Its days in words."""
    begin = f"{day(first)} {first.year}"
    if last is None:
        return f"from {begin} on"
    return begin if last == first else f"{begin} to {day(last)} {last.year}"


def event(demand_event: ForecastEvent) -> str:
    """An event that a forecast knew of, and what was made of its days."""
    what = f"{demand_event.name} ({EVENT_KINDS[demand_event.kind]}, {event_span(demand_event.first_day, demand_event.last_day)}, "
    effect = describe_effect(demand_event.effect, demand_event.factor, demand_event.added)
    what += f"{'effect ' if demand_event.effect == UNKNOWN else ''}{effect})"
    before, ahead = (counted(n, "day") for n in (demand_event.days_before, demand_event.days_ahead))
    done = []
    if demand_event.days_before:
        left_out = demand_event.effect == UNKNOWN or demand_event.factor == 0
        done.append(f"{before} before left out" if left_out else f"taken out of {before} before")
    if demand_event.days_ahead:
        done.append(
            f"{ahead} ahead taken as ordinary"
            if demand_event.effect == UNKNOWN
            else f"put on {ahead} ahead"
        )
    return f"{what}: {', '.join(done)}"


def unit_of_steps(forecast: ForecastFact, step: str) -> str:
    """`GPU-hours a day`; of waits `hours, the mean of a day`."""
    if forecast.series.measure == QUEUE_WAIT:
        return f"{forecast.unit}, the mean of {step}"
    return f"{forecast.unit} {step}"


def expected(forecast: ForecastFact, currency: str, at: datetime, zone: tzinfo) -> str:
    """Return what a forecast expects of its first day: `1,204 GPU-hours expected in the next 24 hours`, or from when on that was."""
    over = "over" if forecast.series.measure == QUEUE_WAIT else "in"
    is_next = at - forecast.starts_at < LATELY
    within = (
        "the next 24 hours" if is_next else f"the 24 hours from {instant(forecast.starts_at, zone)}"
    )
    return f"{amount(forecast, forecast.day_ahead, currency)} expected {over} {within}"


def against_before(forecast: ForecastFact, recent: Sequence[float | None]) -> str:
    """How that compares with a day of the two weeks before; empty where nothing of them is known."""
    values = [value for value in recent if value is not None]
    mean = sum(values) / len(values) if values else 0.0
    before = mean if forecast.series.measure == QUEUE_WAIT else 24 * mean
    if before <= 0:
        return ""
    change = forecast.day_ahead / before - 1
    side = "more" if change > 0 else "less"
    return f", {per_cent(abs(change))} {side} than a day of the two weeks before it"


def method(forecast: ForecastFact) -> str:
    """How it came to be."""
    if forecast.method in FALLBACKS:
        return f"The {FALLBACKS[forecast.method]}, as a fallback: {forecast.refusal}"
    if forecast.method == BASELINE:
        named = {
            gate.fallback for gate in failed_gates(forecast.gates) if gate.name is GateName.BASELINE
        }
        return (
            f"Its best baseline, {joined([name.replace('_', ' ') for name in sorted(named)])}: on the history before, that "
            "missed by less than what it is a baseline of"
        )
    if forecast.method == LEVEL_SCENARIOS:
        return (
            "200 scenarios: the last week’s level goes on with half its trend, which fades, and with blocks of the weekly "
            "growth that the history has; times the shape of the week and what single days do; spread as far as what came after earlier ones asks for"
        )
    largest = sorted(forecast.weights.items(), key=lambda pair: -pair[1])[:3]
    shares = ", ".join(f"{name.replace('_', ' ')} ({per_cent(share)})" for name, share in largest)
    return f"Weighted median of {len(forecast.weights)} candidates; most weight: {shares}"


def total_of(total: ForecastTotal) -> str:
    """`First 7 days`."""
    return f"First {counted(total.hours // 24, 'day')}"


def total(forecast: ForecastFact, forecast_total: ForecastTotal, currency: str) -> str:
    """Return what the first hours come to together, its interval, and what is expected to wait beyond it."""
    sentence = amount(forecast, forecast_total.value, currency)
    if forecast_total.low is not None and forecast_total.high is not None:
        low, high = (
            amount(forecast, end, currency) for end in (forecast_total.low, forecast_total.high)
        )
        sentence += f", with 80 % between {low} and {high}"
    if forecast_total.waiting > LEAST_SHOWN:
        sentence += f"; {amount(forecast, forecast_total.waiting, currency)} more wait for GPUs that are not there"
    return sentence


def inputs(forecast: ForecastFact, zone: tzinfo) -> str:
    """Return which hours, or days, a forecast was made from."""
    hours_text, imported = (
        f"{forecast.observed_hours:,} known hours",
        f"{forecast.imported_hours:,} of them",
    )
    if forecast.is_daily:
        since = forecast.history_from.astimezone(zone).date()
        hours_text = (
            f"{counted(forecast.observed_hours // 24, 'known day')} since {day(since)} {since.year}"
        )
        imported = f"{counted(forecast.imported_hours, 'hour')} of the last 90 days"
    if forecast.imported_hours:
        hours_text += f", {imported} imported"
    if forecast.left_out_hours:
        left_out = counted(forecast.left_out_hours, "hour")
        hours_text += f"; {left_out} left out: provisional, not observed or without a price"
    return hours_text


def drawn_events(events: Sequence[ForecastEvent]) -> str:
    """Return what the bars along a curve's upper edge are; empty where there is none ahead."""
    names = [demand_event.name for demand_event in events if demand_event.days_ahead]
    return f"; along the upper edge, days of {joined(names)}" if names else ""


def not_by_day(missing: Sequence[ForecastFact]) -> str:
    """Series that are forecast by the hour alone, and why; empty without one."""
    if not missing:
        return ""
    return (
        f". Not forecast by the day: {joined([title_of(forecast_fact) for forecast_fact in missing])}: of no day of it are three hours in "
        "four known, for hours that are provisional, not observed or without a price are not"
    )


def _part_words(series: str) -> str:
    """`team Search` of `gpu_hours:team=Search`."""
    dimension, _, name = series.partition(":")[2].partition("=")
    return f"{DIMENSIONS[dimension]} {name}"


def not_added_up(way: ReconciledWay) -> str:
    """Why a way to divide the whole adds up to nothing, or which series are none of its parts."""
    left_out = "; ".join(f"{_part_words(series)}: {why}" for series, why in way.left_out)
    if way.refusal and way.refusal != left_out:
        return f"{way.refusal}. {left_out}" if left_out else way.refusal
    return left_out


def remainder_label(way: ReconciledWay) -> str:
    """Return what is in none of the parts; empty where nothing is."""
    return RESTS[way.dimension] if way.rest else ""


def reconciled(forecast: ForecastFact, currency: str) -> str:
    """Return what a forecast's first day becomes so that all parts add up; empty where it is not one of them."""
    if forecast.day_ahead_reconciled is None or forecast.is_daily:
        return ""
    own_amount, moved = (
        amount(forecast, value, currency)
        for value in (forecast.day_ahead, forecast.day_ahead_reconciled)
    )
    of = (
        "its parts add up to it"
        if not forecast.series.dimension
        else "all parts add up to the whole"
    )
    return f"{moved} in the first 24 hours so that {of}; {own_amount} by its own history alone, which is the forecast"


def reconciled_errors(fact: ReconciliationFact) -> str:
    """`Reconciled, the whole missed by 6.56 an hour 24 hours ahead, by its own history alone by 7.48.`"""
    errors = fact.errors.get(24)
    if errors is None or errors.own_error is None or errors.reconciled_error is None:
        return "what it does to errors is not measured yet"
    return (
        f"24 hours ahead, in the last weeks, the whole reconciled missed by {number(errors.reconciled_error)} an hour, "
        f"by its own history alone by {number(errors.own_error)}"
    )
