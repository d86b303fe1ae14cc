"""Django's registration of this app."""

from django.apps import AppConfig


class UnitEconomicsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.unit_economics"
    label = "unit_economics"

    def ready(self) -> None:
        """Costs may be asked by run and by service, and their days exported."""
        from apps.unit_economics.queries.cube_parts import add_cube_parts
        from apps.unit_economics.queries.unit_cost_exports import add_export_sources

        add_cube_parts()
        add_export_sources()
