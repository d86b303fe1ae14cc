"""Django's registration of this app."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.console"
    label = "console"
