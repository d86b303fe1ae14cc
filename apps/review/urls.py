"""Addresses of review's REST surface."""

from django.urls import path

from apps.review.api import alerts, anomalies

urlpatterns = [
    path("anomalies", anomalies.Anomalies.as_view(), name="api-anomalies"),
    path("findings", anomalies.Findings.as_view(), name="api-findings"),
    path("alerts", alerts.Alerts.as_view(), name="api-alerts"),
    path("alerts/<int:alert_id>", alerts.OneAlert.as_view(), name="api-alert"),
    path(
        "alerts/<int:alert_id>/acknowledge",
        alerts.AcknowledgedAlert.as_view(),
        name="api-alert-acknowledge",
    ),
    path("alerts/<int:alert_id>/mute", alerts.MutedAlert.as_view(), name="api-alert-mute"),
    path("alerts/<int:alert_id>/resolve", alerts.ResolvedAlert.as_view(), name="api-alert-resolve"),
]
