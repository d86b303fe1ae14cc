"""Addresses of review's REST surface."""

from django.urls import path

from apps.review.api import (
    alerts,
    annotations,
    anomalies,
    channels,
    recommendations,
    spend_anomalies,
    waste_explained,
    weekly_reviews,
)

urlpatterns = [
    path("annotations", annotations.Annotations.as_view(), name="api-annotations"),
    path(
        "annotations/<int:chart_note_id>",
        annotations.OneAnnotation.as_view(),
        name="api-annotation",
    ),
    path("weekly-reviews", weekly_reviews.WeeklyReviews.as_view(), name="api-weekly-reviews"),
    path(
        "weekly-reviews/<str:week>",
        weekly_reviews.OneWeeklyReview.as_view(),
        name="api-weekly-review",
    ),
    path(
        "weekly-reviews/<str:week>/notes",
        weekly_reviews.ReviewNotes.as_view(),
        name="api-review-notes",
    ),
    path("anomalies", anomalies.Anomalies.as_view(), name="api-anomalies"),
    path("anomalies/<int:finding_id>", anomalies.OneAnomaly.as_view(), name="api-anomaly"),
    path(
        "anomalies/<int:finding_id>/explain",
        anomalies.ExplainedAnomaly.as_view(),
        name="api-anomaly-explain",
    ),
    path(
        "anomalies/<int:finding_id>/false-alarm",
        anomalies.FalseAnomaly.as_view(),
        name="api-anomaly-false-alarm",
    ),
    path(
        "anomalies/<int:finding_id>/mute", anomalies.MutedSeries.as_view(), name="api-anomaly-mute"
    ),
    path(
        "anomalies/<int:finding_id>/verdicts/<int:finding_verdict_id>/take-back",
        anomalies.TakenBackVerdict.as_view(),
        name="api-anomaly-verdict-take-back",
    ),
    path("spend-anomalies", spend_anomalies.SpendAnomalies.as_view(), name="api-spend-anomalies"),
    path(
        "spend-anomalies/<int:anomaly_id>",
        spend_anomalies.OneSpendAnomaly.as_view(),
        name="api-spend-anomaly",
    ),
    path(
        "spend-anomalies/<int:anomaly_id>/explain",
        spend_anomalies.ExplainedSpendAnomaly.as_view(),
        name="api-spend-anomaly-explain",
    ),
    path(
        "spend-anomalies/<int:anomaly_id>/false-alarm",
        spend_anomalies.FalseSpendAnomaly.as_view(),
        name="api-spend-anomaly-false-alarm",
    ),
    path(
        "spend-anomalies/<int:anomaly_id>/mute",
        spend_anomalies.MutedSpendSeries.as_view(),
        name="api-spend-anomaly-mute",
    ),
    path(
        "spend-anomalies/<int:anomaly_id>/verdicts/<int:verdict_id>/take-back",
        spend_anomalies.TakenBackOfSpend.as_view(),
        name="api-verdict-take-back",
    ),
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
        "recommendations/waste",
        waste_explained.WasteExplained.as_view(),
        name="api-waste-explained",
    ),
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
