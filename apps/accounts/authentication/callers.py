"""Who sends a request, before anything of its body is read."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.authentication.tokens import (
    AuthenticationRefused,
    token_from_header,
    token_of_password,
)
from apps.accounts.queries import TokenFact

Caller: TypeAlias = TokenFact | AbstractBaseUser
"""A token in force, or somebody who signed in."""


def caller_of_environ(environ: Mapping[str, Any]) -> Caller | None:
    """Return whose token or session a WSGI environ bears; None: nobody's that is known."""
    header = environ.get("HTTP_AUTHORIZATION")
    return _token_of(header) if header else _person_of(environ.get("HTTP_COOKIE", ""))


def _token_of(header: str) -> TokenFact | None:
    try:
        if header.lower().startswith("basic"):
            header = f"Bearer {token_of_password(header)}"
        return token_from_header(header, timezone.now())
    except AuthenticationRefused:
        return None


def _person_of(cookies: str) -> AbstractBaseUser | None:
    try:
        morsel = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    if morsel is None:
        return None
    request = HttpRequest()
    request.session = SessionStore(morsel.value)
    user = get_user(request)
    return user if isinstance(user, AbstractBaseUser) and user.is_active else None
