"""Django's registration of this app."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.telemetry"
    label = "telemetry"
