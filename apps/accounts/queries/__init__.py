"""The organisation, its teams and people, whose token a secret is, and who may see what."""

from apps.accounts.models import Role, Scope, StartingPoint
from apps.accounts.queries.organisation import (
    NoOrganisation,
    NoSuchTeam,
    OrganisationFact,
    TeamFact,
    has_organisation,
    is_organisation_chosen,
    organisation,
    organised_at,
    special_teams,
    supported_zones,
    teams,
)
from apps.accounts.queries.people import (
    ListedPerson,
    first_person_secret,
    has_people,
    invited_person,
    listed_person,
    managers,
    names_of_role,
    people,
    person,
    person_names,
    person_of_address,
)
from apps.accounts.queries.tokens import (
    ListedToken,
    TokenFact,
    digest_of,
    good_tokens,
    token_in_force,
    token_of,
    tokens,
    tokens_in_force,
    tokens_with_scope,
)
from apps.accounts.queries.viewers import (
    Viewer,
    teams_below,
    teams_of_token,
    viewer_of_person,
    viewer_of_token,
    viewer_of_user,
)
