"""Addresses of review's REST surface."""

from django.urls import path

from apps.review import api

urlpatterns = [
    path("anomalies", api.Anomalies.as_view(), name="api-anomalies"),
    path("findings", api.Findings.as_view(), name="api-findings"),
]
