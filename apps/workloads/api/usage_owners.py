"""The owner of a call to a model API, as far as its teller may say so."""

from dataclasses import dataclass

from apps.accounts.queries import special_teams, teams
from apps.workloads import queries
from apps.workloads.api.wire import Fault


@dataclass(frozen=True, slots=True)
class UsageOwner:
    """A team, and a workload of it where one is named."""

    team_id: int
    workload_id: int | None


class Owners:
    """Teams and workloads by the names that senders give; read once for a request.

    A team's token tells of its own team; the organisation's of any, by name. What nobody names is
    Unowned's.
    """

    def __init__(self, token_team_id: int | None) -> None:
        self.token_team_id = token_team_id
        self._teams = {team.name: team.id for team in teams()}
        self._unowned_id = special_teams().unowned_id
        self._workloads = {
            (workload.team_id, workload.name): workload.id
            for workload in queries.workloads().values()
        }

    def of(self, team: str | None, workload: str | None, row: int) -> UsageOwner | Fault:
        """The owner that a row names, or why it cannot be theirs."""
        team_id = self._team_id(team)
        if self.token_team_id not in (None, team_id):
            # The same word for a team that is and for one that is not.
            return Fault("team", "this token tells of its own team alone", row)
        if team_id is None:
            return Fault("team", f"there is no team named {team!r}", row)
        if workload is None:
            return UsageOwner(team_id, None)
        workload_id = self._workloads.get((team_id, workload))
        if workload_id is None:
            return Fault("workload", f"the team has no workload named {workload!r}", row)
        return UsageOwner(team_id, workload_id)

    def nearest(
        self, team: str | None, workload: str | None, row: int
    ) -> tuple[UsageOwner, Fault | None]:
        """The owner as far as names are known, and what was not: a gateway sends nothing twice."""
        owner = self.of(team, workload, row)
        if isinstance(owner, UsageOwner):
            return owner, None
        own_team_id = self._own_team_id()
        is_known = owner.field != "team" and team is not None
        return UsageOwner(
            self._teams.get(team or "", own_team_id) if is_known else own_team_id, None
        ), owner

    def _own_team_id(self) -> int:
        return self._unowned_id if self.token_team_id is None else self.token_team_id

    def _team_id(self, name: str | None) -> int | None:
        return self._own_team_id() if name is None else self._teams.get(name)
