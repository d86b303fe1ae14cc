"""Addresses of planning's REST surface."""

from django.urls import path

from apps.planning.api.forecasts import Forecasts, HoursOfForecast

urlpatterns = [
    path("forecasts", Forecasts.as_view(), name="api-forecasts"),
    path("forecasts/<int:forecast_id>/hours", HoursOfForecast.as_view(), name="api-forecast-hours"),
]
