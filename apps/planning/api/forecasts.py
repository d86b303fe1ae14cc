"""GET /api/v1/forecasts: what is forecast, how well that did before, and how it turned out."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.economics.forecast.names import (
    CANDIDATES,
    JUDGED_DAYS_AHEAD,
    JUDGED_HORIZONS,
)
from apps.planning.queries.forecasts import (
    BY_HOUR,
    GRANULARITIES,
    BacktestFact,
    ForecastFact,
    ForecastTotal,
    forecast_hours,
    forecasts,
)
from apps.planning.queries.series import DIMENSIONS_OF
from apps.planning.tables.forecast_hours import FORECAST_HOURS
from apps.web.rest.gates import GateOut
from apps.web.rest.money import RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import OptionalText, Parameters, refuse_others, split_words
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import RestView

DAY_AHEAD, WEEK_AHEAD = JUDGED_HORIZONS
MONTH_AHEAD, QUARTER_AHEAD = JUDGED_DAYS_AHEAD


class ForecastsQuery(Parameters):
    """Of what, and whether all that were made or the newest of each series."""

    series = OptionalText(help_text="one series, as gpu_hours:pool=h100 or spend")
    measure = OptionalText(help_text=f"{', '.join(DIMENSIONS_OF)}; several by comma")
    granularity = serializers.ChoiceField(
        choices=GRANULARITIES,
        default=BY_HOUR,
        help_text="hour: two weeks ahead; day: 18 months ahead",
    )
    earlier = serializers.BooleanField(
        required=False, default=False, help_text="true: all that were made of the series"
    )


class BacktestOut(Answer[BacktestFact]):
    """The method on the history of its series: MASE of it and of the best baseline, measured coverage."""

    without = ("horizon",)


WeightsOut: type[serializers.Serializer[Any]] = type(
    "WeightsOut",
    (serializers.Serializer,),
    {
        "__doc__": "Each candidate's share of the weight, the mean over the hours; null in a fallback.",
        **{name: RatioOut(allow_null=True) for name in CANDIDATES},
    },
)


class ForecastTotalOut(Answer[ForecastTotal]):
    """The total of the first hours, of waits their mean: of whole paths, never the sum of the hours' values."""

    q10 = serializers.FloatField(allow_null=True, source="low")
    q90 = serializers.FloatField(allow_null=True, source="high")


class ForecastOut(Answer[ForecastFact]):
    """A forecast without its hours or days; `refusal` says why a fallback stands in for too little history.

    `digest` is the SHA-256 of the values it was made from. Errors of what came are in `unit` and as MASE; a day of a
    forecast by day counts 24 hours. `level_shift` is the last change of level in its history: a share of the level before.
    """

    without = (
        *("horizon", "scale", "backtests", "day_ahead", "day_ahead_reconciled", "shift"),
        "months",
    )
    first = ("id", "series", "measure", "dimension", "name", "granularity", "unit")
    series = serializers.CharField(source="name")
    measure = serializers.CharField(source="series.measure")
    dimension = serializers.CharField(
        source="series.dimension", help_text="empty: of the organisation"
    )
    name = serializers.CharField(
        source="of", help_text="of the pool, GPU model, workload class, team, service"
    )
    unit = serializers.CharField(help_text="of the value of an hour, or of a day")
    starts_at = serializers.DateTimeField()
    horizon_hours = serializers.IntegerField()
    weights = WeightsOut()
    backtest_24h = BacktestOut(allow_null=True)
    backtest_168h = BacktestOut(allow_null=True)
    backtest_28d = BacktestOut(allow_null=True)
    backtest_84d = BacktestOut(allow_null=True)
    level_shift_on = serializers.DateField(allow_null=True, source="shift.on")
    level_shift = RatioOut(allow_null=True, source="shift.effect")
    events = serializers.ListField(
        child=serializers.IntegerField(), help_text="ids of the demand events that it knew of"
    )
    realised_error = serializers.FloatField(allow_null=True)
    realised_mase = RatioOut(allow_null=True)
    realised_coverage_80 = RatioOut(allow_null=True, source="realised_coverage")
    adds_up_to = serializers.IntegerField(
        allow_null=True,
        source="adds_up_to_id",
        help_text="id of the organisation's forecast that this and all parts beside it add up to, as reconciled",
    )
    totals = ForecastTotalOut(many=True, help_text="of 24, 168 and 336 hours; none by the day")
    gates = GateOut(many=True)


