"""Whose token a secret is, and what it may do."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.accounts.models import AccessToken


@dataclass(frozen=True, slots=True)
class TokenFact:
    """What a secret may do; a token of a team (`team_id`) reads only what is that team's."""

    id: int
    scopes: frozenset[str]
    name: str
    last_used_at: datetime | None
    team_id: int | None = None


def token_of(secret: str, at: datetime) -> TokenFact | None:
    """The token whose secret this is, unless it is revoked or expired at `at`."""
    row = (
        AccessToken.objects.filter(digest=digest_of(secret), revoked_at=None)
        .filter(Q(expires_at=None) | Q(expires_at__gt=at))
        .values_list("id", "scopes", "name", "last_used_at", "team_id")
        .first()
    )
    if row is None:
        return None
    token_id, scopes, name, last_used_at, team_id = row
    return TokenFact(token_id, frozenset(scopes), name, last_used_at, team_id)


def digest_of(secret: str) -> bytes:
    """What is kept of a secret of 256 random bits: its SHA-256, which nobody can turn back."""
    return hashlib.sha256(secret.encode()).digest()
