"""Addresses of this app."""

from django.urls import path

from apps.workloads.api.holding import Allocations
from apps.workloads.api.promises import (
    ServiceObjectiveEnd,
    ServiceObjectives,
    WorkloadChanges,
)
from apps.workloads.api.requests import RequestHours
from apps.workloads.api.returns import WorkloadScores, WorkloadValues
from apps.workloads.api.rules import (
    OwnershipRuleEnd,
    OwnershipRuleEndPreview,
    OwnershipRulePreview,
    OwnershipRules,
    OwnershipRuleView,
)
from apps.workloads.api.run_reports import RunReports
from apps.workloads.api.usage import LiteLlmEvents, OtelEvents, UsageEvents
from apps.workloads.api.views import JobDetail, Jobs, JobsInBulk
from apps.workloads.api.workloads import Workloads, WorkloadView

urlpatterns = [
    path("workloads", Workloads.as_view(), name="workloads"),
    path("workloads/<int:workload_id>", WorkloadView.as_view(), name="workload"),
    path("run-reports", RunReports.as_view(), name="record-run-reports"),
    path("jobs", Jobs.as_view(), name="jobs"),
    path("jobs/bulk", JobsInBulk.as_view(), name="record-jobs"),
    path("jobs/<int:job_id>", JobDetail.as_view(), name="job"),
    path("request-hours", RequestHours.as_view(), name="request-hours"),
    path("service-objectives", ServiceObjectives.as_view(), name="service-objectives"),
    path(
        "service-objectives/<int:objective_id>/end",
        ServiceObjectiveEnd.as_view(),
        name="service-objective-end",
    ),
    path("workload-changes", WorkloadChanges.as_view(), name="workload-changes"),
    path("workload-values", WorkloadValues.as_view(), name="workload-values"),
    path("workload-scores", WorkloadScores.as_view(), name="workload-scores"),
    path("allocations", Allocations.as_view(), name="allocations"),
    path("usage-events", UsageEvents.as_view(), name="record-usage-events"),
    path("usage-events/litellm", LiteLlmEvents.as_view(), name="record-litellm-events"),
    path("usage-events/otel", OtelEvents.as_view(), name="record-otel-spans"),
    path("ownership-rules", OwnershipRules.as_view(), name="ownership-rules"),
    path("ownership-rules/preview", OwnershipRulePreview.as_view(), name="preview-rule"),
    path("ownership-rules/<int:rule_id>", OwnershipRuleView.as_view(), name="ownership-rule"),
    path(
        "ownership-rules/<int:rule_id>/end", OwnershipRuleEnd.as_view(), name="ownership-rule-end"
    ),
    path(
        "ownership-rules/<int:rule_id>/end/preview",
        OwnershipRuleEndPreview.as_view(),
        name="preview-rule-end",
    ),
]
