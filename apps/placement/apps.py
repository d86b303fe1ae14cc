"""Django's registration of this app."""

from django.apps import AppConfig


class PlacementConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.placement"
    label = "placement"
