"""Django's registration of this app."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.ledger"
    label = "ledger"
