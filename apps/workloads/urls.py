"""Addresses of this app."""

from django.urls import path

from apps.workloads.api.views import JobDetail, Jobs, JobsInBulk

urlpatterns = [
    path("jobs", Jobs.as_view(), name="record-job"),
    path("jobs/bulk", JobsInBulk.as_view(), name="record-jobs"),
    path("jobs/<int:job_id>", JobDetail.as_view(), name="job"),
]
