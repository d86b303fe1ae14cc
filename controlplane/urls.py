"""Addresses of the whole service; each app brings its own."""

from django.urls import include, path
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
)
from drf_spectacular.views import SpectacularAPIView

from apps.web.api.downloads import download, downloads
from controlplane import health

# A browser, which accepts anything, gets JSON.
SCHEMA_FORMS = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer]

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("downloads/", downloads, name="downloads"),
    path("downloads/<str:name>", download, name="download"),
    path("api/v1/schema", SpectacularAPIView.as_view(renderer_classes=SCHEMA_FORMS), name="schema"),
    path("api/v1/", include("apps.web.urls")),
    path("api/v1/", include("apps.fleet.urls")),
    path("api/v1/", include("apps.pricing.urls")),
    path("api/v1/", include("apps.telemetry.urls")),
    path("api/v1/", include("apps.workloads.urls")),
    path("api/v1/", include("apps.ledger.urls")),
    path("api/v1/", include("apps.unit_economics.urls")),
    path("api/v1/", include("apps.planning.urls")),
    path("api/v1/", include("apps.placement.urls")),
    path("api/v1/", include("apps.review.urls")),
    path("", include("apps.console.urls")),
]

handler404 = "controlplane.refusals.not_found"
handler500 = "controlplane.refusals.broken"
