"""Who asks, and what they may see: every question about somebody's money takes a Viewer."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from apps.accounts.models import Role, Scope, Team, User
from apps.accounts.queries.organisation import (
    ORGANISATION,
    OrganisationFact,
    TeamFact,
    organisation,
    teams,
)
from apps.accounts.queries.reading import keep
from apps.accounts.queries.tokens import TokenFact

SEES_EVERYTHING = frozenset({Role.FINANCE, Role.PLATFORM})
TEAMS_OF_PERSON = f"""
SELECT team.id, team.name, team.kind, team.parent_id, team.cost_centre,
       %(is_lead)s AND coalesce(team.owner_id = %(user)s, false) OR EXISTS (
           SELECT FROM accounts_membership AS membership
           WHERE membership.team_id = team.id AND membership.user_id = %(user)s
       ),
       organisation.*
FROM accounts_team AS team CROSS JOIN ({ORGANISATION}) AS organisation
ORDER BY team.name
"""  # noqa: S608  # of two texts of this program


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks; what is outside `team_ids` reads "another team" to them.

    `person_id` is None for a token. `team_ids` are their teams and all below, every team where
    they see everything. `sees_prices` opens rates, contracts, commitments and others' amounts;
    `may_manage` fleet, prices, jobs, rules and tokens; `may_close` the months.
    """

    person_id: int | None
    name: str
    role: str
    sees_everything: bool
    team_ids: frozenset[int]
    sees_prices: bool
    may_manage: bool
    may_close: bool

    @property
    def seen_teams(self) -> frozenset[int] | None:
        """The teams whose figures the viewer sees in full; None: everybody's, and what belongs to nobody."""
        return None if self.sees_everything else self.team_ids

    def sees_team(self, team_id: int | None) -> bool:
        """Whether what belongs to this team (None: to nobody) is theirs to read in full."""
        return self.sees_everything or team_id in self.team_ids


def viewer_of_user(user_id: int) -> Viewer:
    """An active person as they are now; refuses User.DoesNotExist."""
    user = User.objects.only("name", "role").get(id=user_id, is_active=True)
    return viewer_of_person(user_id=user_id, name=user.name, role=user.role)


def viewer_of_person(*, user_id: int, name: str, role: str) -> Viewer:
    """As `viewer_of_user`, for a caller that has read the person already: one query."""
    everything = role in SEES_EVERYTHING
    return Viewer(
        person_id=user_id,
        name=name,
        role=role,
        sees_everything=everything,
        team_ids=_teams_of_person(user_id, role),
        sees_prices=everything,
        may_manage=role == Role.PLATFORM,
        may_close=role == Role.FINANCE,
    )


def viewer_of_token(token: TokenFact) -> Viewer:
    """A machine: with `read` or `manage` it sees the organisation, or only its team and below.

    Others (`ingest`, `jobs`) see nothing; closing months is for people.
    """
    reads = bool(token.scopes & {Scope.READ, Scope.MANAGE})
    everything = reads and token.team_id is None
    manages = everything and Scope.MANAGE in token.scopes
    return Viewer(
        person_id=None,
        name=token.name,
        role=_role_of_token(reads=reads, everything=everything, manages=manages),
        sees_everything=everything,
        team_ids=_teams_of_token(token, reads=reads),
        sees_prices=everything,
        may_manage=manages,
        may_close=False,
    )


def _role_of_token(*, reads: bool, everything: bool, manages: bool) -> Role:
    if everything:
        return Role.PLATFORM if manages else Role.FINANCE
    return Role.LEAD if reads else Role.VIEWER


def _teams_of_token(token: TokenFact, *, reads: bool) -> frozenset[int]:
    return teams_of_token(token) if reads else frozenset()


def teams_of_token(token: TokenFact) -> frozenset[int]:
    """Its team and every one below; every one where it is bound to none."""
    if token.team_id is None:
        return _every_team()
    parents = dict(Team.objects.order_by("id").values_list("id", "parent_id"))
    return _with_all_below({token.team_id}, parents)


def teams_below(team_id: int) -> frozenset[int]:
    """The team and every one that hangs below it."""
    return _with_all_below({team_id}, {team.id: team.parent_id for team in teams()})


def _every_team() -> frozenset[int]:
    return frozenset(team.id for team in teams())


def _teams_of_person(user_id: int, role: str) -> frozenset[int]:
    rows = _teams_with_organisation(user_id, is_lead=role == Role.LEAD)
    if role in SEES_EVERYTHING:
        return frozenset(team.id for team, _ in rows)
    return _with_all_below(
        {team.id for team, is_own in rows if is_own},
        {team.id: team.parent_id for team, _ in rows},
    )


def _teams_with_organisation(user_id: int, *, is_lead: bool) -> list[tuple[TeamFact, bool]]:
    """Every team by name, and whether it is the person's own.

    Every page asks for these and for the organisation: both are read, and kept, at once.
    """
    with connection.cursor() as cursor:
        cursor.execute(TEAMS_OF_PERSON, {"user": user_id, "is_lead": is_lead})
        rows = cursor.fetchall()
    width = len(TeamFact.__slots__)
    own_teams = [(TeamFact(*row[:width]), bool(row[width])) for row in rows]
    if rows:
        keep(teams, [team for team, _ in own_teams])
        keep(organisation, OrganisationFact(*rows[0][width + 1 :]))
    return own_teams


def _with_all_below(top: set[int], parents: Mapping[int, int | None]) -> frozenset[int]:
    """`top` and every team that hangs below one of them."""
    below: dict[int, list[int]] = {}
    for team_id, parent_id in parents.items():
        if parent_id is not None:
            below.setdefault(parent_id, []).append(team_id)
    visited: set[int] = set()
    waiting = list(top)
    while waiting:
        team_id = waiting.pop()
        if team_id not in visited:
            visited.add(team_id)
            waiting.extend(below.get(team_id, ()))
    return frozenset(visited)
