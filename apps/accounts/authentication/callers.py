"""Whether a request comes from somebody known, before anything of its body is read."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.authentication.tokens import AuthenticationRefused, token_from_header


def is_caller_known(environ: Mapping[str, Any]) -> bool:
    """Whether a WSGI environ bears a token in force, or the session of somebody who signed in."""
    close_old_connections()
    try:
        header = environ.get("HTTP_AUTHORIZATION")
        return _is_token(header) if header else _is_session(environ.get("HTTP_COOKIE", ""))
    finally:
        close_old_connections()


def _is_token(header: str) -> bool:
    try:
        token_from_header(header, timezone.now())
    except AuthenticationRefused:
        return False
    return True


def _is_session(cookies: str) -> bool:
    try:
        found = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return False
    if found is None:
        return False
    request = HttpRequest()
    request.session = SessionStore(found.value)
    return get_user(request).is_active
