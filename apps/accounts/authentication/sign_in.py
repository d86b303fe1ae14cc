"""How django-allauth signs people in here: no open door, no mail, second factors sealed."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest

from apps.accounts.actions.second_factors import SECOND_FACTORS
from apps.accounts.authentication.machines import machine_of
from apps.accounts.queries.sealed import opened_secret, sealed_secret


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is not typed
    """People come in by invitation or from the identity provider, never by signing up."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": (
            "This email and password do not go together. Nothing says which is wrong."
        ),
        "too_many_login_attempts": (
            "Too many attempts failed. Wait a few minutes, then try again."
        ),
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """By machine too: else anybody who knows an address could keep it locked."""
        counted = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{counted} from {machine_of(request.META)}"

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody adds themselves."""
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing of what the page that follows shows anyway."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Runrate needs no mail server; a lost password is a new invitation."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth is not typed
    """Keeps the secrets of second factors sealed with the installation's secret key."""

    def encrypt(self, text: str) -> str:
        """Return the encrypted text that is stored; a copy of the database alone makes no codes."""
        return sealed_secret(text, SECOND_FACTORS)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret; nothing where the secret key is another than the one it was sealed with.

        Then no code fits, and the person is invited anew.
        """
        return opened_secret(encrypted_text, SECOND_FACTORS) or ""
