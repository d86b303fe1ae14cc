"""Forecasts of some hours made before they began, as they are kept."""

from dataclasses import dataclass
from datetime import datetime

from apps.economics.budgets import sum_ahead
from apps.economics.hours import HOUR
from apps.planning.models import Forecast
from apps.planning.queries.ahead import hours_of
from apps.planning.queries.forecasts import BY_HOUR, FALLBACKS
from apps.planning.queries.series import SeriesKey


@dataclass(frozen=True, slots=True)
class SpanForecast:
    """The sum of a series over some hours, as the newest forecast from before them had it.

    In the unit of its measure. `interval` is of totals of its paths; of a forecast without them, the sums of its lowest and
    its highest quantiles, which is too wide where hours do not err together. `is_fallback`: the history was too short for more than its last value.
    """

    made_at: datetime
    method: str
    expected: float
    interval: tuple[float, float] | None
    is_fallback: bool


def forecast_of_span(
    series: SeriesKey, starts_at: datetime, ends_at: datetime
) -> SpanForecast | None:
    """None where no forecast from before them has all of these hours."""
    rows = Forecast.objects.filter(
        series__measure=series.measure,
        series__dimension=series.dimension,
        series__key=series.key,
        granularity=BY_HOUR,
        starts_at__lte=starts_at,
        starts_at__gt=starts_at - 14 * 24 * HOUR,
        made_at__lte=starts_at + HOUR,
    )
    row = rows.order_by("-starts_at").first()
    if row is None or row.starts_at + row.horizon * HOUR < ends_at:
        return None
    first = (starts_at - row.starts_at) // HOUR
    total = sum_ahead([(hours_of(row), first)], (ends_at - starts_at) // HOUR)
    ends = list(total.quantiles.values())
    return SpanForecast(
        made_at=row.made_at,
        method=row.method,
        expected=total.expected,
        interval=(ends[0], ends[-1]) if ends else None,
        is_fallback=row.method in FALLBACKS,
    )
