"""Django's registration of this app."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.ledger"
    label = "ledger"

    def ready(self) -> None:
        """Runs and services add their days to what may be exported."""
        from apps.ledger.queries.unit_cost_exports import add_export_sources

        add_export_sources()
