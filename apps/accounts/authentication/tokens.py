"""A machine calls with a bearer token; what a call may do is its scopes, or a person's role."""

from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.actions.audit import name_changer
from apps.accounts.actions.tokens import touch_token
from apps.accounts.queries import Role, Scope, TokenFact, token_of
from apps.logs.context import name_actor

TOUCHED_EVERY = timedelta(minutes=1)
SCOPES_OF_ROLE: dict[str, frozenset[str]] = {
    Role.FINANCE: frozenset({Scope.READ}),
    Role.PLATFORM: frozenset({Scope.READ, Scope.MANAGE}),
}
OF_THE_WHOLE = frozenset({Scope.READ, Scope.MANAGE})


class AuthenticationRefused(Exception):
    """No token, or none that is valid now."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Who `request.user` is when a token calls; what it may do is in `request.auth`."""

    name: str
    is_authenticated: bool = True
    is_active: bool = True
    pk: None = None


class BearerToken(BaseAuthentication):
    """`Authorization: Bearer rr_…`; `request.auth` is the TokenFact."""

    def authenticate(self, request: Request) -> tuple[Machine, TokenFact] | None:
        """None where another scheme, or none, was used."""
        header = request.headers.get("Authorization")
        if header is None or not header.lower().startswith("bearer"):
            return None
        return machine_with(header)

    def authenticate_header(self, request: Request) -> str:
        """Makes a refusal a 401 that says how to come in."""
        return "Bearer"


class TokenAsPassword(BaseAuthentication):
    """`Authorization: Basic` with the token as its password: of callers whose only way to say who they are is a `.netrc`."""

    def authenticate(self, request: Request) -> tuple[Machine, TokenFact] | None:
        """None where another scheme, or none, was used; the user's name may be anything."""
        header = request.headers.get("Authorization", "")
        if header.partition(" ")[0].lower() != "basic":
            return None
        try:
            secret = token_of_password(header)
        except AuthenticationRefused as refused:
            raise AuthenticationFailed(str(refused)) from refused
        return machine_with(f"Bearer {secret}")


class TokenAsPasswordInSchema(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes it."""

    target_class = TokenAsPassword
    name = "token_as_password"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Plain HTTP authentication by a password."""
        return {"type": "http", "scheme": "basic"}


class BearerTokenInSchema(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the token."""

    target_class = BearerToken
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A plain HTTP bearer token."""
        return {"type": "http", "scheme": "bearer"}


def machine_with(header: str) -> tuple[Machine, TokenFact]:
    """Who comes with this bearer token, which is used now; refuses AuthenticationFailed."""
    at = timezone.now()
    try:
        token = token_from_header(header, at)
    except AuthenticationRefused as refusal:
        raise AuthenticationFailed(str(refusal)) from refusal
    name_changer(token=token.id)
    name_actor("token", token.name)
    if token.last_used_at is None or at - token.last_used_at >= TOUCHED_EVERY:
        touch_token(token_id=token.id, at=at)
    return Machine(name=token.name), token


def token_of_password(header: str) -> str:
    """Return the token that is the password of a Basic header; refuses AuthenticationRefused."""
    _, _, encoded = header.partition(" ")
    try:
        _, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError as refused:
        raise AuthenticationRefused("the password is not to be read") from refused
    return secret


def token_from_header(header: str | None, at: datetime) -> TokenFact:
    """The token of an Authorization header; refuses AuthenticationRefused."""
    scheme, _, secret = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise AuthenticationRefused("send Authorization: Bearer with an access token")
    token = token_of(secret.strip(), at)
    if token is None:
        raise AuthenticationRefused("this token is unknown, revoked or expired")
    return token


def needs(scope: str) -> type[BasePermission]:
    """The permission to do what `scope` names: by a token's scope, or by a person's role."""

    class HasScope(BasePermission):
        """Made by `needs`."""

        message = f"this needs the scope '{scope}'"

        def has_permission(self, request: Request, view: object) -> bool:
            return scope in scopes_of(request)

    return HasScope


def scopes_of(request: Request) -> frozenset[str]:
    """Return what the caller may do with the organisation as a whole.

    A team's token reads only through views that know their viewer, and manages nothing.
    """
    if isinstance(request.auth, TokenFact):
        is_unrestricted = request.auth.team_id is None
        return request.auth.scopes if is_unrestricted else request.auth.scopes - OF_THE_WHOLE
    return SCOPES_OF_ROLE.get(getattr(request.user, "role", ""), frozenset())
