"""Changes to the organisation, its teams and people, and the tokens of its machines."""

from apps.accounts.actions.organisation import (
    DEFAULTS,
    AlreadyBootstrapped,
    CurrencyUnknown,
    NameMissing,
    PriceApprovalUnknown,
    StartingPointUnknown,
    WeekStartUnknown,
    ZoneUnknown,
    bootstrap,
    bootstrap_with_defaults,
    choose_organisation,
    hold_organisation,
    set_price_approval,
    set_starting_point,
)
from apps.accounts.actions.people import (
    Invited,
    LastManager,
    LinkUnknown,
    NewPerson,
    PasswordTooWeak,
    PersonExists,
    RoleUnknown,
    accept_invitation,
    add_first_person,
    add_person,
    change_role,
    deactivate_person,
    invite_again,
    invite_person,
    place_in_teams,
)
from apps.accounts.actions.provided import (
    GroupsGrantNothing,
    PersonDeactivated,
    ProvidedAddressNotVerified,
)
from apps.accounts.actions.pseudonyms import (
    NamesNotReadable,
    PseudonymRefused,
    RemovalUnderWay,
    TakenOut,
    begin_removal,
    go_on_removing,
    names_to_take_out,
    removals_to_finish,
)
from apps.accounts.actions.repeats import RepeatDiffers
from apps.accounts.actions.saved_views import (
    SavedViewEntry,
    SavedViewRefused,
    change_saved_view,
    remove_saved_view,
    save_view,
)
from apps.accounts.actions.sessions import forget_ended_sessions
from apps.accounts.actions.teams import (
    TeamNameTaken,
    TeamTreeLoops,
    add_team,
    book_team,
    move_team,
)
from apps.accounts.actions.tokens import (
    IssuedToken,
    ScopeUnknown,
    TokenAlreadyRevoked,
    TokenExpiresInThePast,
    make_token,
    revoke_token,
    touch_token,
    touch_tokens,
)
from apps.accounts.queries.organisation import Bootstrap
