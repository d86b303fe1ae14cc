"""People: who can sign in and what they may see, machines' tokens, and who changed what."""

from apps.console.pages.people.access import again, deactivate, invite, role, teams_of
from apps.console.pages.people.tokens import make, revoke, tokens, tokens_csv
from apps.console.pages.people.trail import trail, trail_csv
from apps.console.pages.people.views import people, people_csv, person, person_tokens_csv

__all__ = [
    "again",
    "deactivate",
    "invite",
    "make",
    "people",
    "people_csv",
    "person",
    "person_tokens_csv",
    "revoke",
    "role",
    "teams_of",
    "tokens",
    "tokens_csv",
    "trail",
    "trail_csv",
]
