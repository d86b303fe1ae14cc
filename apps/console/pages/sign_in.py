"""Sign in with an address and a password; sign out."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView

from apps.accounts.queries import has_people


class SignInForm(AuthenticationForm):
    """The form of Django's own, for addresses: they are kept in lower case."""

    error_messages = {
        "invalid_login": "This email and password do not go together. Nothing says which is wrong.",
        "inactive": "This person can no longer sign in.",
    }

    def clean_username(self) -> str:
        """The address as it is kept."""
        address: str = self.cleaned_data["username"]
        return address.strip().lower()


class SignIn(LoginView):
    """The form; where it was asked for on the way to a page, that page follows."""

    template_name = "sign-in/page.html"
    authentication_form: type[forms.Form] = SignInForm  # type: ignore[assignment]
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """An installation that nobody can sign in to says how to let someone in."""
        return super().get_context_data(nobody_yet=not has_people(), **kwargs)


class SignOut(LogoutView):
    """Ends the session; by POST only, so that no link does it."""
