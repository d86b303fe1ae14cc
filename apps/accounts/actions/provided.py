"""People whom the identity provider vouches for: made at their first sign-in, kept as it says."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from apps.accounts.models import Membership, Role, Team, User
from apps.logs.changes import logged_change

log = logging.getLogger(__name__)


class GroupsGrantNothing(Exception):
    """None of the person's groups lets anybody in, and the settings ask for one that does."""


class PersonDeactivated(Exception):
    """Somebody ended this person's access here; the provider cannot give it back."""


class ProvidedAddressNotVerified(Exception):
    """The provider does not say that the address is theirs: it could be another person's."""


@dataclass(frozen=True, slots=True)
class ProvidedPerson:
    """A person as the provider states them; `known_id` is whom this identity signed in before, None the first time."""

    known_id: int | None
    email: str
    name: str
    is_verified: bool
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class ProvidedGrant:
    """Who is of this group has this role, and belongs to the team of this name (empty: to none)."""

    group: str
    role: str
    team: str = ""


@logged_change()
@transaction.atomic
def let_in(*, person: ProvidedPerson, grants: Sequence[ProvidedGrant], needs_group: bool) -> int:
    """The id of who signs in, with the role and teams their groups grant now.

    The first grant that fits gives the role, each that fits its team; no grant at all leaves role
    and teams to the people here. Refuses GroupsGrantNothing, PersonDeactivated and
    ProvidedAddressNotVerified.
    """
    granted = [grant for grant in grants if grant.group in person.groups]
    if needs_group and not granted:
        raise GroupsGrantNothing("none of your groups lets you in here; ask whoever runs Runrate")
    user = _existing_person(person) or _new_person(person)
    if not user.is_active:
        raise PersonDeactivated("your access here was ended; ask whoever runs Runrate")
    if grants:
        user.role = granted[0].role if granted else Role.VIEWER
        user.save(update_fields=["role"])
        _keep_teams(user.id, managed=grants, granted=granted)
    return user.id


def _existing_person(person: ProvidedPerson) -> User | None:
    locked = User.objects.select_for_update()
    if person.known_id is not None:
        return locked.get(pk=person.known_id)
    if not person.email or not person.is_verified:
        raise ProvidedAddressNotVerified("the identity provider does not vouch for your address")
    return locked.filter(email=person.email.strip().lower()).first()


def _new_person(person: ProvidedPerson) -> User:
    user = User(email=person.email.strip().lower(), name=person.name, role=Role.VIEWER)
    user.set_unusable_password()
    user.save()
    return user


def _keep_teams(
    user_id: int, *, managed: Sequence[ProvidedGrant], granted: Sequence[ProvidedGrant]
) -> None:
    """Only teams that some grant names are given and taken; those given by hand stay."""
    named = {grant.team for grant in managed if grant.team}
    ids = dict(Team.objects.filter(name__in=named).order_by("name").values_list("name", "id"))
    for name in sorted(named - set(ids)):
        log.warning("granted_team_unknown team=%s", name)
    wanted = {ids[grant.team] for grant in granted if grant.team in ids}
    others = set(ids.values()) - wanted
    Membership.objects.filter(user_id=user_id, team_id__in=others).delete()
    have = Membership.objects.filter(user_id=user_id).values_list("team_id", flat=True)
    for team_id in sorted(wanted - set(have)):
        Membership.objects.create(user_id=user_id, team_id=team_id)
