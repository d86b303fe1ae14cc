"""Django's registration of this app."""

from collections.abc import Mapping
from typing import ClassVar

from django.apps import AppConfig


class UnitEconomicsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.unit_economics"
    label = "unit_economics"
    # Costs may be asked by run and by service, their days exported, and held against a digest.
    cube_parts = "apps.unit_economics.queries.cube_parts.add_cube_parts"
    kept_of_closed_months = "apps.unit_economics.queries.kept_tables.keep_divided_tables"
    export_sources = "apps.unit_economics.queries.unit_cost_exports.add_export_sources"
    reseals: ClassVar[Mapping[str, str]] = {
        "serviceday": "apps.unit_economics.actions.digests.renew_service_days",
        "servicecount": "apps.unit_economics.actions.digests.renew_service_counts",
    }
