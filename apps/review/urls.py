"""Addresses of review's REST surface."""

from django.urls import path

from apps.review.api import alerts, anomalies, channels, recommendations

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
    path("alert-channels", channels.AlertChannels.as_view(), name="api-alert-channels"),
    path(
        "alert-channels/<int:channel_id>",
        channels.OneAlertChannel.as_view(),
        name="api-alert-channel",
    ),
    path(
        "alert-channels/<int:channel_id>/resume",
        channels.ResumedAlertChannel.as_view(),
        name="api-alert-channel-resume",
    ),
    path(
        "alert-channels/<int:channel_id>/test",
        channels.TestedAlertChannel.as_view(),
        name="api-alert-channel-test",
    ),
    path("recommendations", recommendations.Recommendations.as_view(), name="api-recommendations"),
    path(
        "recommendations/<int:recommendation_id>",
        recommendations.OneRecommendation.as_view(),
        name="api-recommendation",
    ),
    path(
        "recommendations/<int:recommendation_id>/<slug:answer>",
        recommendations.AnsweredRecommendation.as_view(),
        name="api-recommendation-answer",
    ),
    path("alert-messages", channels.AlertMessages.as_view(), name="api-alert-messages"),
]
