"""People who sign in: how they come, what they may do, and how they go."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.actions.organisation import NameMissing
from apps.accounts.actions.tokens import fresh_secret
from apps.accounts.models import Invitation, Membership, Organisation, Role, Team, User
from apps.accounts.queries import digest_of
from apps.economics.refusal import Refusal
from apps.logs.changes import items_of, logged_change

INVITED_FOR = timedelta(days=7)


class PersonExists(Refusal):
    """An address signs in one person."""


class RoleUnknown(Refusal):
    """Not one of the roles."""


class PasswordTooWeak(Refusal):
    """The password would be guessed."""


class AddressUnreadable(Refusal):
    """Not an e-mail address."""


class LinkUnknown(Exception):
    """No such invitation, or it was used, replaced, or not used in time."""


class LastManager(Exception):
    """Somebody of the platform must be left who can let people in."""


@dataclass(frozen=True, slots=True)
class NewPerson:
    """Who is invited."""

    email: str
    name: str
    role: str = Role.VIEWER
    team_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Invited:
    """Who was invited; the secret of the link is known only now and left out of what is logged."""

    person_id: int
    secret: str = field(repr=False)
    expires_at: datetime


@logged_change()
def add_person(*, email: str, name: str, role: str, password: str) -> int:
    """Let someone sign in; answers their id. Refuses PersonExists, RoleUnknown, PasswordTooWeak."""
    _refuse_unknown(name, role)
    _refuse_weak(password)
    with refusing(
        {
            "accounts_user_email_key": PersonExists(
                "email", f"somebody can sign in as {email} already"
            )
        }
    ):
        return User.objects.create_user(email, name.strip(), role, password).id


@logged_change()
@transaction.atomic
def invite_person(*, person: NewPerson, invited_by_id: int | None, at: datetime) -> Invited:
    """Add someone who chooses a password by a link that works once, for INVITED_FOR.

    Refuses PersonExists, RoleUnknown, NameMissing and AddressUnreadable.
    """
    _refuse_unknown(person.name, person.role)
    user = User(email=person.email.strip().lower(), name=person.name.strip(), role=person.role)
    user.set_unusable_password()
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as problem:
        raise AddressUnreadable("email", f"{person.email!r} is not an address") from problem
    exists = PersonExists(
        "email", f"somebody can sign in as {user.email} already; invite them again from their page"
    )
    with refusing({"accounts_user_email_key": exists}):
        user.save()
    place_in_teams(person_id=user.id, team_ids=person.team_ids)
    return _create_invitation(user.id, invited_by_id, at)


@logged_change()
@transaction.atomic
def add_first_person(*, email: str, name: str, password: str, at: datetime) -> int:
    """Let the first person of an installation in, of the platform; answers their id.

    Refuses LinkUnknown where somebody came first, also when two do it at once, and what
    `invite_person` and `accept_invitation` refuse.
    """
    Organisation.objects.select_for_update().get(id=1)
    if User.objects.exists():
        raise LinkUnknown("somebody can sign in already")
    first = NewPerson(email, name, Role.PLATFORM)
    invited = invite_person(person=first, invited_by_id=None, at=at)
    return accept_invitation(secret=invited.secret, password=password, at=at)


@logged_change()
@transaction.atomic
def invite_again(*, person_id: int, invited_by_id: int | None, at: datetime) -> Invited:
    """A new link for someone who lost theirs, their password or their second factor.

    It lets someone back in who was deactivated; their old password and second factors end now.
    """
    user = User.objects.select_for_update().get(pk=person_id)
    user.is_active = True
    _lock_out(user)
    return _create_invitation(person_id, invited_by_id, at)


@logged_change()
@transaction.atomic
def accept_invitation(*, secret: str, password: str, at: datetime) -> int:
    """Trade a link for a password, once; answers the person's id.

    Refuses LinkUnknown and PasswordTooWeak.
    """
    invitation = (
        Invitation.objects.select_for_update()
        .filter(digest=digest_of(secret), used_at=None, expires_at__gt=at, user__is_active=True)
        .first()
    )
    if invitation is None:
        raise LinkUnknown("this link is unknown, was used, or is no longer good")
    _refuse_weak(password)
    invitation.used_at = at
    invitation.save(update_fields=["used_at"])
    user = User.objects.select_for_update().get(pk=invitation.user_id)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user.id


@logged_change()
@transaction.atomic
def deactivate_person(*, person_id: int) -> None:
    """End someone's access now: sessions, password, second factors and open links.

    Tokens they made belong to machines and stay until someone revokes them. Refuses LastManager.
    """
    user = User.objects.select_for_update().get(pk=person_id)
    _refuse_last_manager(user)
    user.is_active = False
    _lock_out(user)
    Invitation.objects.filter(user=user, used_at=None).delete()


@logged_change()
@transaction.atomic
def change_role(*, person_id: int, role: str) -> None:
    """Give someone another role. Refuses RoleUnknown and LastManager."""
    user = User.objects.select_for_update().get(pk=person_id)
    _refuse_unknown(user.name, role)
    if role != Role.PLATFORM:
        _refuse_last_manager(user)
    user.role = role
    user.save(update_fields=["role"])


@logged_change(count=items_of("team_ids"))
@transaction.atomic
def place_in_teams(*, person_id: int, team_ids: Collection[int]) -> None:
    """Make someone a member of exactly these teams. Refuses Team.DoesNotExist."""
    wanted = set(Team.objects.filter(id__in=team_ids).order_by("id").values_list("id", flat=True))
    if wanted != set(team_ids):
        raise Team.DoesNotExist("no such team")
    memberships = Membership.objects.filter(user_id=person_id)
    memberships.exclude(team_id__in=wanted).delete()
    have = set(memberships.values_list("team_id", flat=True))
    for team_id in sorted(wanted - have):
        Membership.objects.create(user_id=person_id, team_id=team_id)


def _create_invitation(person_id: int, invited_by_id: int | None, at: datetime) -> Invited:
    Invitation.objects.filter(user_id=person_id, used_at=None).delete()
    secret = fresh_secret("")
    Invitation.objects.create(
        user_id=person_id,
        digest=digest_of(secret),
        created_at=at,
        expires_at=at + INVITED_FOR,
        invited_by_id=invited_by_id,
    )
    return Invited(person_id, secret, at + INVITED_FOR)


def _lock_out(user: User) -> None:
    # A session is signed over the password's hash, and this is a new one: all sessions end.
    user.set_unusable_password()
    user.save(update_fields=["is_active", "password"])
    Authenticator.objects.filter(user=user).delete()


def _refuse_last_manager(user: User) -> None:
    if user.role != Role.PLATFORM:
        return
    # Locked together, so that two do not each leave because the other is still there.
    managers = User.objects.select_for_update().filter(role=Role.PLATFORM, is_active=True)
    if not [manager.id for manager in managers.order_by("id") if manager.id != user.id]:
        raise LastManager(f"{user.name} is the last of the platform: nobody could let people in")


def _refuse_unknown(name: str, role: str) -> None:
    if not name.strip():
        raise NameMissing("name", "a person needs a name")
    if role not in Role.values:
        raise RoleUnknown("role", f"{role!r}: a role is one of {', '.join(Role.values)}")


def _refuse_weak(password: str) -> None:
    try:
        validate_password(password)
    except ValidationError as problem:
        raise PasswordTooWeak("password", " ".join(problem.messages)) from problem
