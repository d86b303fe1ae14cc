"""Django's registration of this app."""

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.review"
    label = "review"
