"""The days and months of a forecast by day."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.accounts.queries.facts import fields_of
from apps.ledger.queries.calendar import local_day
from apps.planning.api.forecasts import (
    EXPECTED,
    QUANTILES,
    RECONCILED,
    WAITING,
    by_beginning,
    named_quantiles,
)
from apps.planning.queries.forecasts import (
    BY_DAY,
    ForecastHours,
    ForecastMonth,
    forecast_hours,
)
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView

ForecastDayOut: type[serializers.Serializer[Any]] = type(
    "ForecastDayOut",
    (serializers.Serializer,),
    {
        "__doc__": "A local day ahead: as likely more as less, its quantiles, and what came; null is unknown.",
        "day": serializers.DateField(),
        "value": serializers.FloatField(),
        "waiting": WAITING,
        "expected": EXPECTED,
        "reconciled": RECONCILED,
        "observed": serializers.FloatField(allow_null=True),
        **{name: serializers.FloatField(allow_null=True) for name in QUANTILES},
    },
)
ForecastMonthOut: type[serializers.Serializer[Any]] = type(
    "ForecastMonthOut",
    (serializers.Serializer,),
    {
        "__doc__": "The total of a month's days ahead (of waits the mean), of the same scenarios as the days. "
        "Quantiles of days do not add up to those of months.",
        "month": serializers.DateField(help_text="its first day"),
        "days": serializers.IntegerField(help_text="how many of its days lie ahead"),
        "is_whole": serializers.BooleanField(help_text="false: some of its days are over"),
        "value": serializers.FloatField(),
        "waiting": WAITING,
        **{name: serializers.FloatField(allow_null=True) for name in QUANTILES},
    },
)


class DaysOfForecast(RestView):
    """The days of a forecast by day, and what came in them."""

    row = ForecastDayOut

    @extend_schema(
        operation_id="list_forecast_days", parameters=PAGES, responses=list_of(ForecastDayOut)
    )
    def get(self, request: Request, daily_forecast_id: int) -> Response:
        """Each day of the organisation's zone with its quantiles; they are null in a fallback."""
        forecast_detail, zone = (
            _daily_forecast(self, request, daily_forecast_id),
            organisation().zone,
        )
        page = slice_of(forecast_detail.hours, parse_page_request(request), by_beginning)
        return paged(
            request,
            page,
            lambda hour: serialize_as(
                ForecastDayOut,
                fields_of(hour)
                | {"day": local_day(hour.hour, zone)}
                | named_quantiles(hour.quantiles),
            ),
        )


class MonthsOfForecast(RestView):
    """The months of a forecast by day."""

    row = ForecastMonthOut

    @extend_schema(
        operation_id="list_forecast_months", parameters=PAGES, responses=list_of(ForecastMonthOut)
    )
    def get(self, request: Request, daily_forecast_id: int) -> Response:
        """Each month's total with its quantiles; the first and the last are of the days that lie ahead."""
        forecast_detail = _daily_forecast(self, request, daily_forecast_id)
        page = slice_of(forecast_detail.forecast.months, parse_page_request(request), _by_month)
        return paged(
            request,
            page,
            lambda month: serialize_as(
                ForecastMonthOut, fields_of(month) | named_quantiles(month.quantiles)
            ),
        )


def _daily_forecast(view: RestView, request: Request, forecast_id: int) -> ForecastHours:
    Parameters.of(request)
    forecast_detail = forecast_hours(forecast_id, view.viewer().seen_teams, BY_DAY)
    if forecast_detail is None:
        raise Http404
    return forecast_detail


def _by_month(month: ForecastMonth) -> tuple[str]:
    return (month.month.isoformat(),)
