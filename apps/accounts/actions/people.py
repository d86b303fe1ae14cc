"""People who sign in."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from apps.accounts.actions.constraints import refusing
from apps.accounts.actions.organisation import NameMissing
from apps.accounts.models import Role, User


class PersonExists(ValueError):
    """An address signs in one person."""


class RoleUnknown(ValueError):
    """Not one of the roles."""


class PasswordTooWeak(ValueError):
    """The password would be guessed."""


def add_person(*, email: str, name: str, role: str, password: str) -> int:
    """Let someone sign in; answers their id. Refuses PersonExists, RoleUnknown, PasswordTooWeak."""
    if not name.strip():
        raise NameMissing("a person needs a name")
    if role not in Role.values:
        raise RoleUnknown(f"{role!r}: a role is one of {', '.join(Role.values)}")
    try:
        validate_password(password)
    except ValidationError as problem:
        raise PasswordTooWeak(" ".join(problem.messages)) from problem
    with refusing({"accounts_user_email_key": PersonExists(f"{email} can sign in already")}):
        return User.objects.create_user(email, name.strip(), role, password).id
