"""Names of teams, workloads, clusters and people, read once for a page."""

from dataclasses import dataclass

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.economics.ownership import Rule
from apps.fleet import queries as fleet
from apps.show.rules import rule_in_words
from apps.workloads.queries import RuleChange, WorkloadFact
from apps.workloads.queries import workloads as known_workloads

SOMEBODY = "a program"


@dataclass(frozen=True, slots=True)
class OwnerNames:
    """Names that ids are called by; `people` is empty for those who may not know who changes rules."""

    teams: dict[int, accounts.TeamFact]
    workloads: dict[int, WorkloadFact]
    clusters: dict[int, str]
    people: dict[int, str]

    @property
    def unowned_id(self) -> int:
        """The team whose jobs nobody owns."""
        return next(team.id for team in self.teams.values() if team.kind == "unowned")

    def team(self, team_id: int | None) -> str:
        """The team's name; nobody's jobs are *Unowned*."""
        return "Unowned" if team_id is None else self.teams[team_id].name

    def workload(self, workload_id: int | None) -> str:
        """The workload's name; empty for none."""
        return "" if workload_id is None else self.workloads[workload_id].name

    def owner(self, team_id: int | None, workload_id: int | None) -> str:
        """`Research: llm-pretrain`, or the team alone."""
        workload = self.workload(workload_id)
        return f"{self.team(team_id)}: {workload}" if workload else self.team(team_id)

    def owner_href(self, team_id: int | None, workload_id: int | None) -> str:
        """Where the costs of the same are taken apart; nobody's jobs are kept under *Unowned*."""
        if workload_id is not None:
            return reverse("costs-workload", args=[workload_id])
        return reverse("costs-team", args=[self.unowned_id if team_id is None else team_id])

    def asks(self, rule: Rule) -> str:
        """Return what a rule asks of a job, in words."""
        return rule_in_words(rule, self.clusters)

    def who(self, change: RuleChange) -> str:
        """Who made a change; empty where the reader may not know."""
        if not self.people:
            return ""
        if change.person_id is not None:
            return self.people.get(change.person_id, "somebody who is gone")
        if change.token_id is not None:
            return f"token {change.token_id}"
        return f"manage.py {change.command}" if change.command else SOMEBODY


def names(viewer: accounts.Viewer) -> OwnerNames:
    """Return the names that this viewer may call things by."""
    people = accounts.people() if viewer.sees_everything else []
    return OwnerNames(
        teams={team.id: team for team in accounts.teams()},
        workloads=known_workloads(),
        clusters={cluster.id: cluster.name for cluster in fleet.clusters().values()},
        people={person.id: person.name or person.email for person in people},
    )
