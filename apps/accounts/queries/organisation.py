"""The organisation's settings that were chosen once, and the tree of teams."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

from django.db import connection

from apps.accounts.models import Organisation, Team, TeamKind
from apps.accounts.queries.reading import once

NoSuchTeam = Team.DoesNotExist
"""What is refused to who names a team that is none."""


# Nearly every answer asks both: to put a statement together anew takes longer than to answer it.
ORGANISATION = """
SELECT name, currency, zone, week_starts_on, is_demo, price_approval_per_cent, starting_point
FROM accounts_organisation ORDER BY id LIMIT 1
"""
TEAMS = "SELECT id, name, kind, parent_id, cost_centre FROM accounts_team ORDER BY name"


class NoOrganisation(LookupError):
    """Nothing was bootstrapped yet: no currency, no zone, no teams."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The settings that are chosen once; `week_starts_on` is an ISO weekday (1 is Monday)."""

    name: str
    currency: str = "USD"
    zone: str = "UTC"
    week_starts_on: int = 1
    is_demo: bool = False


@dataclass(frozen=True, slots=True)
class OrganisationFact(Bootstrap):
    """The organisation as it is set up.

    A price that moves by more than `price_approval_per_cent` waits for a second person; None: none.
    `starting_point` is one of StartingPoint's, empty until somebody chose one.
    """

    price_approval_per_cent: int | None = None
    starting_point: str = ""


@dataclass(frozen=True, slots=True)
class SpecialTeams:
    """The teams that stand for nobody: who gets time no one held, and time no rule claims."""

    platform_id: int
    unowned_id: int


@dataclass(frozen=True, slots=True)
class TeamFact:
    """A node of the team tree; `kind` tells the special teams apart."""

    id: int
    name: str
    kind: str
    parent_id: int | None
    cost_centre: str


def has_organisation() -> bool:
    """Whether this installation was bootstrapped."""
    return Organisation.objects.exists()


@once
def organisation() -> OrganisationFact:
    """The one organisation; refuses NoOrganisation."""
    with connection.cursor() as cursor:
        cursor.execute(ORGANISATION)
        row = cursor.fetchone()
    if row is None:
        raise NoOrganisation("no organisation yet: run `python manage.py bootstrap`")
    return OrganisationFact(*row)


@cache
def supported_zones() -> frozenset[str]:
    """The zones that both this program and Postgres know, read once: days are cut in both.

    Neither the machine's own zone nor the one that stands for none is among them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_timezone_names")
        names = {name for (name,) in cursor.fetchall()}
    return frozenset(names & available_timezones() - {"Factory", "localtime"})


def is_organisation_chosen() -> bool:
    """Whether somebody chose its currency and zone, or these are still the defaults."""
    return Organisation.objects.filter(chosen_at__isnull=False).exists()


def organised_at() -> datetime | None:
    """When the organisation was put on record; None while there is none."""
    first: datetime | None = Organisation.objects.values_list("created_at", flat=True).first()
    return first


def special_teams() -> SpecialTeams:
    """Platform and Unowned; refuses NoOrganisation."""
    ids = {team.kind: team.id for team in teams() if team.kind != TeamKind.TEAM}
    if len(ids) < 2:
        raise NoOrganisation("no organisation yet: run `python manage.py bootstrap`")
    return SpecialTeams(platform_id=ids[TeamKind.PLATFORM], unowned_id=ids[TeamKind.UNOWNED])


@once
def teams() -> list[TeamFact]:
    """Every team by name."""
    with connection.cursor() as cursor:
        cursor.execute(TEAMS)
        return [TeamFact(*row) for row in cursor.fetchall()]
