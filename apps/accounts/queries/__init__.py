"""The organisation, its teams and people, whose token a secret is, and who may see what."""

from apps.accounts.models import Role, Scope
from apps.accounts.queries.organisation import (
    NoOrganisation,
    OrganisationFact,
    SpecialTeams,
    TeamFact,
    has_organisation,
    organisation,
    special_teams,
    teams,
)
from apps.accounts.queries.people import PersonFact, has_people, person
from apps.accounts.queries.tokens import TokenFact, digest_of, token_of
from apps.accounts.queries.viewers import (
    Viewer,
    viewer_of_person,
    viewer_of_token,
    viewer_of_user,
)

__all__ = [
    "NoOrganisation",
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
    "organisation",
    "person",
    "special_teams",
    "teams",
    "token_of",
    "viewer_of_person",
    "viewer_of_token",
    "viewer_of_user",
]
