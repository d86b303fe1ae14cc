"""Django's registration of this app."""

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.workloads"
    label = "workloads"
    # Jobs follow nodes as they come and go.
    follows_lives = "apps.workloads.actions.node_names.follow_life"
