"""The days and months of a forecast by day."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.ledger.queries.calendar import local_day
from apps.planning.queries.forecasts import BY_DAY, ForecastHours, forecast_hours
from apps.planning.tables.forecast_hours import FORECAST_DAYS, FORECAST_MONTHS
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import RestView


class LocalDayOut(serializers.DateField):
    """The day of the organisation's zone that begins at a moment."""

    def to_representation(self, value: Any) -> str:
        """Return it as a date."""
        return local_day(value, organisation().zone).isoformat()


class ForecastDayOut(RowAnswer):
    """A local day ahead: as likely more as less, its quantiles, and what came; null is unknown."""

    table = FORECAST_DAYS
    day = LocalDayOut()


class ForecastMonthOut(RowAnswer):
    """The total of a month's days ahead (of waits the mean), of the same scenarios as the days.

    Quantiles of days do not add up to those of months.
    """

    table = FORECAST_MONTHS


class DaysOfForecast(RestView):
    """The days of a forecast by day, and what came in them."""

    row = ForecastDayOut

    @table_schema("list_forecast_days", ForecastDayOut)
    def get(self, request: Request, daily_forecast_id: int) -> Response:
        """Each day of the organisation's zone with its quantiles; they are null in a fallback."""
        with reading_once():
            forecast_detail = _daily_forecast(self, request, daily_forecast_id)
            return answer_table(request, ForecastDayOut, forecast_detail.hours)


class MonthsOfForecast(RestView):
    """The months of a forecast by day."""

    row = ForecastMonthOut

    @table_schema("list_forecast_months", ForecastMonthOut)
    def get(self, request: Request, daily_forecast_id: int) -> Response:
        """Each month's total with its quantiles; the first and the last are of the days that lie ahead."""
        forecast_detail = _daily_forecast(self, request, daily_forecast_id)
        return answer_table(request, ForecastMonthOut, forecast_detail.forecast.months)


def _daily_forecast(view: RestView, request: Request, forecast_id: int) -> ForecastHours:
    Parameters.of(request, SORT)
    forecast_detail = forecast_hours(forecast_id, view.viewer().seen_teams, BY_DAY)
    if forecast_detail is None:
        raise Http404
    return forecast_detail