class ForecastHourOut(RowAnswer):
    """An hour ahead: as likely more as less, its quantiles, and what came; null is unknown."""

    table = FORECAST_HOURS


class Forecasts(RestView):
    """Forecasts of the organisation for who sees all, of one's teams and their services for others."""

    row = ForecastOut

    @extend_schema(
        operation_id="list_forecasts",
        parameters=[ForecastsQuery, *PAGES],
        responses=list_of(ForecastOut),
    )
    def get(self, request: Request) -> Response:
        """The newest forecast of each series, or with `earlier` all of one in 400 days."""
        params = ForecastsQuery.of(request)
        measures = split_words(params["measure"])
        refuse_others("measure", measures, DIMENSIONS_OF)
        if params["earlier"] and not params["series"]:
            raise ValidationError({"earlier": ["this needs a series"]})
        with reading_once():
            all_forecasts = _requested_forecasts(params, self.viewer().seen_teams)
            wanted = [
                forecast
                for forecast in all_forecasts
                if not measures or forecast.series.measure in measures
            ]
            page = slice_of(wanted, parse_page_request(request), _by_series)
            return paged(request, page, serialize_forecast_fact)


class HoursOfForecast(RestView):
    """The hours of a forecast, and what came in them."""

    row = ForecastHourOut

    @table_schema("list_forecast_hours", ForecastHourOut)
    def get(self, request: Request, forecast_id: int) -> Response:
        """Each hour with its quantiles; quantiles are null where too few errors are known yet."""
        Parameters.of(request, SORT)
        forecast_detail = forecast_hours(forecast_id, self.viewer().seen_teams, BY_HOUR)
        if forecast_detail is None:
            raise Http404
        return answer_table(request, ForecastHourOut, forecast_detail.hours)


def _requested_forecasts(
    params: Mapping[str, Any], team_ids: frozenset[int] | None
) -> list[ForecastFact]:
    """Of the series that is named, or of all; several may have one name, as services of two teams do."""
    granularity = params["granularity"]
    visible_forecasts = forecasts(team_ids, granularity=granularity)
    if not params["series"]:
        return visible_forecasts
    refuse_others(
        "series", [params["series"]], dict.fromkeys(forecast.name for forecast in visible_forecasts)
    )
    visible_forecasts = [
        forecast for forecast in visible_forecasts if forecast.name == params["series"]
    ]
    if not params["earlier"]:
        return visible_forecasts
    return [
        earlier
        for forecast in visible_forecasts
        for earlier in forecasts(team_ids, forecast.series, granularity)
    ]


def serialize_forecast_fact(forecast: ForecastFact) -> dict[str, Any]:
    """A forecast as REST answers it."""
    return serialize_as(
        ForecastOut,
        forecast,
        backtest_24h=forecast.backtest_of(DAY_AHEAD),
        backtest_168h=forecast.backtest_of(WEEK_AHEAD),
        backtest_28d=forecast.backtest_of(MONTH_AHEAD),
        backtest_84d=forecast.backtest_of(QUARTER_AHEAD),
        events=[event.id for event in forecast.events],
    )


def _by_series(forecast: ForecastFact) -> tuple[str, str, str, float]:
    """By series, the newest first."""
    series = forecast.series
    return series.measure, series.dimension, series.key, -forecast.starts_at.timestamp()
