"""Django's registration of this app."""

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.workloads"
    label = "workloads"

    def ready(self) -> None:
        """Jobs follow nodes as they come and go."""
        from apps.fleet.actions.lives import follow_lives
        from apps.workloads.actions.node_names import follow_life

        follow_lives(follow_life)
