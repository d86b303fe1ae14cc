"""Sign in with an address and a password, or through the identity provider; sign out."""

from typing import Any

from allauth.account.views import LoginView
from django.conf import settings
from django.contrib.auth.views import LogoutView

from apps.accounts.queries import has_people


class SignIn(LoginView):  # type: ignore[misc]  # allauth is not typed
    """The form; where it was asked for on the way to a page, that page follows."""

    template_name = "sign-in/page.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """An installation that nobody can sign in to says how to let someone in."""
        return {
            **super().get_context_data(**kwargs),
            "nobody_yet": not has_people(),
            "provider": settings.OIDC_NAME,
        }


class SignOut(LogoutView):
    """Ends the session; by POST only, so that no link does it."""
