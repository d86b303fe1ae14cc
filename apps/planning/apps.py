"""Django's registration of this app."""

from django.apps import AppConfig


class PlanningConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.planning"
    label = "planning"
