"""The hours ahead of series, as their newest forecasts have them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.hours import HOUR
from apps.economics.hours_ahead import HoursAhead
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.forecasts import BY_HOUR, newest_id
from apps.planning.queries.history import key_of
from apps.planning.queries.series import SeriesKey


@dataclass(frozen=True, slots=True)
class SeriesAhead:
    """The forecast of a series: its hours from `starts_at` on, and its id."""

    series: SeriesKey
    forecast_id: int
    starts_at: datetime
    hours: HoursAhead


def series_ahead(wanted: Collection[SeriesKey], at: datetime) -> dict[SeriesKey, SeriesAhead]:
    """Of these series the newest forecasts that reach beyond `at`; one that has none is not there.

    Nor is one of which too little was known: its last value is no forecast of a month.
    """
    keys = {series.key for series in wanted}
    rows = ForecastSeries.objects.filter(key__in=keys).values_list(newest_id(BY_HOUR))
    found = {}
    chosen = Forecast.objects.filter(pk__in=rows).exclude(method=ForecastMethod.LAST_VALUE)
    for row in chosen.select_related("series"):
        series = key_of(row.series)
        if series in wanted and row.starts_at + row.horizon * HOUR > at:
            found[series] = SeriesAhead(series, row.pk, row.starts_at, _hours_of(row))
    return found


def _hours_of(row: Forecast) -> HoursAhead:
    """Without an interval where it has none in some hour."""
    values = [[value for value in level if value is not None] for level in row.quantiles]
    if any(len(level) < row.horizon for level in values):
        values = []
    return HoursAhead(row.points, dict(zip(QUANTILE_LEVELS, values, strict=False)))
