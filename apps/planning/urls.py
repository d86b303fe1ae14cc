"""Addresses of planning's REST surface."""

from django.urls import path

from apps.planning import api

urlpatterns = [
    path("forecasts", api.Forecasts.as_view(), name="api-forecasts"),
    path(
        "forecasts/<int:forecast_id>/hours",
        api.HoursOfForecast.as_view(),
        name="api-forecast-hours",
    ),
]
