"""The runs of one name: each team's own, and one of nobody in particular."""

from collections.abc import Mapping, Sequence

from django.db.models.query import QuerySet

from apps.accounts.queries import teams
from apps.workloads.models import Run

Parents = Mapping[int, int | None]
"""The team above each team."""

TeamRuns = Mapping[int | None, int]
"""The runs of one name by their team."""


def runs_by_team(rows: QuerySet[Run]) -> dict[str, TeamRuns]:
    """Runs by their name, and by team."""
    runs_by_key: dict[str, dict[int | None, int]] = {}
    ordered = rows.order_by("key", "id")
    for key, team_id, run_id in ordered.values_list("key", "team_id", "id"):
        runs_by_key.setdefault(key, {})[team_id] = run_id
    return dict(runs_by_key)


def run_for_teams(runs: TeamRuns, team_ids: Sequence[int]) -> int | None:
    """The run of the first of these teams that has one; without a team nobody's, or the only one."""
    if team_ids:
        return next((runs[team_id] for team_id in team_ids if team_id in runs), None)
    return runs.get(None, next(iter(runs.values())) if len(runs) == 1 else None)


def run_of_name(key: str, team_id: int, *, is_any_teams: bool) -> int | None:
    """The run that a team means by this name: its own or one of a team above it, else nobody's.

    Else, where it may be of any team, the only one.
    """
    runs = runs_by_team(Run.objects.filter(key=key)).get(key, {})
    own_run_id = run_for_teams(runs, team_and_above(team_id, team_parents()))
    if own_run_id is not None:
        return own_run_id
    return run_for_teams(runs, []) if is_any_teams else runs.get(None)


def team_parents() -> Parents:
    """The team above each team."""
    return {team.id: team.parent_id for team in teams()}


def team_and_above(team_id: int, parents: Parents) -> tuple[int, ...]:
    """A team and all above it, the nearest first."""
    line: list[int] = []
    above: int | None = team_id
    while above is not None and above not in line:
        line.append(above)
        above = parents[above]
    return tuple(line)
