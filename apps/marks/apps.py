"""Django's registration of this app."""

from django.apps import AppConfig


class MarksConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.marks"
    label = "marks"
