"""The demo's company: its calendar, and the doors through which it is told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.accounts import queries as accounts
from apps.fleet import queries as fleet
from apps.fleet.queries.listing import cluster_named
from apps.workloads.queries.listing import workload_of
from controlplane.demo.doors import Doors
from controlplane.demo.fleet import DemoSpan

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Company:
    """What every scene is given. `week` is the last one, `since` the beginning of the first.

    `say` tells who looks on, in the terminal.
    """

    doors: Doors
    week: DemoSpan
    since: datetime
    say: Callable[[str], None]

    @property
    def has_history(self) -> bool:
        """Whether there are weeks before the last one."""
        return self.since < self.week.starts_at

    @property
    def of_two_weeks(self) -> "Company":
        """The company as one of two weeks knows itself: none of the weeks before them happened."""
        return replace(self, since=max(self.since, self.week.starts_at - WEEK))

    @property
    def span(self) -> DemoSpan:
        """All of its weeks."""
        return DemoSpan(self.since, self.week.ends_at, self.week.at)

    def team(self, name: str) -> int:
        """The id of the team of this name."""
        return next(team.id for team in accounts.teams() if team.name == name)

    def pool(self, name: str) -> int:
        """The id of the pool of this name."""
        return next(pool.id for pool in fleet.pools().values() if pool.name == name)

    def cluster(self, name: str) -> int:
        """The id of the cluster of this name."""
        found = cluster_named(name)
        if found is None:
            raise LookupError(f"no cluster {name}")
        return found

    def workload(self, team: str, name: str) -> int:
        """The id of a team's workload of this name."""
        found = workload_of(self.team(team), name)
        if found is None:
            raise LookupError(f"{team} has no workload {name}")
        workload_id: int = found["id"]
        return workload_id

    def earlier_weeks(self) -> Iterator[DemoSpan]:
        """The weeks before the last one, the latest first."""
        ends_at, number = self.week.starts_at, 1
        while ends_at > self.since:
            yield DemoSpan(ends_at - WEEK, ends_at, self.week.at, number)
            ends_at, number = ends_at - WEEK, number + 1
