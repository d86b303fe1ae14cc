"""Who signs in."""

from dataclasses import dataclass

from django.db.models import Q

from apps.accounts.models import Team, User


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


def person(user_id: int) -> PersonFact | None:
    """An active person, with the teams they belong to or own."""
    user = User.objects.filter(id=user_id, is_active=True).first()
    if user is None:
        return None
    own = Team.objects.filter(Q(memberships__user=user) | Q(owner=user)).values_list(
        "id", flat=True
    )
    return PersonFact(user.id, user.email, user.name, user.role, frozenset(own))
