"""Django's registration of this app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.accounts"
    label = "accounts"
