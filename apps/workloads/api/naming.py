"""From names on the wire to ids and back, each caller within what they may see."""

from typing import Any

from rest_framework.exceptions import ValidationError

from apps.accounts.queries import Viewer, teams
from apps.web.rest.views import serialize_team_reference
from apps.workloads import queries


class NameResolver:
    """Teams and workloads as one viewer may call them; read once for an answer."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._teams = {team.id: team.name for team in teams()}
        self._workloads = queries.workloads()

    def team(self, team_id: int | None) -> dict[str, Any] | None:
        """By id and name; "another team" where it is none of the viewer's."""
        return serialize_team_reference(self.viewer, team_id, self._teams)

    def workload(self, workload_id: int | None) -> dict[str, Any] | None:
        """By id and name; null where it is none of the viewer's."""
        if workload_id is None or not self.viewer.sees_team(self._workloads[workload_id].team_id):
            return None
        return {"id": workload_id, "name": self._workloads[workload_id].name}

    def team_ids(self, name: str | None) -> frozenset[int] | None:
        """The team of this name, as a filter: none of the viewer's is as if there were none."""
        if name is None:
            return None
        named_ids = (id_ for id_, team in self._teams.items() if team == name)
        return frozenset(id_ for id_ in named_ids if self.viewer.sees_team(id_))

    def workload_ids(self, name: str | None) -> frozenset[int] | None:
        """The workloads of this name, as a filter; two teams may each have one."""
        if name is None:
            return None
        return frozenset(
            workload.id
            for workload in self._workloads.values()
            if workload.name == name and self.viewer.sees_team(workload.team_id)
        )

    def team_id(self, name: str) -> int:
        """The team of this name in a body; refuses a ValidationError that names the field."""
        for id_, team in self._teams.items():
            if team == name:
                return id_
        raise ValidationError({"team": [f"there is no team named {name!r}"]})

    def workload_id(self, team_id: int, name: str | None) -> int | None:
        """A team's workload of this name in a body; refuses as `team_id` does."""
        if name is None:
            return None
        for workload in self._workloads.values():
            if workload.team_id == team_id and workload.name == name:
                return workload.id
        raise ValidationError({"workload": [f"the team has no workload named {name!r}"]})
