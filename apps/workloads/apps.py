"""Django's registration of this app."""

from collections.abc import Mapping
from typing import ClassVar

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.workloads"
    label = "workloads"
    # Jobs follow nodes as they come and go.
    follows_lives = "apps.workloads.actions.node_names.follow_life"
    # Statements from which a name was taken out have a digest of what they say.
    reseals: ClassVar[Mapping[str, str]] = {
        "jobevent": "apps.workloads.actions.user_names.reseal_events"
    }
