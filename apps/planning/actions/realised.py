"""Forecasts are held against what came."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import local_day
from apps.planning.models import Forecast, ForecastSeries, Granularity
from apps.planning.queries.days import DailyHistory
from apps.planning.queries.history import SeriesHistory, key_of
from apps.planning.queries.series import SeriesKey

OPEN = timedelta(days=21)
"""So long after its beginning what came may still change: the 14 days ahead, and a week for late facts."""
HELD_DAYS = 13 * 7
"""Of a forecast by day, so many days are held against what came."""
OPEN_DAYS = timedelta(days=HELD_DAYS + 7)


def realise_hours(histories_by_series: Mapping[SeriesKey, SeriesHistory], at: datetime) -> None:
    """Errors of forecasts by the hour of which hours have come, or may still change."""
    begun = Forecast.objects.filter(
        granularity=Granularity.HOUR, starts_at__lt=at, starts_at__gt=at - OPEN
    )
    for forecast in begun.select_related("series").iterator(chunk_size=100):
        history = histories_by_series.get(key_of(forecast.series))
        if history is None:
            continue
        first = (forecast.starts_at - history.starts_at) // HOUR
        actual_values = [history.value_at(first + lead) for lead in range(forecast.horizon)]
        Forecast.objects.filter(pk=forecast.pk).update(
            came=actual_values, **realised_scores(forecast, actual_values)
        )


def realise_days(row: ForecastSeries, history: DailyHistory, at: datetime, zone: str) -> None:
    """Write the actual values and the scores of a series' forecasts by day."""
    begun = Forecast.objects.filter(
        series=row, granularity=Granularity.DAY, starts_at__lt=at, starts_at__gt=at - OPEN_DAYS
    )
    for forecast in begun.defer("recent"):
        first = local_day(forecast.starts_at, zone)
        actual_values = [
            history.value_on(first + timedelta(days=lead))
            for lead in range(min(HELD_DAYS, forecast.horizon))
        ]
        scores = realised_scores(forecast, actual_values)
        scores["realised_hours"] *= 24
        Forecast.objects.filter(pk=forecast.pk).update(came=actual_values, **scores)


def realised_scores(forecast: Forecast, actual_values: Sequence[float | None]) -> dict[str, Any]:
    """Values that came, their mean absolute error and that of reconciled ones, and the share of them inside the 80 % interval."""
    known_values = [(lead, value) for lead, value in enumerate(actual_values) if value is not None]
    lows, highs = (forecast.quantiles[end] if forecast.quantiles else [] for end in (0, -1))
    ends = [(value, lows[lead], highs[lead]) for lead, value in known_values if lows]
    return {
        "realised_hours": len(known_values),
        "realised_error": _mean_of(
            abs(value - forecast.points[lead]) for lead, value in known_values
        ),
        "realised_reconciled_error": _mean_of(
            abs(value - moved)
            for lead, value in known_values
            if forecast.reconciled and (moved := forecast.reconciled[lead]) is not None
        ),
        "realised_coverage": _mean_of(
            low <= value <= high
            for value, low, high in ends
            if low is not None and high is not None
        ),
    }


def _mean_of(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None
