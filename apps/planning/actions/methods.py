"""What makes a forecast of values, and what stands where it breaks."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from apps.economics.forecast.planned import DayEffect
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.series import SeriesKey

ForecastMaker = Callable[[Sequence[float | None]], Mapping[str, Any]]
"""From the hours of a history the fields of Forecast that a method says."""

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
    ) -> Mapping[str, Any]: ...


def attempted_fields(
    attempt: Callable[[], Mapping[str, Any]], series: SeriesKey, last: float, horizon: int
) -> dict[str, Any]:
    """What a method says; where it breaks, the last value as a fallback, with why in words. The log has the rest."""
    try:
        return dict(attempt())
    except Exception as broken:
        log.exception("forecast_failed series=%s", series)
        why = (
            f"the method broke on this history ({type(broken).__name__}); the server's log has more"
        )
        return {
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
    kept = Forecast.objects.filter(series=row, granularity=granularity).order_by("-starts_at")
    return kept.only("starts_at", "digest", "events", "refusal").first()


def are_same_events(one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two forecasts know of the same events, however many of their days lay ahead."""
    counts = {"days_before", "days_ahead"}
    plain = [
        [{k: each[k] for k in each.keys() - counts} for each in events] for events in (one, other)
    ]
    return plain[0] == plain[1]
