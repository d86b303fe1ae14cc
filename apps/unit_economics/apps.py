"""Django's registration of this app."""

from django.apps import AppConfig


class UnitEconomicsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.unit_economics"
    label = "unit_economics"
    # Costs may be asked by run and by service, and their days exported.
    cube_parts = "apps.unit_economics.queries.cube_parts.add_cube_parts"
    export_sources = "apps.unit_economics.queries.unit_cost_exports.add_export_sources"
