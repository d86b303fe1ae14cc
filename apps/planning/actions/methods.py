"""Methods that make a forecast of values, and what stands where one breaks."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import accumulate
from typing import Any, Protocol

from apps.economics.forecast.hour_paths import BegunDays
from apps.economics.forecast.planned import DayEffect
from apps.economics.gates import capacity_gate, serialize_gates
from apps.economics.hours import DAY_HOURS
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.series import GPU_HOURS, SeriesKey

ForecastMaker = Callable[[Sequence[float | None]], Mapping[str, Any]]
"""From the hours of a history the fields of Forecast that a method says."""

NO_TOTALS: Mapping[str, Any] = {
    "expected": [],
    "sums": [],
    "capacity": [],
    "gates": [],
    "seen": [],
}
"""Of a forecast without paths."""

log = logging.getLogger(__name__)


class DailyMaker(Protocol):
    """From the days of a history, and what events do to those ahead, the fields of Forecast that a method says."""

    def __call__(
        self,
        values: Sequence[float | None],
        effects: Sequence[DayEffect],
        month_ends: Sequence[int],
        *,
        is_mean: bool = False,
        capacity: Sequence[float] = (),
        begun: BegunDays | None = None,
    ) -> Mapping[str, Any]: ...


def attempted_fields(
    attempt: Callable[[], Mapping[str, Any]], series: SeriesKey, last: float, horizon: int
) -> dict[str, Any]:
    """Return what a method says; where it breaks, the last value as a fallback, with why in words. The log has the rest."""
    try:
        return {**NO_TOTALS, **attempt()}
    except Exception as broken:
        log.exception("forecast_failed series=%s", series)
        why = (
            f"the method broke on this history ({type(broken).__name__}); the server's log has more"
        )
        return {
            **NO_TOTALS,
            "horizon": horizon,
            "method": str(ForecastMethod.LAST_VALUE),
            "refusal": why,
            "scale": None,
            "shift": None,
            "months": [],
            "weights": {},
            "backtests": [],
            "points": [last] * horizon,
            "quantiles": [],
        }


def planned_totals(
    fields: Mapping[str, Any], ahead: Sequence[tuple[DayEffect, float]]
) -> dict[str, Any]:
    """The expected hours with what events do to them, and sums of days moved along, as wide as their factors make them."""
    expected = fields["expected"]
    if not expected:
        return {}
    planned = [
        effect.planned(value, share) for value, (effect, share) in zip(expected, ahead, strict=True)
    ]
    by_factor = [value * effect.factor for value, (effect, _) in zip(expected, ahead, strict=True)]
    before, after, of_factor = (
        [0.0, *accumulate(values)][DAY_HOURS::DAY_HOURS]
        for values in (expected, planned, by_factor)
    )
    wider = [
        factor / ordinary if ordinary > 0 else 1.0
        for factor, ordinary in zip(of_factor, before, strict=True)
    ]
    sums = [
        [
            moved + factor * (value - ordinary)
            for value, ordinary, moved, factor in zip(level, before, after, wider, strict=False)
        ]
        for level in fields["sums"]
    ]
    return {"expected": planned, "sums": sums}


def bounded_by_capacity(
    fields: Mapping[str, Any], series: SeriesKey, capacity: Sequence[float]
) -> dict[str, Any]:
    """Return what can be held in each step, kept beside demand: what is above is waiting; with the gate that says so."""
    if series.measure != GPU_HOURS:
        return {"capacity": []}
    highest = max(range(len(fields["points"])), key=lambda place: fields["points"][place])
    if capacity:
        over = [point - most for point, most in zip(fields["points"], capacity, strict=True)]
        highest = max(range(len(over)), key=over.__getitem__)
    gate = capacity_gate(
        fields["points"][highest],
        capacity[highest] if capacity else None,
        "GPU-hours",
        "what is there is held, the rest waits",
    )
    return {
        "capacity": list(capacity),
        "gates": [*fields["gates"], *serialize_gates([gate])],
    }


def dated_shift(
    shift: Mapping[str, Any] | None, on: Callable[[int], date]
) -> dict[str, Any] | None:
    """A change of level as a forecast keeps it; `on` says which day the place of its first value is."""
    if shift is None:
        return None
    return {"on": on(shift["place"]).isoformat(), "effect": shift["effect"]}


def newest_forecast(row: ForecastSeries | None, granularity: str) -> Forecast | None:
    """The last that was made of a series, without its values."""
    if row is None:
        return None
    forecasts = Forecast.objects.filter(series=row, granularity=granularity).order_by("-starts_at")
    return forecasts.only("starts_at", "digest", "events", "refusal").first()


def are_same_events(one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two forecasts know of the same events, however many of their days lay ahead."""
    counts = {"days_before", "days_ahead"}
    plain = [
        [{k: event[k] for k in event.keys() - counts} for event in events]
        for events in (one, other)
    ]
    return plain[0] == plain[1]
