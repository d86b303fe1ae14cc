"""Addresses of findings."""

from django.urls import path

from apps.console.pages.findings import views

urlpatterns = [
    path("findings", views.findings, name="findings"),
    path("findings.csv", views.findings_csv, name="findings-csv"),
    path("findings/<int:finding_id>", views.finding, name="finding"),
    path("findings/<int:finding_id>.csv", views.finding_csv, name="finding-days"),
]
