"""The organisation, its teams and people, and whose token a secret is."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.accounts.models import AccessToken, Organisation, Role, Scope, Team, TeamKind, User

__all__ = ["Role", "Scope"]


class NoOrganisation(LookupError):
    """Nothing was bootstrapped yet: no currency, no zone, no teams."""


@dataclass(frozen=True, slots=True)
class OrganisationFact:
    """What is chosen once; weeks start on ISO weekday `week_starts_on` (1 is Monday)."""

    name: str
    currency: str
    zone: str
    week_starts_on: int
    is_demo: bool = False


@dataclass(frozen=True, slots=True)
class SpecialTeams:
    """The teams that stand for nobody: who gets time no one held, and time no rule claims."""

    platform_id: int
    unowned_id: int


@dataclass(frozen=True, slots=True)
class TeamFact:
    """A node of the team tree; `kind` tells the special teams apart."""

    id: int
    name: str
    kind: str
    parent_id: int | None
    cost_centre: str


@dataclass(frozen=True, slots=True)
class TokenFact:
    """What a secret may do."""

    id: int
    scopes: frozenset[str]
    name: str
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class PersonFact:
    """Someone who signs in."""

    id: int
    email: str
    name: str
    role: str
    team_ids: frozenset[int]


def has_organisation() -> bool:
    """Whether this installation was bootstrapped."""
    return Organisation.objects.exists()


def organisation() -> OrganisationFact:
    """The one organisation; refuses NoOrganisation."""
    row = Organisation.objects.values_list(
        "name", "currency", "zone", "week_starts_on", "is_demo"
    ).first()
    if row is None:
        raise NoOrganisation("no organisation yet: run `python manage.py bootstrap`")
    return OrganisationFact(*row)


def special_teams() -> SpecialTeams:
    """Platform and Unowned; refuses NoOrganisation."""
    ids = dict(Team.objects.exclude(kind=TeamKind.TEAM).values_list("kind", "id"))
    if len(ids) < 2:
        raise NoOrganisation("no organisation yet: run `python manage.py bootstrap`")
    return SpecialTeams(platform_id=ids[TeamKind.PLATFORM], unowned_id=ids[TeamKind.UNOWNED])


def teams() -> list[TeamFact]:
    """Every team by name."""
    rows = Team.objects.order_by("name").values_list(
        "id", "name", "kind", "parent_id", "cost_centre"
    )
    return [TeamFact(*row) for row in rows]


def has_people() -> bool:
    """Whether anybody can sign in."""
    return User.objects.filter(is_active=True).exists()


def person(user_id: int) -> PersonFact | None:
    """An active person, with the teams they belong to or own."""
    user = User.objects.filter(id=user_id, is_active=True).first()
    if user is None:
        return None
    own = Team.objects.filter(Q(memberships__user=user) | Q(owner=user)).values_list(
        "id", flat=True
    )
    return PersonFact(user.id, user.email, user.name, user.role, frozenset(own))


def token_of(secret: str, at: datetime) -> TokenFact | None:
    """The token whose secret this is, unless it is revoked or expired at `at`."""
    row = (
        AccessToken.objects.filter(digest=digest_of(secret), revoked_at=None)
        .filter(Q(expires_at=None) | Q(expires_at__gt=at))
        .values_list("id", "scopes", "name", "last_used_at")
        .first()
    )
    if row is None:
        return None
    token_id, scopes, name, last_used_at = row
    return TokenFact(token_id, frozenset(scopes), name, last_used_at)


def digest_of(secret: str) -> bytes:
    """What is kept of a secret of 256 random bits: its SHA-256, which nobody can turn back."""
    return hashlib.sha256(secret.encode()).digest()
