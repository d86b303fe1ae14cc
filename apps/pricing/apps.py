"""Django's registration of this app."""

from django.apps import AppConfig


class PricingConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.pricing"
    label = "pricing"
    spans_bought_ahead = "apps.pricing.queries.commitments.commitment_spans"
