"""Parts that apps above the ledger add to its questions: loaded with the questions, not with every process."""

from django.apps import apps
from django.utils.module_loading import import_string


def add_parts(kind: str) -> None:
    """Call what apps name under `kind` in their registration: it adds what they have."""
    for app in apps.get_app_configs():
        if name := getattr(app, kind, ""):
            import_string(name)()
