"""The organisation, its teams and people, whose token a secret is, and who may see what."""

from apps.accounts.models import Role, Scope
from apps.accounts.queries.organisation import (
    NoOrganisation,
    NoSuchTeam,
    OrganisationFact,
    SpecialTeams,
    TeamFact,
    has_organisation,
    organisation,
    special_teams,
    teams,
)
from apps.accounts.queries.people import (
    InvitedPerson,
    ListedPerson,
    PersonFact,
    has_people,
    invited_person,
    listed_person,
    people,
    person,
    person_of_address,
)
from apps.accounts.queries.tokens import (
    ListedToken,
    TokenFact,
    digest_of,
    token_in_force,
    token_of,
    tokens,
    tokens_in_force,
)
from apps.accounts.queries.viewers import (
    Viewer,
    viewer_of_person,
    viewer_of_token,
    viewer_of_user,
)

__all__ = [
    "InvitedPerson",
    "ListedPerson",
    "ListedToken",
    "NoOrganisation",
    "NoSuchTeam",
    "OrganisationFact",
    "PersonFact",
    "Role",
    "Scope",
    "SpecialTeams",
    "TeamFact",
    "TokenFact",
    "Viewer",
    "digest_of",
    "has_organisation",
    "has_people",
    "invited_person",
    "listed_person",
    "organisation",
    "people",
    "person",
    "person_of_address",
    "special_teams",
    "teams",
    "token_in_force",
    "token_of",
    "tokens",
    "tokens_in_force",
    "viewer_of_person",
    "viewer_of_token",
    "viewer_of_user",
]
