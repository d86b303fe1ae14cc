"""Machines' credentials: shown once, kept only as their SHA-256."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import AccessToken, Scope, Team
from apps.accounts.queries import digest_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change

ONCE_A = timedelta(minutes=1)
PREFIX_LENGTH = 7


class ScopeUnknown(Refusal):
    """A token was asked for with no scope, or with one that does not exist."""


class TokenExpiresInThePast(Refusal):
    """A token that could never be used."""


class TokenAlreadyRevoked(Exception):
    """A revoked token stays revoked; when is kept."""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """The only moment at which the secret is known; it is left out of what is logged."""

    id: int
    secret: str = field(repr=False)


@logged_change()
def make_token(
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime | None,
    at: datetime,
    team_id: int | None = None,
    made_by_id: int | None = None,
) -> IssuedToken:
    """Make a token of 256 random bits; the secret cannot be shown again.

    With `team_id` it reads only what is that team's and below. Refuses ScopeUnknown,
    TokenExpiresInThePast and Team.DoesNotExist.
    """
    unknown = set(scopes) - set(Scope.values)
    if unknown or not scopes:
        names = ", ".join(sorted(unknown)) or "nothing"
        raise ScopeUnknown("scopes", f"a scope is one of {', '.join(Scope.values)}, not {names}")
    if expires_at is not None and expires_at <= at:
        raise TokenExpiresInThePast(
            "expires_at", f"the token would have expired at {expires_at:%Y-%m-%d %H:%M}Z"
        )
    if team_id is not None:
        Team.objects.get(pk=team_id)
    secret = fresh_secret("rr_")
    token = AccessToken.objects.create(
        name=name,
        digest=digest_of(secret),
        prefix=secret[:PREFIX_LENGTH],
        scopes=sorted(scopes),
        team_id=team_id,
        made_by_id=made_by_id,
        created_at=at,
        expires_at=expires_at,
    )
    return IssuedToken(id=token.id, secret=secret)


@logged_change()
@transaction.atomic
def revoke_token(*, token_id: int, at: datetime) -> None:
    """End a token now. Refuses TokenAlreadyRevoked."""
    token = AccessToken.objects.select_for_update().get(pk=token_id)
    if token.revoked_at is not None:
        raise TokenAlreadyRevoked(f"{token.name} was revoked at {token.revoked_at:%Y-%m-%d %H:%M}Z")
    token.revoked_at = at
    token.save(update_fields=["revoked_at"])


def touch_token(*, token_id: int, at: datetime) -> None:
    """Note that a token was used, at most once a minute; never inside the ingest transaction."""
    due = Q(last_used_at=None) | Q(last_used_at__lte=at - ONCE_A)
    AccessToken.objects.filter(due, id=token_id).update(last_used_at=at)


@transaction.atomic
def touch_tokens(*, token_ids: Collection[int], at: datetime) -> None:
    """Note the use of many tokens at once, whatever another process notes of them meanwhile."""
    due = Q(last_used_at=None) | Q(last_used_at__lte=at - ONCE_A)
    tokens = AccessToken.objects.select_for_update(no_key=True).filter(due, id__in=token_ids)
    AccessToken.objects.filter(
        id__in=list(tokens.order_by("id").values_list("id", flat=True))
    ).update(last_used_at=at)


def fresh_secret(prefix: str) -> str:
    """256 random bits, recognisable by their prefix to those who scan for leaked secrets."""
    return prefix + secrets.token_urlsafe(32)
