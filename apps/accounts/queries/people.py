"""Who signs in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.crypto import salted_hmac

from apps.accounts.models import Invitation, Organisation, Role, Team, User
from apps.accounts.queries.reading import once
from apps.accounts.queries.tokens import digest_of
from apps.accounts.queries.viewers import SEES_EVERYTHING


@dataclass(frozen=True, slots=True)
class PersonFact:
    """Someone who signs in."""

    id: int
    email: str
    name: str
    role: str
    team_ids: frozenset[int]


def has_people() -> bool:
    """Whether anybody can sign in."""
    return User.objects.filter(is_active=True).exists()


def first_person_secret() -> str | None:
    """Return the secret that opens the page on which the first person comes in; None once somebody has.

    Nothing of it is kept: it is made of the installation's key, the same until it is used.
    """
    made_at = Organisation.objects.values_list("created_at", flat=True).first()
    if made_at is None or User.objects.exists():
        return None
    return salted_hmac("first person", made_at.isoformat(), algorithm="sha256").hexdigest()


def person(user_id: int) -> PersonFact | None:
    """An active person, with the teams they belong to or own."""
    user = User.objects.filter(id=user_id, is_active=True).first()
    if user is None:
        return None
    team_ids = Team.objects.filter(Q(memberships__user=user) | Q(owner=user)).values_list(
        "id", flat=True
    )
    return PersonFact(user.id, user.email, user.name, user.role, frozenset(team_ids))


def person_of_address(email: str) -> int | None:
    """The id of who signs in, or did, with this address."""
    users = User.objects.filter(email=email.strip().lower())
    return users.values_list("id", flat=True).first()


@once
def names_of_role(role: Role) -> list[str]:
    """Who has this role and may sign in, by name."""
    users = User.objects.filter(role=role, is_active=True)
    return list(users.order_by("name", "id").values_list("name", flat=True))


@once
def person_names() -> dict[int, str]:
    """Everybody who signs in, or did, by id."""
    return dict(User.objects.order_by("id").values_list("id", "name"))


@once
def managers() -> dict[int, str]:
    """The names of the active people of finance and platform, by id, in their order."""
    users = User.objects.filter(role__in=SEES_EVERYTHING, is_active=True)
    return dict(users.order_by("name", "id").values_list("id", "name"))


@dataclass(frozen=True, slots=True)
class InvitedPerson:
    """Whom a link lets in."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Someone on the list of people; teams by name, owned ones too.

    `invited_until` is the end of a link not used yet.
    """

    id: int
    name: str
    email: str
    role: str
    is_active: bool
    has_second_factor: bool
    team_names: tuple[str, ...]
    member_of: frozenset[int]
    last_sign_in_at: datetime | None
    invited_until: datetime | None


def invited_person(secret: str, at: datetime) -> InvitedPerson | None:
    """Whom the link with this secret lets in; None where it is not good, or no longer."""
    row = (
        Invitation.objects.filter(digest=digest_of(secret), used_at=None, expires_at__gt=at)
        .filter(user__is_active=True)
        .values_list("user__name", "user__email")
        .first()
    )
    return None if row is None else InvitedPerson(*row)


def people() -> list[ListedPerson]:
    """Everybody who can or could sign in, by name, the active ones first."""
    return [_listed_person(row) for row in _with_teams().order_by("-is_active", "name", "id")]


def listed_person(person_id: int) -> ListedPerson | None:
    """One of them, active or not."""
    row = _with_teams().filter(id=person_id).first()
    return None if row is None else _listed_person(row)


def _with_teams() -> QuerySet[User]:
    return User.objects.annotate(
        member_ids=ArrayAgg("memberships__team_id", distinct=True, default=[]),
        member_names=ArrayAgg("memberships__team__name", distinct=True, default=[]),
        owner_names=ArrayAgg("owned_teams__name", distinct=True, default=[]),
        invited_until=ArrayAgg(
            "invitations__expires_at",
            filter=Q(invitations__used_at=None),
            distinct=True,
            default=[],
        ),
        has_second_factor=Exists(Authenticator.objects.filter(user=OuterRef("pk"))),
    )


def _listed_person(row: Any) -> ListedPerson:
    names = {name for name in (*row.member_names, *row.owner_names) if name}
    until = [moment for moment in row.invited_until if moment]
    return ListedPerson(
        id=row.id,
        name=row.name,
        email=row.email,
        role=row.role,
        is_active=row.is_active,
        has_second_factor=row.has_second_factor,
        team_names=tuple(sorted(names)),
        member_of=frozenset(team_id for team_id in row.member_ids if team_id),
        last_sign_in_at=row.last_login,
        invited_until=max(until, default=None),
    )
