"""Lookup of the token that a secret belongs to, and of what it may do."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from apps.accounts.models import AccessToken

EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class TokenFact:
    """A token and what its secret may do; a token of a team (`team_id`) reads only what is that team's."""

    id: int
    scopes: frozenset[str]
    name: str
    last_used_at: datetime | None
    team_id: int | None = None


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token on the list: everything about it but the secret, which nobody has."""

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    team_name: str | None
    made_by: str | None
    made_by_active: bool | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def is_good(self, at: datetime) -> bool:
        """Whether it opens anything at `at`."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > at)


def good_tokens(at: datetime) -> Counter[str]:
    """How many tokens open something at `at`, by each scope they have; `""` counts them all."""
    scope_lists = _good_rows(at).values_list("scopes", flat=True)
    counted: Counter[str] = Counter()
    for scopes in scope_lists.order_by("id"):
        counted.update(["", *scopes])
    return counted


def tokens(made_by_id: int | None = None) -> list[ListedToken]:
    """Every token, or those that one person made; the newest first."""
    matching_tokens = AccessToken.objects.all()
    if made_by_id is not None:
        matching_tokens = matching_tokens.filter(made_by_id=made_by_id)
    rows: Iterable[tuple[Any, ...]] = matching_tokens.order_by("-created_at", "-id").values_list(
        "id",
        "name",
        "prefix",
        "scopes",
        "team__name",
        "made_by__name",
        "made_by__is_active",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    return [
        ListedToken(id_, name, prefix, tuple(scopes), *others)
        for id_, name, prefix, scopes, *others in rows
    ]


def token_of(secret: str, at: datetime) -> TokenFact | None:
    """The token whose secret this is, unless it is revoked or expired at `at`."""
    return _good_token("digest", digest_of(secret), at)


def token_in_force(token_id: int, at: datetime) -> TokenFact | None:
    """The token of this id, for what was asked with it before; None: revoked or expired at `at`."""
    return _good_token("id", token_id, at)


def tokens_in_force(token_ids: Collection[int], at: datetime) -> set[int]:
    """Those of these tokens that are neither revoked nor expired at `at`."""
    return set(_good_rows(at).filter(id__in=token_ids).values_list("id", flat=True))


def tokens_with_scope(
    scope: str, at: datetime, digests: Collection[bytes] | None = None
) -> dict[bytes, int]:
    """The tokens of this scope, or those of them with these digests, in force: id by digest.

    In force is what is neither revoked nor expired at `at`.
    """
    good = _good_rows(at).filter(scopes__contains=[scope])
    if digests is not None:
        good = good.filter(digest__in=digests)
    return {bytes(digest): token_id for digest, token_id in good.values_list("digest", "id")}


def digest_of(secret: str) -> bytes:
    """Return what is kept of a secret of 256 random bits: its SHA-256, which nobody can turn back."""
    return hashlib.sha256(secret.encode()).digest()


def _good_rows(at: datetime) -> QuerySet[AccessToken]:
    return AccessToken.objects.filter(Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None)


@cache
def _statement_of(column: str) -> tuple[str, tuple[bool, ...]]:
    """Return the SQL that asks for one of `_good_rows` by this column, and which of its parameters are the moment.

    Asked before everything that a token asks: to put it together anew takes longer than to answer it.
    """
    query = _good_rows(EPOCH).filter(**{column: b"" if column == "digest" else 0})
    columns = ("id", "scopes", "name", "last_used_at", "team_id")
    text, params = query.values_list(*columns).query.sql_with_params()
    return text, tuple(isinstance(param, datetime) for param in params)


def _good_token(column: str, value: bytes | int, at: datetime) -> TokenFact | None:
    text, are_moments = _statement_of(column)
    with connection.cursor() as cursor:
        cursor.execute(text, [at if is_moment else value for is_moment in are_moments])
        row = cursor.fetchone()
    if row is None:
        return None
    token_id, scopes, name, last_used_at, team_id = row
    return TokenFact(token_id, frozenset(scopes), name, last_used_at, team_id)
