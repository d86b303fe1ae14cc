"""Changes to the organisation, its teams and people, and the tokens of its machines."""

from apps.accounts.actions.organisation import (
    AlreadyBootstrapped,
    Bootstrap,
    CurrencyUnknown,
    NameMissing,
    WeekStartUnknown,
    ZoneUnknown,
    bootstrap,
    bootstrap_with_defaults,
    choose_organisation,
)
from apps.accounts.actions.people import PasswordTooWeak, PersonExists, RoleUnknown, add_person
from apps.accounts.actions.repeats import RepeatDiffers
from apps.accounts.actions.teams import TeamNameTaken, TeamTreeLoops, add_team, move_team
from apps.accounts.actions.tokens import (
    IssuedToken,
    ScopeUnknown,
    TokenAlreadyRevoked,
    TokenExpiresInThePast,
    make_token,
    revoke_token,
    touch_token,
)

__all__ = [
    "AlreadyBootstrapped",
    "Bootstrap",
    "CurrencyUnknown",
    "IssuedToken",
    "NameMissing",
    "PasswordTooWeak",
    "PersonExists",
    "RepeatDiffers",
    "RoleUnknown",
    "ScopeUnknown",
    "TeamNameTaken",
    "TeamTreeLoops",
    "TokenAlreadyRevoked",
    "TokenExpiresInThePast",
    "WeekStartUnknown",
    "ZoneUnknown",
    "add_person",
    "add_team",
    "bootstrap",
    "bootstrap_with_defaults",
    "choose_organisation",
    "make_token",
    "move_team",
    "revoke_token",
    "touch_token",
]
