"""Addresses of review's REST surface."""

from django.urls import path

from apps.review import api

urlpatterns = [
    path("findings", api.Findings.as_view(), name="api-findings"),
]
