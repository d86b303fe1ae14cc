"""Django's registration of this app."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.fleet"
    label = "fleet"
