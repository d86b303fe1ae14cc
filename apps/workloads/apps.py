"""Django's registration of this app."""

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.workloads"
    label = "workloads"
