"""Addresses of the whole service; each app brings its own."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from controlplane import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/", include("apps.accounts.urls")),
    path("api/v1/", include("apps.fleet.urls")),
    path("api/v1/", include("apps.pricing.urls")),
    path("api/v1/", include("apps.telemetry.urls")),
    path("api/v1/", include("apps.workloads.urls")),
    path("api/v1/", include("apps.ledger.urls")),
    path("", include("apps.console.urls")),
]

handler404 = "controlplane.refusals.not_found"
