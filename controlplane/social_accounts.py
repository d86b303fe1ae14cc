"""Django's registration of allauth's accounts at identity providers."""

from allauth.socialaccount.apps import SocialAccountConfig


class ProvidersWithPages(SocialAccountConfig):  # type: ignore[misc]  # allauth has no types
    """Providers are loaded with the addresses, not with every command: they bring `requests`."""

    def ready(self) -> None:
        """Have its checks, as ever."""
        from allauth.socialaccount import checks  # noqa: F401
