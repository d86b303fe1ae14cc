"""Addresses of this app."""

from django.urls import path

from apps.telemetry.api import receive_batch
from apps.telemetry.api.incidents import Incidents
from apps.telemetry.api.reports import take_report

urlpatterns = [
    path("telemetry/batches", receive_batch, name="receive-batch"),
    path("telemetry/reports", take_report, name="take-report"),
    path("incidents", Incidents.as_view(), name="list-incidents"),
]
